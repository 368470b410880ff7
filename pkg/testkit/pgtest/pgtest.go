// Package pgtest gives each test a PostgreSQL database of its own.
//
// The server is the one in ROTALOOM_TEST_DATABASE_URL (a superuser's URL), as
// the command withpg sets it for a whole run, or else a private one that this
// process starts when the first test asks, and that ends with it. A set of
// migrations is applied once, to a template, of which every test gets a copy.
package pgtest

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/pg"
)

// maxConns bounds the connections of one test, many of which run at once.
const maxConns = 8

// New returns a pool on a fresh database with the migrations applied, as the
// role that services have: subject to row-level security. The database is
// dropped when the test ends. Tests may call it in parallel.
func New(t testing.TB, sets ...pg.Migrations) *pg.Pool {
	t.Helper()
	pool, err := pg.Open(t.Context(), Config(t, sets...), Log(t))
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

// Config is New for tests that open the database themselves, perhaps more than
// once. They must close what they opened.
func Config(t testing.TB, sets ...pg.Migrations) pg.Config {
	t.Helper()
	server, err := shared()
	require.NoError(t, err, "no database for tests")
	name, err := server.create(t.Context(), sets)
	require.NoError(t, err, "make test database")
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		require.NoError(t, server.drop(ctx, name))
	})
	return pg.Config{URL: server.url(name), MaxConns: maxConns}
}

// Log returns a logger that writes to the test's own output.
func Log(t testing.TB) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), nil))
}
