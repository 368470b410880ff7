// Package pgtest gives each test its own PostgreSQL database.
//
// The server is the one in ROTALOOM_TEST_DATABASE_URL (a superuser's URL), which the command withpg
// sets for a whole run. Without it, the first test starts a private server, which ends with the
// process. Each set of migrations is applied once, to a template; every test gets a copy.
package pgtest

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/pg"
)

// maxConns bounds the connections of one test; many tests run at once.
const maxConns = 8

// statementTimeout is longer than the product's, because single statements fill large tables, and
// the machine may run many tests at once.
const statementTimeout = 5 * time.Minute

// New returns a pool on a fresh database with the migrations applied. It has the services' role,
// which is subject to row-level security. The database is dropped when the test ends. New may be
// called in parallel.
func New(t testing.TB, sets ...pg.Migrations) *pg.Pool {
	t.Helper()
	pool, err := pg.Open(t.Context(), Config(t, sets...), Log(t))
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

// Config is New for tests that open the database themselves, possibly more than once. They must
// close their pools.
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
	return pg.Config{URL: server.url(name), MaxConns: maxConns, StatementTimeout: statementTimeout}
}

// Log returns a logger that writes to the test's own output.
func Log(t testing.TB) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), nil))
}
