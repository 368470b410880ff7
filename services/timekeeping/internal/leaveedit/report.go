package leaveedit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// CodeNotScheduled (503): the leave is stored, but the schedule does not show it yet. Read the
// leave edits before you repeat the request: the schedule follows without a new request.
const CodeNotScheduled = "WRL-20950"

const (
	// employeesPerCall is the maximum number of employees in one call.
	employeesPerCall = 100
	// putTimeout is the timeout of one call.
	putTimeout = 5 * time.Second
	// The sweep runs every sweepEvery and sends changes that are older than sweepAfter. Newer
	// changes are left to the requests that made them.
	sweepEvery = 2 * time.Second
	sweepAfter = 5 * time.Second
	sweepLimit = 1000
)

const (
	readReported = `
SELECT h.employee_id, h.version FROM leave_edit_head h
WHERE h.tenant_id = $1 AND h.employee_id = ANY($2) AND EXISTS (
    SELECT FROM leave_report r WHERE r.tenant_id = $1 AND r.employee_id = h.employee_id)
ORDER BY h.employee_id`

	// A later change is sent by its own request.
	deleteReported = `
DELETE FROM leave_report r USING unnest($2::bigint[], $3::bigint[]) AS u (employee_id, version)
WHERE r.tenant_id = $1 AND r.employee_id = u.employee_id AND r.version <= u.version`

	readUnreported = `
SELECT tenant_id, employee_id FROM leave_report WHERE changed_at < clock_timestamp() - make_interval(secs => $1) ORDER BY changed_at LIMIT $2`
)

const confirmed pg.Unaudited = "scheduling has what was changed and audited before"

// Reporter sends the leave of employees to scheduling. A call contains all leave of an employee and
// an increasing version, so repeated and late calls do no harm. A change inserts a row into
// leave_report in its transaction. The Reporter deletes the row when scheduling has confirmed the
// version, so a crash before that loses nothing.
type Reporter struct {
	pool     *pg.Pool
	schedule schedulingv1.LeaveServiceClient
	log      *slog.Logger
	waiting  prometheus.Gauge
}

// NewReporter returns a Reporter of the database of the pool. Its sweep sets the metric waiting to
// the number of employees whose leave it could not send.
func NewReporter(pool *pg.Pool, schedule schedulingv1.LeaveServiceClient, log *slog.Logger, waiting prometheus.Gauge) *Reporter {
	return &Reporter{pool: pool, schedule: schedule, log: log, waiting: waiting}
}

// Report sends the leave of employees. Call it after the commit and before the response, not inside
// a transaction.
func (r *Reporter) Report(ctx context.Context, employees ...int64) error {
	if err := r.report(ctx, employees); err != nil {
		return fault.New(CodeNotScheduled, http.StatusServiceUnavailable,
			"The leave is stored, but the schedule does not show it yet. It will as soon as the scheduling service responds.").WithCause(err)
	}
	return nil
}

func (r *Reporter) report(ctx context.Context, employees []int64) error {
	tenantID := tenant.Of(ctx)
	employees = slices.Compact(slices.Sorted(slices.Values(employees)))
	for part := range slices.Chunk(employees, employeesPerCall) {
		states, err := readStates(ctx, r.pool, readReported, tenantID, part)
		if err != nil || len(states) == 0 {
			return err
		}
		if err := r.sendStates(ctx, states); err != nil {
			return err
		}
		ids, versions := make([]int64, len(states)), make([]int64, len(states))
		for i, s := range states {
			ids[i], versions[i] = s.GetEmployeeId(), s.GetVersion()
		}
		if _, err := confirmed.Exec(ctx, r.pool, deleteReported, tenantID, ids, versions); err != nil {
			return fmt.Errorf("note that scheduling has leave: %w", err)
		}
	}
	return nil
}

// sendStates retries while scheduling restarts. The leave is already stored, so a late success is
// better than an error.
func (r *Reporter) sendStates(ctx context.Context, states []*schedulingv1.EmployeeLeaveState) error {
	ctx, cancel := context.WithTimeout(ctx, putTimeout)
	defer cancel()
	if _, err := r.schedule.PutLeave(ctx, &schedulingv1.PutLeaveRequest{Employees: states}, grpc.WaitForReady(true)); err != nil {
		return fmt.Errorf("hand leave over to scheduling: %w", err)
	}
	return nil
}

// Run sends the leave that requests could not send, until ctx ends.
func (r *Reporter) Run(ctx context.Context) error {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			if err := r.sweep(ctx); err != nil && ctx.Err() == nil {
				r.log.WarnContext(ctx, "leave could not be handed over to scheduling, and is tried again", "error", err)
			}
		}
	}
}

// sweep sends the waiting leave of all tenants.
func (r *Reporter) sweep(ctx context.Context) error {
	rows, err := r.pool.Query(tenant.All(ctx), readUnreported, sweepAfter.Seconds(), sweepLimit)
	if err != nil {
		return fmt.Errorf("look for leave to hand over: %w", err)
	}
	waiting := map[int64][]int64{}
	var tenantID, employeeID int64
	if _, err := pgx.ForEachRow(rows, []any{&tenantID, &employeeID}, func() error {
		waiting[tenantID] = append(waiting[tenantID], employeeID)
		return nil
	}); err != nil {
		return fmt.Errorf("look for leave to hand over: %w", err)
	}
	var failed error
	left := 0
	for tenantID, employees := range waiting {
		if err := r.report(tenant.With(ctx, tenantID), employees); err != nil {
			failed, left = errors.Join(failed, err), left+len(employees)
		}
	}
	r.waiting.Set(float64(left))
	return failed
}
