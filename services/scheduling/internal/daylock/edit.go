package daylock

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
)

const readByID = `SELECT id, employee_id, from_date, to_date FROM day_lock WHERE tenant_id = $1 AND id = ANY($2)`

// Request asks to lock days of an employee.
type Request struct {
	Employee projection.Employee
	Days     civil.Range
}

// Find returns the locks with the ids, by id. Unknown ids are absent.
func Find(ctx context.Context, db pg.Querier, ids []int64) (map[int64]EmployeeDays, error) {
	found := make(map[int64]EmployeeDays, len(ids))
	var id int64
	var e EmployeeDays
	err := pg.ForEach(ctx, db, []any{&id, &e.EmployeeID, &e.Days.From, &e.Days.To}, func() error {
		found[id] = e
		return nil
	}, readByID, tenant.Of(ctx), ids)
	if err != nil {
		return nil, fmt.Errorf("daylock: read: %w", err)
	}
	return found, nil
}

// Lock locks days of employees, and returns the lock that covers each request. The transaction must
// hold the locks of the employees' schedules. Requests for the same days are processed together.
func Lock(ctx context.Context, tx pgx.Tx, list []Request) ([]*schedulingv1.DayLock, error) {
	var order []civil.Range
	byDays := map[civil.Range][]projection.Employee{}
	for _, w := range list {
		if byDays[w.Days] == nil {
			order = append(order, w.Days)
		}
		byDays[w.Days] = append(byDays[w.Days], w.Employee)
	}
	for _, days := range order {
		if _, err := lockDays(ctx, tx, withoutDuplicates(byDays[days]), days); err != nil {
			return nil, err
		}
	}
	// Locks can be merged by later requests, so read them only now.
	out := make([]*schedulingv1.DayLock, len(list))
	if len(list) == 0 {
		return out, nil
	}
	ids := make([]int64, len(list))
	for i := range list {
		ids[i] = list[i].Employee.ID
	}
	locks, err := readRows(ctx, tx, readAllLocks, ids, func(l *lock) []any { return []any{&l.id, &l.employeeID, &l.days.From, &l.days.To} })
	if err != nil {
		return nil, err
	}
	byEmployee := map[int64][]lock{}
	for _, l := range locks {
		byEmployee[l.employeeID] = append(byEmployee[l.employeeID], l)
	}
	for i := range list {
		covering := byEmployee[list[i].Employee.ID]
		at := slices.IndexFunc(covering, func(l lock) bool { return l.days.From <= list[i].Days.From && l.days.To >= list[i].Days.To })
		if at < 0 {
			return nil, fmt.Errorf("daylock: the days %s of employee %d are not locked", list[i].Days, list[i].Employee.ID)
		}
		out[i] = message(covering[at].id, employeeRef(&list[i].Employee), covering[at].days)
	}
	return out, nil
}
