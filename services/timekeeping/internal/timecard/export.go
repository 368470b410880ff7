package timecard

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/civil"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// MostEmployees is of how many employees timecards are read at once.
const MostEmployees = maxEmployees

// Sheet is the timecard of an employee: the days that there is something on.
type Sheet struct {
	Dates []civil.Date
	Days  []*timekeepingv1.TimecardDay
	// Through is the last day that is signed off, nil when none is.
	Through *civil.Date
}

// Sheets returns the timecards of up to MostEmployees employees on some days, in the order
// of the ids. It narrows nothing to whom a caller may see, and has no place in a
// transaction.
func (r *Reader) Sheets(ctx context.Context, tenantID int64, ids []int64, days civil.Range) ([]*Sheet, error) {
	cards, err := r.read(ctx, tenantID, ids, window{days: days})
	if err != nil {
		return nil, err
	}
	out := make([]*Sheet, len(cards))
	for i, c := range cards {
		out[i] = &Sheet{Days: c.sheet(), Through: c.through}
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

// Sum adds up amounts of days or money, as totals have them.
func Sum(texts []string) float64 {
	var sum amount
	for _, text := range texts {
		sum += readAmount(text)
	}
	return float64(sum) / perUnit
}
