package timeoff

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leaveday"
)

// room is what the days of a request have, read before its transaction.
type room struct {
	days *leaveday.Days
}

// readRoom reads what the days of a request have. It has no place in a transaction.
func (h *requests) readRoom(ctx context.Context, tenantID, employeeID int64, request *timekeepingv1.TimeOffRequest) (*room, error) {
	takings, err := leaveday.OfTimeOff(0, request)
	if err != nil {
		return nil, err
	}
	days := make([]civil.Date, len(takings))
	for i, t := range takings {
		days[i] = t.Day
	}
	read, err := h.Room.Read(ctx, tenantID, employeeID, days)
	return &room{days: read}, err
}

// errMeanwhile says that a request changed while a change of it was prepared.
var errMeanwhile = fault.Conflict(fault.CodeStale, "Somebody changed the request meanwhile. Read it, and send the request again.")

// check refuses a request whose days have no room for it beside the employee's other leave.
func (m *room) check(ctx context.Context, tx pgx.Tx, tenantID int64, r *row) error {
	if m == nil {
		return errMeanwhile
	}
	takings, err := leaveday.OfTimeOff(r.id, r.request)
	if err != nil {
		return err
	}
	return m.days.Check(ctx, tx, tenantID, takings, leaveday.Source{Kind: leaveday.TimeOff, ID: r.id})
}
