package projection

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employeelock"
)

// Leave changes an employee's schedule like people and propagations do: one after the other, under the employee's lock. The history
// has the order of these changes.
func TestCopiesWaitForTheEmployee(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*fixture) error{
		"leave": func(w *fixture) error {
			return pg.InTx(w.ctx, w.pool, func(ctx context.Context, tx pgx.Tx) error {
				return replica.Put(ctx, tx, w.copies.leaveEdits, tenant.Default, []*timekeepingv1.EmployeeLeaveEdits{leaveStep(7, 1, nil, leaveState(70, 1, "2026-01-05"))})
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			held, err := w.pool.Begin(w.ctx)
			require.NoError(t, err)
			defer func() { _ = held.Rollback(w.ctx) }() // It is committed below.
			require.NoError(t, employeelock.Lock(w.ctx, held, tenant.Default, []int64{7}))
			done := make(chan error, 1)
			go func() { done <- change(w) }()
			require.Eventually(t, func() bool {
				var waits bool
				err := held.QueryRow(w.ctx, `SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
					AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`).Scan(&waits)
				return assert.NoError(t, err) && waits
			}, 10*time.Second, time.Millisecond)
			require.NoError(t, held.Commit(w.ctx))
			require.NoError(t, <-done)
		})
	}
}
