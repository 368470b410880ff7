package payrollstaging

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/payledger"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/pooltest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func newWorker(t *testing.T, deps Deps) *Worker {
	t.Helper()
	w, err := NewWorker(deps, prometheus.NewRegistry())
	require.NoError(t, err)
	return w
}

// begun stores a run of March with a batch for each employee.
func begun(t *testing.T, ctx context.Context, pool *pg.Pool, req *timekeepingv1.PayrollStagingRequest, employees ...int64) []*stagedBatch {
	t.Helper()
	return begunOn(t, ctx, pool, civil.Range{From: march(1), To: march(31)}, req, employees...)
}

// begunOn stores a run of some days, the last one included, with a batch for each employee.
func begunOn(t *testing.T, ctx context.Context, pool *pg.Pool, days civil.Range, req *timekeepingv1.PayrollStagingRequest, employees ...int64) []*stagedBatch {
	t.Helper()
	id := uuid.New()
	req.ExecutionId = id.String()
	req.DateRange = &timekeepingv1.PayrollDateRange{StartDateTime: days.From.String() + "T00:00:00", EndDateTime: days.To.String() + "T00:00:00"}
	r, err := parse(req)
	require.NoError(t, err)
	require.NoError(t, work.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error { return namePayCodes(ctx, tx, r.message) }))
	body, err := proto.Marshal(r.message)
	require.NoError(t, err)
	_, err = work.Exec(ctx, pool, `INSERT INTO payroll_staging (tenant_id, id, execution_id, start_date, end_date, body, batches, batches_left)
		VALUES (1, $1, $2, $5, $6, $4, $3, $3)`, id, id.String(), len(employees), body, days.From, days.To)
	require.NoError(t, err)
	out := make([]*stagedBatch, len(employees))
	for i, employee := range employees {
		out[i] = &stagedBatch{id: id, batch: int32(i), rules: r, employees: []int64{employee}}
		_, err = work.Exec(ctx, pool, `INSERT INTO payroll_staging_batch (tenant_id, staging_id, batch, employee_ids) VALUES (1, $1, $2, $3)`, id, i, out[i].employees)
		require.NoError(t, err)
	}
	return out
}

// A run with one failed batch and one successful batch has not failed, though both end at the same
// time.
func TestBatchesThatEndTogether(t *testing.T) {
	t.Parallel()
	pool, ctx := pooltest.New(t), tenant.With(t.Context(), 1)
	worker := newWorker(t, Deps{Pool: pool})
	batches := begun(t, ctx, pool, &timekeepingv1.PayrollStagingRequest{}, 7, 8)
	stores := func(b *stagedBatch, code string) func(context.Context, pgx.Tx) error {
		return func(ctx context.Context, tx pgx.Tx) error {
			_, err := tx.Exec(ctx, `INSERT INTO payroll_staged_employee (tenant_id, staging_id, employee_id, person_number, full_name, error_code, message, custom_fields)
				VALUES (1, $1, $2, '', '', $3, '', '{}')`, b.id, b.employees[0], code)
			return err
		}
	}
	failed := make(chan error, 1)
	// The first batch ends in a transaction that is not committed before the second one
	// waits for it.
	require.NoError(t, work.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := stores(batches[0], "")(ctx, tx); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `UPDATE payroll_staging SET batches_left = 1, state = 'in_progress' WHERE tenant_id = 1 AND id = $1`, batches[0].id); err != nil {
			return err
		}
		go func() {
			failed <- worker.finish(tenant.With(t.Context(), 1), batches[1], stores(batches[1], CodeNotStaged))
		}()
		require.Eventually(t, func() bool {
			var waiting bool
			err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND locktype = 'transactionid' AND transactionid = pg_current_xact_id()::xid)`).Scan(&waiting)
			return err == nil && waiting
		}, time.Minute, 10*time.Millisecond)
		return nil
	}))
	require.NoError(t, <-failed)
	r, err := readRun(ctx, pool, batches[0].id)
	require.NoError(t, err)
	assert.Equal(t, "success", r.State)
}

// Two batches that have both stored rows of their run end without one of them being
// thrown away and staged again.
func TestBatchesThatStoreTogether(t *testing.T) {
	t.Parallel()
	pool, ctx := pooltest.New(t), tenant.With(t.Context(), 1)
	worker := newWorker(t, Deps{Pool: pool})
	batches := begun(t, ctx, pool, &timekeepingv1.PayrollStagingRequest{}, 7, 8)
	var stored atomic.Int32
	both := make(chan struct{})
	group, ctx := errgroup.WithContext(ctx)
	for _, b := range batches {
		group.Go(func() error {
			return worker.finish(ctx, b, func(ctx context.Context, tx pgx.Tx) error {
				if err := insertStaged(ctx, tx, b, []stagingEmployee{{Person: person.Person{ID: b.employees[0]}, head: payledger.Head{EmployeeID: b.employees[0]}, fields: []string{}}}); err != nil {
					return err
				}
				if stored.Add(1) == int32(len(batches)) {
					close(both)
				}
				select {
				case <-both:
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			})
		})
	}
	require.NoError(t, group.Wait())
	assert.EqualValues(t, len(batches), stored.Load(), "each batch was stored once")
	r, err := readRun(tenant.With(t.Context(), 1), pool, batches[0].id)
	require.NoError(t, err)
	assert.Equal(t, "success", r.State)
}

// Earnings are distinguished by the pay codes of their names, as all other time is.
func TestEarningsByPayCode(t *testing.T) {
	t.Parallel()
	pool, ctx := pooltest.New(t), tenant.With(t.Context(), 1)
	var bonus, tip int64
	for name, id := range map[string]*int64{"Bonus": &bonus, "Tip": &tip} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, work.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
				return tx.QueryRow(ctx, `INSERT INTO pay_code (tenant_id, name, body) VALUES (1, $1, '') RETURNING id`, name).Scan(id)
			}))
		})
	}
	named := func(id int64) []*commonv1.Ref { return []*commonv1.Ref{{Id: &id}} }
	employee := int64(0)
	for name, c := range map[string]struct {
		req  *timekeepingv1.PayrollStagingRequest
		want []string
	}{
		"all":      {&timekeepingv1.PayrollStagingRequest{}, []string{"BONUS", "Tip", "Unknown"}},
		"excluded": {&timekeepingv1.PayrollStagingRequest{ExcludePayCodes: named(bonus)}, []string{"Tip", "Unknown"}},
		"included": {&timekeepingv1.PayrollStagingRequest{IncludePayCodes: named(bonus)}, []string{"BONUS"}},
	} {
		employee++
		t.Run(name, func(t *testing.T) {
			b := begun(t, ctx, pool, c.req, employee)[0]
			for day, code := range []string{"BONUS", "Tip", "Unknown"} {
				_, err := work.Exec(ctx, pool, `INSERT INTO payroll_earning (tenant_id, ref_id, employee_id, charge_date, code, job, amount, body) VALUES (1, $1, $2, $3, $4, '', 5, '')`,
					uuid.New(), employee, civil.Of(2026, time.March, 2+day), code)
				require.NoError(t, err)
			}
			var got []string
			require.NoError(t, work.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
				taken, err := takeEarnings(ctx, tx, b, b.employees)
				for _, e := range taken[employee] {
					got = append(got, e.PayCode)
				}
				return err
			}))
			assert.Equal(t, c.want, got)
		})
	}
}
