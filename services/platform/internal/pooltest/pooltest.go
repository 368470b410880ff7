// Package pooltest provides tests with the database of platform.
package pooltest

import (
	"testing"

	"github.com/rotaloom/rotaloom/pkg/audit"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/setup"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/services/platform/migrations"
)

// New returns a pool on a new database for the test, with the schema of the service.
func New(t testing.TB) *pg.Pool {
	t.Helper()
	return pgtest.New(t, audit.Migrations(), setup.Migrations(), pg.Migrations{Table: "platform_version", FS: migrations.FS})
}
