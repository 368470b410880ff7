package calculation_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/employeeday"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode/paycodetest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/payrule"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardtest"
)

// The time worked on past days equals the worked time that an open timecard of the same punches
// pays, before and after sign-offs, late punches and opening.
func TestWorkedOn(t *testing.T) {
	t.Parallel()
	ctx, pool, random := tenant.With(t.Context(), 1), pooltest.New(t), rand.New(rand.NewPCG(27, 3))
	days := civil.Range{From: civil.Of(2024, 1, 1), To: civil.Of(2026, 2, 2)} // Today is the last of them.
	_, err := payrule.New(paycodetest.Names(pool)).CreatePayRule(ctx, &timekeepingv1.PayRule{Name: "Ruled", EffectiveVersions: []*timekeepingv1.PayRuleVersion{{
		EffectiveDate: "1900-01-01", Breaks: []*timekeepingv1.PayRuleBreak{{After: proto.Int32(360), Length: proto.Int32(30)}},
	}}})
	require.NoError(t, err)
	rule := []*commonsv1.PersonDayText{{From: int32(days.From), To: int32(days.To), Text: "Ruled"}}
	// The twin has the same punches, and is never signed off.
	const employee, twin = 7, 8
	known := timecardtest.Known{}
	for _, id := range []int64{employee, twin} {
		known[id] = employeeday.Days{Pay: &commonsv1.PersonPay{PayRules: rule}}
		_, err := pool.Exec(ctx, `INSERT INTO person (tenant_id, id, person_number, version, time_zone, hire_date) VALUES (1, $1, $1::bigint::text, 1, 'Europe/Berlin', '2024-01-01')`, id)
		require.NoError(t, err)
	}
	timecards := timecardtest.New(pool, known, timecardtest.Noon(t, "2026-02-01"))
	punch := func(local ...string) {
		t.Helper()
		for _, id := range []int64{employee, twin} {
			timecards.Punch(ctx, t, id, local...)
		}
	}
	check := func(when string) {
		t.Helper()
		want := map[civil.Date]int64{}
		for from := days.From; from < days.To-1; from += 366 {
			last := min(from+366, days.To-1) - 1 // Not today.
			for _, total := range timecards.Worked(ctx, t, from.String(), last.String(), twin)[0].GetTotals() {
				day, err := civil.ParseDate(total.GetDate())
				require.NoError(t, err)
				want[day] += total.GetSeconds()
			}
		}
		for _, id := range []int64{employee, twin} {
			got, err := timecards.Reader.WorkedOn(ctx, id, days)
			require.NoError(t, err)
			assert.Equal(t, want, got, "%s: %d", when, id)
		}
		part := civil.Range{From: civil.Of(2024, 3, 1), To: civil.Of(2025, 6, 1)}
		got, err := timecards.Reader.WorkedOn(ctx, employee, part)
		require.NoError(t, err)
		for day := range want {
			if !part.Contains(day) {
				delete(want, day)
			}
		}
		assert.Equal(t, want, got, "%s: a part of the days", when)
	}
	check("without work")
	var local []string
	for day := days.From; day < days.To; day++ {
		if random.IntN(3) == 0 {
			local = append(local, fmt.Sprintf("%sT%02d:%02d", day, 5+random.IntN(5), random.IntN(60)), fmt.Sprintf("%sT%02d:%02d", day, 12+random.IntN(9), random.IntN(60)))
		}
	}
	punch(append(local, "2026-02-01T07:00", "2026-02-01T11:00")...)
	check("open")
	timecards.SignOff(ctx, t, employee, civil.Range{From: days.From, To: days.From + 300})
	check("signed off")
	punch("2024-02-26T22:00", "2024-02-27T02:00", "2024-10-26T23:30", "2024-10-27T03:30")
	check("late punches")
	timecards.SignOff(ctx, t, employee, civil.Range{From: days.From + 300, To: days.From + 600})
	check("signed off again")
	require.NoError(t, timecards.Signoffs.Reopen(ctx, employee, days.From+300))
	check("opened")
}
