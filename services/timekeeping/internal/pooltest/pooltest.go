// Package pooltest provides timekeeping databases for tests.
package pooltest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/services/timekeeping/migrations"
)

// New returns a pool of a separate database for the test, with the schema of the service.
func New(t testing.TB) *pg.Pool {
	t.Helper()
	sets, err := serve.Migrations("timekeeping_version", migrations.FS)
	require.NoError(t, err)
	return pgtest.New(t, sets...)
}
