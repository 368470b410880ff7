package signoff

import (
	"cmp"
	"context"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/employeeday"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/calculation"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/dayschedule"
)

// known is the data of other services about an employee on some days.
type known struct {
	id   int64
	days civil.Range
	of   map[int64]employeeday.Days
}

// schedule returns the entries of the present schedule by day.
func (k *known) schedule() dayschedule.Days { return dayschedule.Split(k.of[k.id].Schedule, k.days) }

// replaceSchedule returns the same data with other entries on some days of the schedule.
func (k *known) replaceSchedule(days dayschedule.Days) *known {
	of := k.of[k.id]
	of.Schedule = dayschedule.Replace(of.Schedule, days)
	return &known{id: k.id, days: k.days, of: map[int64]employeeday.Days{k.id: of}}
}

// maxDaysPerCall is the maximum number of days of one call, if the days of its employees differ.
const maxDaysPerCall = 62

// readInGroups reads the data of other services. It makes one call for employees whose days are
// close together, as in an import.
func (s *Store) readInGroups(ctx context.Context, all []*known) error {
	left := slices.SortedFunc(slices.Values(all), func(a, b *known) int {
		return cmp.Or(cmp.Compare(a.days.From, b.days.From), cmp.Compare(a.days.To, b.days.To))
	})
	for len(left) > 0 {
		days, n := left[0].days, 1
		for ; n < min(len(left), calculation.MaxEmployees); n++ {
			to := max(days.To, left[n].days.To)
			if to > days.To && int(to-days.From) > maxDaysPerCall {
				break
			}
			days.To = to
		}
		ids := make([]int64, n)
		for i, k := range left[:n] {
			ids[i] = k.id
		}
		slices.Sort(ids)
		of, err := s.timecards.ReadEmployeeDays(ctx, slices.Compact(ids), days, false)
		if err != nil {
			return err
		}
		for _, k := range left[:n] {
			k.of = of
		}
		left = left[n:]
	}
	return nil
}

// readKnown reads the data of other services about an employee on some days.
func (s *Store) readKnown(ctx context.Context, id int64, days civil.Range) (*known, error) {
	of, err := s.timecards.ReadEmployeeDays(ctx, []int64{id}, days, false)
	return &known{id: id, days: days, of: of}, err
}
