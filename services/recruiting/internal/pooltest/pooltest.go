// Package pooltest provides recruiting databases for tests.
package pooltest

import (
	"testing"

	"github.com/rotaloom/rotaloom/pkg/audit"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/setup"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/services/recruiting/migrations"
)

// New returns a pool of a separate database for the test, with the schema of the service.
func New(t testing.TB) *pg.Pool {
	t.Helper()
	return pgtest.New(t, audit.Migrations(), setup.Migrations(), pg.Migrations{Table: "recruiting_version", FS: migrations.FS})
}
