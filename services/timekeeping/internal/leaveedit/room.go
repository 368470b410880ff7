package leaveedit

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leaveday"
)

// readRoom reads what the days of planned edits have. It has no place in a transaction. What is
// wrong with an edit is found when it is stored.
func (h *Handler) readRoom(ctx context.Context, tenantID int64, p *plan, clock *civil.TimeOfDay) (*leaveday.Days, error) {
	zone, err := h.zones.Get(p.of.TimeZone())
	if err != nil {
		return nil, err
	}
	var days []civil.Date
	for _, edit := range p.edits {
		d, err := newDraft(edit, clock, p.of, zone)
		if err != nil {
			continue
		}
		for day := d.first; day <= d.last; day++ {
			days = append(days, day)
		}
	}
	return h.room.Read(ctx, tenantID, p.of.EmployeeID, days)
}

// checkRoom refuses rows of an employee whose days have no room for them, and keeps others from
// entering leave until the transaction ends.
func checkRoom(ctx context.Context, tx pgx.Tx, tenantID int64, days *leaveday.Days, rows []row) error {
	if len(rows) == 0 {
		return nil
	}
	if err := leaveday.Lock(ctx, tx, tenantID, rows[0].employeeID); err != nil {
		return err
	}
	var added []leaveday.Taking
	replaced := make([]leaveday.Source, len(rows))
	for i, r := range rows {
		takings, err := days.OfLeaveEdit(r.id, r.first, r.last, r.body)
		if err != nil {
			return err
		}
		added, replaced[i] = append(added, takings...), leaveday.Source{Kind: leaveday.LeaveEdit, ID: r.id}
	}
	return days.Check(ctx, tx, tenantID, added, replaced...)
}
