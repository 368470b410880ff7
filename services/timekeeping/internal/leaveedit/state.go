package leaveedit

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavecase"
)

const (
	readAfter = `SELECT employee_id, version FROM leave_edit_head WHERE tenant_id = $1 AND employee_id > $2 ORDER BY employee_id LIMIT $3`

	addHeads = `INSERT INTO leave_edit_head (tenant_id, employee_id) SELECT $1, u.id FROM unnest($2::bigint[]) AS u (id) ON CONFLICT DO NOTHING`

	raiseAll = `
WITH raised AS (
    UPDATE leave_edit_head SET version = nextval('leave_version') WHERE tenant_id = $1 RETURNING tenant_id, employee_id, version
)
INSERT INTO leave_report (tenant_id, employee_id, version) SELECT tenant_id, employee_id, version FROM raised
ON CONFLICT (tenant_id, employee_id) DO UPDATE SET version = excluded.version, changed_at = clock_timestamp()`
)

// States returns the leave of up to limit employees of a tenant, for ids above after, sorted by id,
// in the form that scheduling receives.
func States(ctx context.Context, pool *pg.Pool, after int64, limit int) ([]*schedulingv1.EmployeeLeaveState, error) {
	return readStates(ctx, pool, readAfter, tenant.Of(ctx), after, limit)
}

// HandOverAgain makes the sweep send the leave of all employees of a tenant again, with versions
// above all earlier ones. Call it after a restore, in tx. Scheduled lists the employees who have
// leave on their schedules. Leave that timekeeping has lost is removed from the schedule.
func HandOverAgain(ctx context.Context, tx pgx.Tx, scheduled []int64) error {
	tenantID := tenant.Of(ctx)
	if _, err := tx.Exec(ctx, addHeads, tenantID, scheduled); err != nil {
		return fmt.Errorf("note employees whose leave was lost: %w", err)
	}
	if _, err := tx.Exec(ctx, raiseAll, tenantID); err != nil {
		return fmt.Errorf("hand leave over again: %w", err)
	}
	return nil
}

// readStates returns the leave of the employees whose ids and versions an SQL statement returns.
func readStates(ctx context.Context, pool *pg.Pool, statement string, args ...any) ([]*schedulingv1.EmployeeLeaveState, error) {
	var states []*schedulingv1.EmployeeLeaveState
	err := pg.InSnapshot(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
		states = nil
		byID := map[int64]*schedulingv1.EmployeeLeaveState{}
		rows, err := tx.Query(ctx, statement, args...)
		if err != nil {
			return err
		}
		var employees []int64
		var id, version int64
		if _, err := pgx.ForEachRow(rows, []any{&id, &version}, func() error {
			byID[id] = &schedulingv1.EmployeeLeaveState{EmployeeId: id, Version: version}
			states, employees = append(states, byID[id]), append(employees, id)
			return nil
		}); err != nil || len(employees) == 0 {
			return err
		}
		edits, err := collect(ctx, tx, `e.employee_id = ANY($2) ORDER BY e.employee_id, e.id`, tenant.Of(ctx), employees)
		if err != nil {
			return err
		}
		cases, err := leavecase.ByIDs(ctx, tx, caseIDs(edits))
		if err != nil {
			return err
		}
		for _, e := range edits {
			edit, err := e.scheduledEdit(cases[e.caseID])
			if err != nil {
				return fmt.Errorf("leave edit %d: %w", e.id, err)
			}
			byID[e.employeeID].LeaveEdits = append(byID[e.employeeID].LeaveEdits, edit)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the leave of employees: %w", err)
	}
	return states, nil
}
