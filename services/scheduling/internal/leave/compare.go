package leave

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// Employees returns the ids of the tenant's employees with leave, ascending.
func Employees(ctx context.Context, db pg.Querier) ([]int64, error) {
	ids, err := pg.Collect(ctx, db, pgx.RowTo[int64], `SELECT DISTINCT employee_id FROM leave_edit WHERE tenant_id = $1 ORDER BY employee_id`, tenant.Of(ctx))
	if err != nil {
		return nil, fmt.Errorf("read employees with leave: %w", err)
	}
	return ids, nil
}

// CountDifferences counts the employees whose stored leave differs from the given state.
func CountDifferences(ctx context.Context, db pg.Querier, states []*schedulingv1.EmployeeLeaveState) (int, error) {
	employees := make([]int64, len(states))
	for i, s := range states {
		employees[i] = s.GetEmployeeId()
	}
	stored, err := readRows(ctx, db, employees)
	if err != nil {
		return 0, fmt.Errorf("read leave: %w", err)
	}
	count := map[int64]int{}
	for _, r := range stored {
		count[r.EmployeeID]++
	}
	differ := 0
	for _, s := range states {
		expected, err := newRows(s)
		if err != nil {
			return 0, err
		}
		same := len(expected) == count[s.GetEmployeeId()]
		for _, r := range expected {
			same = same && stored[r.ID].equal(r)
		}
		if !same {
			differ++
		}
	}
	return differ, nil
}
