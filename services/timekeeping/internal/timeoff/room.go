package timeoff

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/accrual"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leaveday"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/amount"
)

const (
	// maxReads is the maximum number of attempts to prepare a change while the employee's leave
	// changes.
	maxReads = 10
	// maxAround is the number of days before and after a request in which other requests of the
	// employee are considered.
	maxAround = 366
	// Values of checkAvailability of a pay code.
	checkNever, checkSubmission = 0, 2
)

// errMeanwhile is the error if a request, or the leave of its employee, changed while a change was
// prepared.
var errMeanwhile = fault.Conflict(fault.CodeStale, "Another user has changed the request for time off, or other leave of the employee. Read it, and try again.")

// wish is the intended state of a request.
type wish struct {
	id, employeeID int64
	request        *timekeepingv1.TimeOffRequest
	status         status
	subtype        *timekeepingv1.TimeOffRequestSubtype
	// before is the request as the schedule shows it now; nil if the schedule does not show it.
	before *timekeepingv1.TimeOffRequest
}

// room is the data of the days of a request, read before the transaction.
type room struct {
	days *leaveday.Days
	// mark identifies the state of the leave for which the balance was read; "" if no balance was
	// read. uncovered is the error if the balance does not cover the request.
	mark      string
	uncovered error
}

// retry repeats a change if the leave of the employee changed while the change was prepared.
func retry(change func() error) error {
	var err error
	for range maxReads {
		if err = change(); !errors.Is(err, errMeanwhile) {
			return err
		}
	}
	return err
}

// readRoom reads the data of the days of an intended request, and whether balances cover it. Do not
// call it inside a transaction.
func (h *requests) readRoom(ctx context.Context, w wish) (*room, error) {
	deductions, err := leaveday.OfTimeOff(w.id, w.request)
	if err != nil {
		return nil, err
	}
	old, err := leaveday.OfTimeOff(w.id, w.before)
	if err != nil {
		return nil, err
	}
	m := &room{}
	mark, err := leaveday.ReadMark(ctx, h.Pool, w.employeeID)
	if err != nil {
		return nil, err
	}
	first, last := deductions[0].Day, deductions[0].Day
	for _, t := range deductions {
		first, last = min(first, t.Day), max(last, t.Day)
	}
	others, err := byEmployee(ctx, h.Pool, []int64{w.employeeID}, active, civil.Through(max(civil.Beginning, first-maxAround), last+maxAround))
	if err != nil {
		return nil, err
	}
	pending, until, err := split(others, w.id, last+maxAround)
	if err != nil {
		return nil, err
	}
	if w.status.covers() {
		pending = nil // The request that is approved first gets the balance.
	}
	var days []civil.Date
	for _, t := range slices.Concat(deductions, old, pending) {
		days = append(days, t.Day)
	}
	if m.days, err = h.Room.Read(ctx, w.employeeID, days); err != nil || w.subtype.GetAllowDebt() {
		return m, err
	}
	if wanted := m.listWanted(w.status, deductions, old, pending); len(wanted) > 0 {
		err = h.Accruals.Cover(ctx, w.employeeID, wanted, until)
		if m.mark, m.uncovered = mark, err; fault.HasCode(err, accrual.CodeNotCovered) {
			err = nil
		}
	}
	return m, err
}

// split returns the deductions of undecided requests other than the given one. It also returns the
// last day of all these requests, limited to a given last day.
func split(others []*row, id int64, last civil.Date) (pending []leaveday.Deduction, until civil.Date, err error) {
	for _, r := range others {
		if r.id == id {
			continue
		}
		until = max(until, min(r.last, last))
		if r.status.covers() {
			continue
		}
		list, err := leaveday.OfTimeOff(r.id, r.request)
		if err != nil {
			return nil, 0, err
		}
		for _, t := range list {
			if t.Day <= last {
				pending = append(pending, t)
			}
		}
	}
	return pending, until, nil
}

// listWanted returns the deductions that balances must cover. It returns none if no pay code of the
// deductions is checked.
func (m *room) listWanted(as status, deductions, old, pending []leaveday.Deduction) []accrual.Wanted {
	var out []accrual.Wanted
	checks := false
	add := func(list []leaveday.Deduction, sign int64, check bool) {
		for _, t := range list {
			code, cost := m.days.Cost(t)
			if code == nil {
				continue
			}
			cost.Seconds, cost.Days = sign*cost.Seconds, amount.Amount(sign)*cost.Days
			ref := &commonv1.Ref{Id: code.Id, Qualifier: proto.String(code.GetName())}
			w := accrual.Wanted{Day: t.Day, PayCode: ref, Quantity: cost, Checked: check && needsCheck(code, as)}
			out, checks = append(out, w), checks || w.Checked
		}
	}
	add(deductions, 1, true)
	add(old, -1, false)
	add(pending, 1, false)
	if !checks {
		return nil
	}
	return out
}

// needsCheck reports whether a pay code needs a balance for a request that gets a status.
func needsCheck(code *timekeepingv1.PayCode, as status) bool {
	if code.CheckAvailability == nil {
		return as.covers()
	}
	switch code.GetCheckAvailability() {
	case checkNever:
		return false
	case checkSubmission:
		return true
	}
	return as.covers()
}

// check returns an error if the days of a request have no room for it beside the employee's other
// leave, or if the balance does not cover it. The transaction holds the lock of the employee.
func (m *room) check(ctx context.Context, tx pgx.Tx, r *row) error {
	if m == nil {
		return errMeanwhile
	}
	if m.mark != "" {
		if mark, err := leaveday.ReadMark(ctx, tx, r.employeeID); err != nil || mark != m.mark {
			return cmp.Or[error](err, errMeanwhile)
		}
	}
	deductions, err := leaveday.OfTimeOff(r.id, r.request)
	if err != nil {
		return err
	}
	if err := m.days.Check(ctx, tx, deductions, leaveday.Source{Kind: leaveday.TimeOff, ID: r.id}); err != nil {
		return err
	}
	return m.uncovered
}
