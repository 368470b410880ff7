package pgtest

import (
	"context"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/pg"
)

// Statements collects the distinct statements of a pool, with the arguments of their first
// execution.
type Statements struct {
	mu   sync.Mutex
	args map[string][]any
}

// Recorded returns another pool on the same database, and the statements that run on it. So a test
// can check the plans of the real statements.
func Recorded(t testing.TB, pool *pg.Pool) (*pg.Pool, *Statements) {
	t.Helper()
	s := &Statements{args: map[string][]any{}}
	recorded, err := pool.Traced(t.Context(), s)
	require.NoError(t, err)
	t.Cleanup(recorded.Close)
	return recorded, s
}

// TraceQueryStart records a statement.
func (s *Statements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	s.add(data.SQL, data.Args)
	return ctx
}

// TraceQueryEnd does nothing.
func (s *Statements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TraceBatchStart records the statements of a batch.
func (s *Statements) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	for _, q := range data.Batch.QueuedQueries {
		s.add(q.SQL, q.Arguments)
	}
	return ctx
}

// TraceBatchQuery does nothing.
func (s *Statements) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

// TraceBatchEnd does nothing.
func (s *Statements) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

func (s *Statements) add(sql string, args []any) {
	command, _, _ := strings.Cut(strings.TrimSpace(sql), " ")
	switch command {
	case "SELECT", "WITH", "INSERT", "UPDATE", "DELETE": // Statements with a plan.
	default:
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.args[sql]; !known {
		s.args[sql] = args
	}
}

// Plans returns the plans of the recorded statements that read or write one of the tables, for the
// tenant of ctx.
func (s *Statements) Plans(t testing.TB, ctx context.Context, pool *pg.Pool, tables ...string) map[string]string {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	plans := map[string]string{}
	for sql, args := range s.args {
		rows, err := pool.Query(ctx, "EXPLAIN "+sql, args...)
		require.NoError(t, err, sql)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err, sql)
		plan := strings.Join(lines, "\n")
		for _, table := range tables {
			if strings.Contains(plan, " "+table+" ") {
				plans[sql] = plan
			}
		}
	}
	return plans
}

// AssertNoScan fails if one of [Statements.Plans] scans one of the tables sequentially. It returns
// the plans.
func (s *Statements) AssertNoScan(t testing.TB, ctx context.Context, pool *pg.Pool, tables ...string) map[string]string {
	t.Helper()
	plans := s.Plans(t, ctx, pool, tables...)
	scan := regexp.MustCompile(`Seq Scan on (` + strings.Join(tables, "|") + `)\b`)
	for sql, plan := range plans {
		assert.NotRegexp(t, scan, plan, sql)
	}
	return plans
}

// GenericPlan returns the plan that tx makes of a statement without its arguments. A server chooses
// such plans once a connection has run a statement several times. arguments is the number of the
// statement's arguments.
func GenericPlan(t testing.TB, tx pgx.Tx, sql string, arguments int) string {
	t.Helper()
	nothing := strings.TrimSuffix(strings.Repeat("NULL, ", arguments), ", ") // The plan does not depend on the values.
	_, err := tx.Exec(t.Context(), "SET LOCAL plan_cache_mode = force_generic_plan; PREPARE planned AS "+sql, pgx.QueryExecModeSimpleProtocol)
	require.NoError(t, err)
	rows, err := tx.Query(t.Context(), "EXPLAIN EXECUTE planned ("+nothing+")", pgx.QueryExecModeSimpleProtocol)
	require.NoError(t, err)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "DEALLOCATE planned")
	require.NoError(t, err)
	return strings.Join(lines, "\n")
}
