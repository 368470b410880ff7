package itemchange

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleevent"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemstore"
)

// News collects whose schedules a transaction has changed, and when.
type News struct {
	employees []int64
	from, to  civil.Date
	shifts    scheduleevent.Shifts
	// covered are the employees whose covering edits have changed.
	covered []int64
}

// Cover notes that an edit of an employee has come, changed or gone, if it covers
// shifts.
func (c *News) Cover(covers bool, employeeID int64) {
	if covers && employeeID != 0 {
		c.covered = append(c.covered, employeeID)
	}
}

// Put notes an entry as it is now. Others keep copies of shifts only, and not of open ones,
// which never were on anybody's schedule.
func (c *News) Put(kind string, r *itemstore.Row) error {
	if r.EmployeeID == 0 || kind != itemstore.KindShift {
		return nil
	}
	employeeID := r.EmployeeID
	if r.Deleted {
		employeeID = 0
	}
	return c.shifts.Add(scheduleevent.Shift{
		ID: r.ID, Version: r.Version, EmployeeID: employeeID, Day: r.From, Body: r.Body, Hides: r.Hides.Message(),
	})
}

// Deleted notes an entry of an employee that is nowhere any more.
func (c *News) Deleted(kind string, id, employeeID int64, day civil.Date) error {
	return c.Put(kind, &itemstore.Row{ID: id, EmployeeID: employeeID, From: day, Deleted: true})
}

// Add notes the days of an entry, the last one included. Open shifts are on
// nobody's schedule.
func (c *News) Add(employeeID int64, from, to civil.Date) {
	if employeeID == 0 {
		return
	}
	if len(c.employees) == 0 {
		c.from, c.to = from, to
	}
	c.employees = append(c.employees, employeeID)
	c.from, c.to = min(c.from, from), max(c.to, to)
}

// Publish appends the event of the changes.
func (c *News) Publish(ctx context.Context, tx pgx.Tx, tenantID int64) error {
	if err := c.shifts.Publish(ctx, tx, tenantID); err != nil {
		return err
	}
	slices.Sort(c.covered)
	if err := scheduleevent.PublishTimeOff(ctx, tx, tenantID, slices.Compact(c.covered)); err != nil {
		return err
	}
	if len(c.employees) == 0 {
		return nil
	}
	slices.Sort(c.employees)
	return outbox.Append(ctx, tx, tenantID, &schedulingv1.ScheduleChanged{
		EmployeeIds: slices.Compact(c.employees), From: c.from.String(), To: c.to.String(),
	})
}
