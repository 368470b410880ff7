package pg_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/pg"
)

func TestDatabasesElsewhereAreVerified(t *testing.T) {
	t.Parallel()
	for url, safe := range map[string]bool{
		"postgres://me@127.0.0.1/x":                                               true,
		"postgres://me@[::1]/x":                                                   true,
		"postgres://me@localhost/x?sslmode=disable":                               true,
		"postgres:///x?host=/var/run/postgresql":                                  true,
		"postgres://me@db.example/x?sslmode=verify-full":                          true,
		"postgres://me@192.0.2.1/x?sslmode=verify-full":                           true,
		"postgres://me@db.example/x":                                              false,
		"postgres://me@db.example/x?sslmode=disable":                              false,
		"postgres://me@db.example/x?sslmode=prefer":                               false,
		"postgres://me@db.example/x?sslmode=require":                              false,
		"postgres://me@db.example/x?sslmode=verify-ca":                            false,
		"postgres://me@127.0.0.1,db.example/x?sslmode=require":                    false,
		"postgres://me@db.example,other.example/x?sslmode=verify-full":            true,
		"postgres://me@127.0.0.1/x?host=db.example":                               false,
		"host=/run/postgresql,10.0.0.1 user=me database=x sslmode=disable":        false,
		"postgres://me@localhost.example.org/x?sslmode=allow&application_name=/x": false,
	} {
		t.Run(url, func(t *testing.T) {
			t.Parallel()
			cc, err := pgx.ParseConfig(url)
			require.NoError(t, err)
			if safe {
				assert.NoError(t, pg.CheckSecure(cc))
				return
			}
			require.ErrorContains(t, pg.CheckSecure(cc), "sslmode=verify-full")
			_, err = pg.Open(t.Context(), pg.Config{URL: obs.Secret(url), StartupWait: time.Millisecond}, slog.New(slog.DiscardHandler))
			require.ErrorContains(t, err, "--database-allow-insecure")
		})
	}
}
