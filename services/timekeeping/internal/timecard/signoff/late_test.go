package signoff_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/calculation"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardtest"
)

// The first punch in of three weeks arrives after they were signed off. The corrections add up to
// the time of an employee who was never signed off.
func TestTheFirstPunchComesLate(t *testing.T) {
	t.Parallel()
	ctx := tenant.With(t.Context(), 1)
	pool := pooltest.New(t)
	timecards := timecardtest.New(pool, weekly(t, ctx, pool, 40*60, 1, 2), timecardtest.Noon(t, "2026-05-01"))
	first := civil.Of(2026, time.March, 2)
	punches := []string{first.String() + "T16:00"}
	for day := first + 1; day < first+20; day++ {
		if w := day.Weekday(); w != time.Saturday && w != time.Sunday {
			punches = append(punches, day.String()+"T08:00", day.String()+"T16:00")
		}
	}
	late := first.String() + "T08:00"
	timecards.Punch(ctx, t, 1, punches...)
	timecards.SignOff(ctx, t, 1, civil.Range{From: first, To: first + 20})
	timecards.Punch(ctx, t, 1, late)
	timecards.Punch(ctx, t, 2, append(punches, late)...)
	assert.Equal(t, byCode(t, ctx, timecards, 2), byCode(t, ctx, timecards, 1))
}

// Random days of four weeks have random punches, some of them after random sign-offs, under rules
// that divide time in different ways.
func TestPunchesComeLate(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]*timekeepingv1.PayRuleVersion{
		"weekly overtime":          {WeeklyOvertime: overtime(40 * 60)},
		"the week is split":        {WeeklyOvertime: overtime(40 * 60), WeekSplit: "BOUNDARY"},
		"the day is split":         {WeeklyOvertime: overtime(40 * 60), DayDivide: &timekeepingv1.PayRuleDayDivide{Time: "10:00", Split: new(true)}},
		"both are split":           {WeeklyOvertime: overtime(30 * 60), DailyOvertime: overtime(7 * 60), WeekSplit: "BOUNDARY", DayDivide: &timekeepingv1.PayRuleDayDivide{Time: "22:00", Split: new(true)}},
		"the day ends at 5":        {WeeklyOvertime: overtime(40 * 60), DayDivide: &timekeepingv1.PayRuleDayDivide{Time: "05:00"}},
		"the seventh day":          {SeventhDayOvertime: overtime(0), WeeklyOvertime: overtime(40 * 60)},
		"the seventh day is split": {SeventhDayOvertime: overtime(0), WeekSplit: "BOUNDARY", DayDivide: &timekeepingv1.PayRuleDayDivide{Time: "10:00", Split: new(true)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := tenant.With(t.Context(), 1)
			pool := pooltest.New(t)
			ids := make([]int64, 2*seeds)
			for i := range ids {
				ids[i] = int64(i + 1)
			}
			timecards := timecardtest.New(pool, addPayRule(t, ctx, pool, rule, ids...), timecardtest.Noon(t, "2026-05-01"))
			for seed := range seeds {
				requireLatePunchesAddUp(t, ctx, timecards, uint64(seed), ids[2*seed], ids[2*seed+1])
			}
		})
	}
}

// seeds is how many random months each rule has.
const seeds = 8

// requireLatePunchesAddUp lets random punches of an employee arrive late, and compares the month
// with the month of a twin who is not signed off.
func requireLatePunchesAddUp(t *testing.T, ctx context.Context, timecards *timecardtest.Timecards, seed uint64, employee, twin int64) {
	t.Helper()
	first := civil.Of(2026, time.March, 1) // A Sunday.
	random := rand.New(rand.NewPCG(3, seed))
	nights := random.IntN(2) * 14
	var early, late, all []string
	// A shift of the first day would begin before March under a rule that divides days at 10:00.
	for day := first + 1; day < first+28; day++ {
		start := 6 + random.IntN(5) + nights
		if random.IntN(9) == 0 {
			continue
		}
		for _, hour := range []int{start, start + 4, start + 5, start + 9} {
			at := fmt.Sprintf("%sT%02d:%02d", day+civil.Date(hour/24), hour%24, random.IntN(60))
			if all = append(all, at); random.IntN(12) == 0 {
				late = append(late, at)
			} else {
				early = append(early, at)
			}
		}
	}
	timecards.Punch(ctx, t, employee, early...)
	through := first + 7 + civil.Date(random.IntN(20))
	timecards.SignOff(ctx, t, employee, civil.Range{From: first, To: through})
	random.Shuffle(len(late), func(i, j int) { late[i], late[j] = late[j], late[i] })
	for _, at := range late {
		timecards.Punch(ctx, t, employee, at)
	}
	timecards.Punch(ctx, t, twin, all...)
	require.Equal(t, byCode(t, ctx, timecards, twin), byCode(t, ctx, timecards, employee), "seed %d, signed off through %s: %v", seed, through-1, late)
}

// A timecard shows punches that came after the sign-off on their day, and marks no others: the
// punch that ends a night belongs to the day before, also when that day is not asked for.
func TestTimecardsShowLatePunches(t *testing.T) {
	t.Parallel()
	ctx := tenant.With(t.Context(), 1)
	timecards := timecardtest.New(pooltest.New(t), timecardtest.Known{}, timecardtest.Noon(t, "2026-05-01"))
	first := civil.Of(2026, time.March, 2)
	timecards.Punch(ctx, t, 7, "2026-03-03T22:00", "2026-03-04T06:00", "2026-03-05T08:00", "2026-03-05T16:00", "2026-03-10T08:00")
	timecards.SignOff(ctx, t, 7, civil.Range{From: first, To: first + 7})
	timecards.Punch(ctx, t, 7, "2026-03-06T08:00", "2026-03-06T09:00", "2026-03-08T23:00", "2026-03-11T08:00")
	for _, c := range []struct {
		it   string
		days civil.Range
		want []string
	}{
		{"after a night", civil.Range{From: first + 2, To: first + 4}, []string{"2026-03-05T08:00:00 ", "2026-03-05T16:00:00 "}},
		{"the late day", civil.Range{From: first + 4, To: first + 5}, []string{"2026-03-06T08:00:00 ADDED", "2026-03-06T09:00:00 ADDED"}},
		{"signed and open days", civil.Range{From: first + 5, To: first + 10}, []string{"2026-03-08T23:00:00 ADDED", "2026-03-10T08:00:00 ", "2026-03-11T08:00:00 "}},
	} {
		t.Run(c.it, func(t *testing.T) {
			list, err := timecards.Reader.Read(ctx, []int64{7}, calculation.Window{Days: c.days, Bodies: true})
			require.NoError(t, err)
			var got []string
			for _, d := range list[0].NonEmptyDays() {
				for _, p := range d.GetPunches() {
					got = append(got, p.GetPunchDtm()+" "+p.GetSignOffChange())
				}
			}
			assert.Equal(t, c.want, got)
		})
	}
}
