package leaveedit

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavecase"
)

// mostListed bounds the employees of one answer to another service.
const mostListed = 100

// ListEmployeeLeaveEdits answers everything that employees have, each under the
// version of their history. One without a history has version 0.
func (h *Handler) ListEmployeeLeaveEdits(ctx context.Context, req *timekeepingv1.ListEmployeeLeaveEditsRequest) (*timekeepingv1.ListEmployeeLeaveEditsResponse, error) {
	tenantID, _ := tenant.From(ctx)
	employees := req.GetEmployeeIds()
	if n := len(employees); n > mostListed {
		return nil, fault.Invalid(fault.CodeBadRequest, fmt.Sprintf("%d employees are more than the allowed %d.", n, mostListed))
	}
	out := &timekeepingv1.ListEmployeeLeaveEditsResponse{}
	// One snapshot: edits never go under a version that is not theirs.
	err := pg.InSnapshot(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		out.Employees = nil
		versions, err := versionsOf(ctx, tx, tenantID, employees)
		if err != nil {
			return err
		}
		rows, err := collect(ctx, tx, `e.employee_id = ANY($2) ORDER BY e.employee_id, e.id`, tenantID, employees)
		if err != nil {
			return err
		}
		cases, err := leavecase.ByIDs(ctx, tx, tenantID, casesOf(rows))
		if err != nil {
			return err
		}
		states := map[int64][]*timekeepingv1.LeaveEditState{}
		for _, r := range rows {
			states[r.employeeID] = append(states[r.employeeID], r.state(cases[r.caseID]))
		}
		for _, id := range employees {
			out.Employees = append(out.Employees, &timekeepingv1.EmployeeLeaveEdits{
				EmployeeId: id, Version: versions[id], Complete: true, Edits: states[id],
			})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func versionsOf(ctx context.Context, tx pgx.Tx, tenantID int64, employees []int64) (map[int64]int64, error) {
	rows, err := tx.Query(ctx, `SELECT employee_id, version FROM leave_edit_head
		WHERE tenant_id = $1 AND employee_id = ANY($2)`, tenantID, employees)
	if err != nil {
		return nil, fmt.Errorf("read the versions of leave edits: %w", err)
	}
	versions := make(map[int64]int64, len(employees))
	var id, version int64
	_, err = pgx.ForEachRow(rows, []any{&id, &version}, func() error {
		versions[id] = version
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the versions of leave edits: %w", err)
	}
	return versions, nil
}
