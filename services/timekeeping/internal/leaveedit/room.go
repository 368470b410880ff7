package leaveedit

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leaveday"
)

// readRoom reads the data of the days of planned edits. Do not call it inside a transaction. It
// ignores malformed edits, which the later validation reports.
func (h *Handler) readRoom(ctx context.Context, p *plan, clock *civil.TimeOfDay) (*leaveday.Days, error) {
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
	return h.room.Read(ctx, p.of.EmployeeID, days)
}

// refuseSigned returns an error for rows of an employee if their old or new first day has a
// signed-off timecard.
func refuseSigned(ctx context.Context, tx pgx.Tx, rows []row) error {
	first, ids := rows[0].first, make([]int64, len(rows))
	for i, r := range rows {
		first, ids[i] = min(first, r.first), r.id
	}
	before, err := firstDay(ctx, tx, ids)
	if err != nil {
		return err
	}
	if before != nil {
		first = min(first, *before)
	}
	return leaveday.RefuseSigned(ctx, tx, leaveday.Change{EmployeeID: rows[0].employeeID, First: first})
}

// firstDay returns the first day that stored edits overlap; nil without edits.
func firstDay(ctx context.Context, tx pgx.Tx, ids []int64) (first *civil.Date, err error) {
	if err := tx.QueryRow(ctx, `SELECT min(from_day) FROM leave_edit WHERE tenant_id = $1 AND id = ANY($2)`, tenant.Of(ctx), ids).Scan(&first); err != nil {
		return nil, fmt.Errorf("read the first day of leave edits: %w", err)
	}
	return first, nil
}

// checkRoom returns an error if the days of an employee have no room for the rows. It prevents
// other transactions from adding leave of the employee until this transaction ends.
func checkRoom(ctx context.Context, tx pgx.Tx, days *leaveday.Days, rows []row) error {
	if len(rows) == 0 {
		return nil
	}
	if err := refuseSigned(ctx, tx, rows); err != nil {
		return err
	}
	var added []leaveday.Deduction
	replaced := make([]leaveday.Source, len(rows))
	for i, r := range rows {
		deductions, err := days.OfLeaveEdit(r.id, r.first, r.last, r.body)
		if err != nil {
			return err
		}
		added, replaced[i] = append(added, deductions...), leaveday.Source{Kind: leaveday.LeaveEdit, ID: r.id}
	}
	return days.Check(ctx, tx, added, replaced...)
}
