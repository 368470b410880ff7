package calculation

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// View is the part of a timecard that data elements and balances read: its days with content.
type View struct {
	Dates []civil.Date
	Days  []*timekeepingv1.TimecardDay
	// Through is the last signed-off day; nil without a sign-off.
	Through *civil.Date
	// Primary returns the path of the primary job on a day, or "" without one. PayCode returns the
	// pay code of a total, or nil if it does not exist.
	Primary func(day civil.Date) string
	PayCode func(ref *commonv1.Ref) *timekeepingv1.PayCode
	// Calculated is the time of the calculation on the employee's clock.
	Calculated civil.DateTime
}

// Views returns the timecards of up to MaxEmployees employees on some days, in the order of the
// ids. wages requests totals with wages. It does not check which employees the caller may see. Do
// not call it inside a transaction.
func (r *Reader) Views(ctx context.Context, ids []int64, days civil.Range, wages bool) ([]*View, error) {
	timecards, err := r.Read(ctx, ids, Window{Days: days, Wages: wages})
	if err != nil {
		return nil, err
	}
	out := make([]*View, len(timecards))
	for i, c := range timecards {
		out[i] = &View{
			Days: c.NonEmptyDays(), Through: c.Through, PayCode: c.setup.Find, Calculated: c.clocks.At(r.Now(ctx)),
			Primary: func(day civil.Date) string { return c.job("", day) },
		}
		c.Pay(out[i].Days, wages)
		for _, d := range out[i].Days {
			day, err := civil.ParseDate(d.GetDate())
			if err != nil {
				return nil, err
			}
			out[i].Dates = append(out[i].Dates, day)
		}
	}
	return out, nil
}
