package pg_test

import (
	"bytes"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
)

func TestOpenWaitsForADatabaseThatIsAway(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	var said bytes.Buffer
	log := slog.New(slog.NewTextHandler(&said, nil))
	cfg := pg.Config{URL: obs.Secret("postgres://me:secret@" + listener.Addr().String() + "/none?sslmode=disable"), StartupWait: 300 * time.Millisecond}

	began := time.Now()
	_, err = pg.Open(t.Context(), cfg, log)
	require.Error(t, err)
	assert.GreaterOrEqual(t, time.Since(began), 200*time.Millisecond)
	assert.Equal(t, 1, strings.Count(said.String(), "the database server is unreachable; trying again"), "one line, not one for each attempt")
	assert.Contains(t, said.String(), listener.Addr().String())
	assert.NotContains(t, said.String()+err.Error(), "secret")
}

func TestOpenDoesNotWaitForWhatCannotBecomeRight(t *testing.T) {
	t.Parallel()
	cfg := pgtest.Config(t)
	u, err := url.Parse(cfg.URL.Reveal())
	require.NoError(t, err)
	u.Path = "/there_is_no_such_database"
	cfg.URL = obs.Secret(u.String())

	began := time.Now()
	_, err = pg.Open(t.Context(), cfg, pgtest.Log(t))
	assert.ErrorContains(t, err, "does not exist")
	assert.Less(t, time.Since(began), 10*time.Second)

	_, err = pg.Open(t.Context(), pg.Config{}, pgtest.Log(t))
	assert.ErrorContains(t, err, "no database URL")
}

func TestConfigIsLoggedWithoutItsPassword(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	cfg := pg.Config{URL: "postgres://me:secret@host/name"}
	slog.New(slog.NewJSONHandler(&said, nil)).Info("starting", "database", cfg)
	slog.New(slog.NewTextHandler(&said, nil)).Info("starting", "database", cfg)
	assert.NotContains(t, said.String(), "secret")
}

func TestCollectorReportsThePool(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	defer func() { assert.NoError(t, tx.Rollback(t.Context())) }()

	assert.NoError(t, testutil.CollectAndCompare(pg.Collector(pool), strings.NewReader(`
		# HELP rotaloom_pg_pool_connections Connections of the pool by state; max is the configured bound.
		# TYPE rotaloom_pg_pool_connections gauge
		rotaloom_pg_pool_connections{state="idle"} 0
		rotaloom_pg_pool_connections{state="max"} 8
		rotaloom_pg_pool_connections{state="used"} 1
	`), "rotaloom_pg_pool_connections"))
}
