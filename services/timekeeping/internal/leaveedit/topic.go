package leaveedit

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/replica"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavecase"
)

// Topic is the leave edits of employees, for those who keep copies of them.
func Topic() replica.Topic {
	return replica.Topic{
		Event: &timekeepingv1.LeaveEditsChanged{}, Tenants: replica.TenantsOf("leave_edit_head"),
		Marks: `SELECT employee_id AS key, version AS mark FROM leave_edit_head
			WHERE tenant_id = $1 AND employee_id > $2 AND employee_id <= $3 AND version > 0`,
		States: states,
	}
}

// states returns everything that employees have, in steps of which the first one
// begins anew. Who has more than one step holds gets new versions for them.
func states(ctx context.Context, tx pgx.Tx, tenantID int64, wanted []replica.Gap) ([]proto.Message, error) {
	employees := replica.Keys(wanted)
	versions, err := lockHeads(ctx, tx, tenantID, employees)
	if err != nil {
		return nil, err
	}
	rows, err := collect(ctx, tx, `e.employee_id = ANY($2) ORDER BY e.employee_id, e.id`, tenantID, employees)
	if err != nil {
		return nil, err
	}
	cases, err := leavecase.ByIDs(ctx, tx, tenantID, casesOf(rows))
	if err != nil {
		return nil, err
	}
	edits := map[int64][]*timekeepingv1.LeaveEditState{}
	for _, r := range rows {
		edits[r.employeeID] = append(edits[r.employeeID], r.state(cases[r.caseID]))
	}
	var events []proto.Message
	for _, w := range wanted {
		if versions[w.Key] == 0 {
			events = append(events, &timekeepingv1.LeaveEditsChanged{Employees: []*timekeepingv1.EmployeeLeaveEdits{
				{EmployeeId: w.Key, Version: w.Version + 1, Complete: true, Deleted: true},
			}})
			continue
		}
		steps := wholeSteps(w.Key, edits[w.Key])
		first := w.NextVersion(versions[w.Key])
		if len(steps) > 1 {
			first = max(versions[w.Key], w.Version) + 1
		}
		for i, step := range steps {
			step.Version = first + int64(i)
			events = append(events, &timekeepingv1.LeaveEditsChanged{Employees: []*timekeepingv1.EmployeeLeaveEdits{step}})
		}
		if last := first + int64(len(steps)) - 1; last != versions[w.Key] {
			if _, err := tx.Exec(ctx, `UPDATE leave_edit_head SET version = $3 WHERE tenant_id = $1 AND employee_id = $2`, tenantID, w.Key, last); err != nil {
				return nil, fmt.Errorf("store the version of leave edits: %w", err)
			}
		}
	}
	return events, nil
}

// wholeSteps divides everything that an employee has into steps, at least one.
func wholeSteps(employeeID int64, edits []*timekeepingv1.LeaveEditState) []*timekeepingv1.EmployeeLeaveEdits {
	steps := []*timekeepingv1.EmployeeLeaveEdits{{EmployeeId: employeeID, Complete: true}}
	for first := 0; first < len(edits); first += editsInStep {
		if first > 0 {
			steps = append(steps, &timekeepingv1.EmployeeLeaveEdits{EmployeeId: employeeID})
		}
		steps[len(steps)-1].Edits = edits[first:min(first+editsInStep, len(edits))]
	}
	return steps
}
