package calculation

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/paysetup"
)

// maxBookedDays is the maximum number of days whose edits are read at once.
const maxBookedDays = 20_000

// TotalsUnder returns the totals of an employee under some pay codes, unsorted: the totals of
// WorkedTime, for any number of days. If no rule pays work under these pay codes, it reads only
// bookings without punches, so that its cost depends on the number of bookings instead of the
// number of days. It calls other services, so do not call it inside a transaction.
func (r *Reader) TotalsUnder(ctx context.Context, employeeID int64, days civil.Range, codes []*commonv1.Ref) ([]*timekeepingv1.WorkedTimeTotal, error) {
	var out []*timekeepingv1.WorkedTimeTotal
	for from := days.From; from < days.To; from += maxBookedDays {
		part := civil.Range{From: from, To: min(from+maxBookedDays, days.To)}
		totals, paysWork, err := r.bookedTotals(ctx, employeeID, part, codes)
		if err == nil && paysWork {
			totals, err = r.workedTotals(ctx, employeeID, part)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, totals...)
	}
	return slices.DeleteFunc(out, func(t *timekeepingv1.WorkedTimeTotal) bool { return !paysetup.Contains(codes, t.GetPayCode()) }), nil
}

// bookedTotals returns the totals of bookings without punches, and of signed-off days. It returns
// nothing and true if a rule can pay work under one of the pay codes.
func (r *Reader) bookedTotals(ctx context.Context, employeeID int64, days civil.Range, codes []*commonv1.Ref) ([]*timekeepingv1.WorkedTimeTotal, bool, error) {
	known, err := r.days.ReadEdited(ctx, employeeID, days)
	if err != nil {
		return nil, false, err
	}
	var timecard *Timecard
	err = pg.InSnapshot(ctx, r.pool, func(ctx context.Context, tx pgx.Tx) error {
		setup, err := paysetup.Load(ctx, tx)
		if err != nil || setup.PaysWork(codes) {
			return err
		}
		w := Window{Days: days, Booked: true}
		found, err := r.load(ctx, tx, []int64{employeeID}, w, setup.Rules)
		if err != nil {
			return err
		}
		e := found[employeeID]
		e.of = known
		timecard = e.calculate(w, setup, r.Now(ctx).Unix())
		return nil
	})
	if err != nil || timecard == nil {
		return nil, err == nil, err
	}
	var out []*timekeepingv1.WorkedTimeTotal
	for key, total := range timecard.totals(days) {
		if timecard.signed[key.Day] == nil {
			out = append(out, total)
		}
	}
	for day, d := range timecard.signed {
		if days.Contains(day) {
			out = append(out, d.GetTotals()...)
		}
	}
	return out, false, nil
}

// workedTotals returns the totals of all timecards of the days.
func (r *Reader) workedTotals(ctx context.Context, employeeID int64, days civil.Range) ([]*timekeepingv1.WorkedTimeTotal, error) {
	var out []*timekeepingv1.WorkedTimeTotal
	for from := days.From; from < days.To; from += MaxDays {
		worked, err := r.WorkedTime(ctx, []int64{employeeID}, civil.Range{From: from, To: min(from+MaxDays, days.To)})
		if err != nil {
			return nil, err
		}
		out = append(out, worked[0].GetTotals()...)
	}
	return out, nil
}

// FirstEdited returns the first day of a range that has a pay code edit of the schedule, or the end of
// the range. It calls other services, so do not call it inside a transaction.
func (r *Reader) FirstEdited(ctx context.Context, employeeID int64, days civil.Range) (civil.Date, error) {
	for from := days.From; from < days.To; from += maxBookedDays {
		known, err := r.days.ReadEdited(ctx, employeeID, civil.Range{From: from, To: min(from+maxBookedDays, days.To)})
		if err != nil {
			return 0, err
		}
		if edits := known.Schedule.GetPayCodeEdits(); len(edits) > 0 {
			return civil.Date(edits[0].GetDay()), nil
		}
	}
	return days.To, nil
}
