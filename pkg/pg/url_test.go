package pg_test

import (
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/pg"
)

// pgx reads the URLs that we write, and we read the settings of other URLs.
func TestPgxReadsTheSettingsOfAURL(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"/run/pg", "/a path/with spaces", "/with+plus", "/100%/and&more=x", "/ümläut/ä"} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			u := url.URL{Scheme: "postgres", Path: "/x", RawQuery: pg.EncodeQuery(url.Values{"host": {host}, "user": {"me"}})}
			cfg, err := pgx.ParseConfig(u.String())
			require.NoError(t, err)
			assert.Equal(t, host, cfg.Host)
			settings, err := pg.Query(&u)
			require.NoError(t, err)
			assert.Equal(t, host, settings.Get("host"))
		})
	}
	u, err := url.Parse("postgres:///x?host=/plain+plus&user=me")
	require.NoError(t, err)
	settings, err := pg.Query(u)
	require.NoError(t, err)
	cfg, err := pgx.ParseConfig(u.String())
	require.NoError(t, err)
	assert.Equal(t, cfg.Host, settings.Get("host"))
}
