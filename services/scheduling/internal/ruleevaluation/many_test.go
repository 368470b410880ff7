package ruleevaluation_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/ruleevaluation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulerule"
)

// everyDay returns days with a shift from 8 to 23 o'clock on each day.
func everyDay(zone *civil.Zone, days int) (civil.Range, []ruleevaluation.Shift) {
	first := civil.Of(1950, time.January, 2)
	shifts := make([]ruleevaluation.Shift, days)
	for i := range shifts {
		work := ruleevaluation.Interval{Start: zone.Unix(first.AddDays(i).At(8 * 3600)), End: zone.Unix(first.AddDays(i).At(23 * 3600))}
		shifts[i] = ruleevaluation.Shift{ID: int64(i + 1), Interval: work, Work: []ruleevaluation.Interval{work}}
	}
	return civil.Range{From: first, To: first.AddDays(days)}, shifts
}

var broken = []ruleevaluation.Rule{
	{ID: schedulerule.MaxHoursDay, Limit: 10}, {ID: schedulerule.MinRestBetweenShifts, Limit: 11}, {ID: schedulerule.MaxDaysWeek, Limit: 5},
}

// One request may ask for some 76 years of one employee. The time must grow in proportion to the
// days: one evaluation of all days takes about as long as ten evaluations of a tenth of the days.
// Both are measured in turns and for about as long, so that other load of the machine slows both.
func TestTimeGrowsWithTheDays(t *testing.T) {
	zone, err := civil.LoadZone("Europe/Berlin")
	require.NoError(t, err)
	evaluation := func(days int) func(times int) time.Duration {
		asked, shifts := everyDay(zone, days)
		evaluator := ruleevaluation.New(zone, ruleevaluation.Calendar{WeekStart: time.Monday, NightEnd: 6 * 3600}, broken, asked)
		return func(times int) time.Duration {
			began := time.Now()
			for range times {
				assert.Greater(t, len(evaluator.Evaluate(shifts, nil)), 2*days)
			}
			return time.Since(began)
		}
	}
	few, many := evaluation(2_500), evaluation(25_000)
	leastFew, leastMany := time.Hour, time.Hour
	for range 5 {
		leastFew, leastMany = min(leastFew, few(10)), min(leastMany, many(1))
	}
	assert.Less(t, leastMany, 4*leastFew)
}

// An evaluation that has found enough violations measures no further rule.
func TestEnoughViolations(t *testing.T) {
	t.Parallel()
	zone, err := civil.LoadZone("Europe/Berlin")
	require.NoError(t, err)
	days, shifts := everyDay(zone, 100)
	evaluator := ruleevaluation.New(zone, ruleevaluation.Calendar{WeekStart: time.Monday, NightEnd: 6 * 3600}, broken, days)
	evaluator.Max = 50
	assert.Len(t, evaluator.Evaluate(shifts, nil), 100, "those of the first rule")
	evaluator.Max = 100
	assert.Len(t, evaluator.Evaluate(shifts, nil), 199)
	evaluator.Max = 0
	assert.Len(t, evaluator.Evaluate(shifts, nil), 213)
}
