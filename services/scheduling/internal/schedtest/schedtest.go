// Package schedtest runs handlers of this service through the whole interceptor chain, on a
// separate database for each test.
package schedtest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/pkg/testkit/rpctest"
	"github.com/rotaloom/rotaloom/services/scheduling/migrations"
)

// caller is the service in whose name tests call. It needs no token.
const caller = "test"

const seeding pg.Unaudited = "a test sets up its data"

// Env is the environment of a handler test.
type Env struct {
	// Pool is the database, with the schema of the service.
	Pool *pg.Pool
	// Ctx is the context of the default tenant.
	Ctx context.Context
	// Local serves the handlers.
	Local *rpc.Local
}

// New returns an Env for one test.
func New(t testing.TB) *Env {
	t.Helper()
	return &Env{
		Pool:  NewPool(t),
		Ctx:   tenant.With(t.Context(), tenant.Default),
		Local: rpctest.Local(t),
	}
}

// NewPool returns a pool on a new database with the schema of the service.
func NewPool(t testing.TB) *pg.Pool {
	t.Helper()
	sets, err := serve.Migrations("scheduling_version", migrations.FS)
	require.NoError(t, err)
	return pgtest.New(t, sets...)
}

// Conn returns a connection to the handlers. Calls use the tenant of their context.
func (e *Env) Conn() grpc.ClientConnInterface { return e.Local.Conn(caller, nil) }

// Exec runs a statement that sets up data, as the service and for the default tenant.
func (e *Env) Exec(t testing.TB, sql string, args ...any) {
	t.Helper()
	_, err := seeding.Exec(e.Ctx, e.Pool, sql, args...)
	require.NoError(t, err, sql)
}

// InsertTerm is the SQL that inserts an employment term with an id, a name, and whether it passes
// on patterns.
const InsertTerm = `INSERT INTO employment_term (tenant_id, id, name, allows_inheritance, body) OVERRIDING SYSTEM VALUE VALUES (1, $1, $2, $3, '')`

// Rows counts the rows of the tables.
func (e *Env) Rows(t testing.TB, tables ...string) map[string]int {
	t.Helper()
	counts := make(map[string]int, len(tables))
	for _, table := range tables {
		var n int
		require.NoError(t, e.Pool.QueryRow(e.Ctx, "SELECT count(*) FROM "+table).Scan(&n))
		counts[table] = n
	}
	return counts
}
