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

// Notifications collects the schedules that a transaction changes, to publish change notifications.
type Notifications struct {
	employees []int64
	from, to  civil.Date
	shifts    scheduleevent.Shifts
	// covered are the employees with changed covering edits.
	covered []int64
}

// AddCovering records that an edit of an employee was added, changed or deleted, if it covers
// shifts.
func (c *Notifications) AddCovering(covers bool, employeeID int64) {
	if covers && employeeID != 0 {
		c.covered = append(c.covered, employeeID)
	}
}

// AddEntry records the new state of an entry. Other services copy only shifts that are or were
// assigned to employees.
func (c *Notifications) AddEntry(kind string, r *itemstore.Row) error {
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

// AddDeleted records the deletion of an employee's entry.
func (c *Notifications) AddDeleted(kind string, id, employeeID int64, day civil.Date) error {
	return c.AddEntry(kind, &itemstore.Row{ID: id, EmployeeID: employeeID, From: day, Deleted: true})
}

// AddDays records the days of an entry, including the last one. It ignores open shifts.
func (c *Notifications) AddDays(employeeID int64, from, to civil.Date) {
	if employeeID == 0 {
		return
	}
	if len(c.employees) == 0 {
		c.from, c.to = from, to
	}
	c.employees = append(c.employees, employeeID)
	c.from, c.to = min(c.from, from), max(c.to, to)
}

// Publish appends the events of the changes to the outbox.
func (c *Notifications) Publish(ctx context.Context, tx pgx.Tx) error {
	if err := c.shifts.Publish(ctx, tx); err != nil {
		return err
	}
	slices.Sort(c.covered)
	if err := scheduleevent.PublishTimeOff(ctx, tx, slices.Compact(c.covered)); err != nil {
		return err
	}
	if len(c.employees) == 0 {
		return nil
	}
	slices.Sort(c.employees)
	return outbox.Append(ctx, tx, &schedulingv1.ScheduleChanged{
		EmployeeIds: slices.Compact(c.employees), From: c.from.String(), To: c.to.String(),
	})
}
