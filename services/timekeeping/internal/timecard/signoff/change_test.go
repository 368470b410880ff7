package signoff_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/employeeday"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode/paycodetest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/payrule"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/punch"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// weekly returns the data of commons about employees whose weekly overtime begins after some
// minutes.
func weekly(t *testing.T, ctx context.Context, pool *pg.Pool, after int32, ids ...int64) timecardtest.Known {
	t.Helper()
	return addPayRule(t, ctx, pool, &timekeepingv1.PayRuleVersion{WeeklyOvertime: overtime(after)}, ids...)
}

// overtime is overtime after some minutes.
func overtime(after int32) []*timekeepingv1.PayRuleTier {
	return []*timekeepingv1.PayRuleTier{{After: &after, PayCode: &commonv1.Ref{Qualifier: new("Overtime")}}}
}

// addPayRule stores a pay rule, and returns the data of commons about its employees.
func addPayRule(t *testing.T, ctx context.Context, pool *pg.Pool, rule *timekeepingv1.PayRuleVersion, ids ...int64) timecardtest.Known {
	t.Helper()
	_, err := paycode.New(pool, paycodetest.Terms{}).CreatePayCode(ctx, &timekeepingv1.PayCode{Name: "Overtime"})
	require.NoError(t, err)
	rule.EffectiveDate = "1900-01-01"
	_, err = payrule.New(paycodetest.Names(pool)).CreatePayRule(ctx, &timekeepingv1.PayRule{Name: "Weekly", EffectiveVersions: []*timekeepingv1.PayRuleVersion{rule}})
	require.NoError(t, err)
	known := timecardtest.Known{}
	for _, id := range ids {
		known[id] = employeeday.Days{Pay: &commonsv1.PersonPay{PersonId: id, PayRules: []*commonsv1.PersonDayText{{From: int32(civil.Beginning), To: int32(civil.Forever), Text: "Weekly"}}}}
	}
	return known
}

// byCode adds up what March brings an employee of each pay code.
func byCode(t *testing.T, ctx context.Context, timecards *timecardtest.Timecards, id int64) map[string]int64 {
	t.Helper()
	sums := map[string]int64{}
	for _, w := range timecards.Worked(ctx, t, "2026-03-01", "2026-03-31", id)[0].GetTotals() {
		code := w.GetPayCode().GetQualifier()
		if sums[code] += w.GetSeconds(); sums[code] == 0 {
			delete(sums, code)
		}
	}
	return sums
}

// Punches after the sign-off lead to corrections. The kept days and the corrections add up to the
// time of an employee who was never signed off.
func TestCorrectionsAddUp(t *testing.T) {
	t.Parallel()
	ctx := tenant.With(t.Context(), 1)
	pool := pooltest.New(t)
	ids := make([]int64, 24)
	for i := range ids {
		ids[i] = int64(i + 1)
	}
	timecards := timecardtest.New(pool, weekly(t, ctx, pool, 30*60, ids...), timecardtest.Noon(t, "2026-05-01"))
	monday := civil.Of(2026, time.March, 2)
	for seed := range 12 {
		employee, other := ids[2*seed], ids[2*seed+1]
		random := rand.New(rand.NewPCG(1, uint64(seed)))
		var early, late []string
		for day := range 5 {
			date := (monday + civil.Date(day)).String()
			early = append(early, date+"T08:00", date+"T16:00")
			if day < 4 && random.IntN(2) == 0 {
				late = append(late, fmt.Sprintf("%sT%02d:%02d", date, 9+random.IntN(6), 1+random.IntN(58)))
			}
		}
		// The next week is open.
		early = append(early, "2026-03-09T08:00", "2026-03-09T15:00")
		timecards.Punch(ctx, t, employee, early...)
		timecards.SignOff(ctx, t, employee, civil.Range{From: monday, To: monday + 7})
		kept := timecards.Totals(ctx, t, "2026-03-02", "2026-03-08", employee)
		for _, one := range late {
			timecards.Punch(ctx, t, employee, one)
		}
		timecards.Punch(ctx, t, other, append(early, late...)...)

		assert.Equal(t, kept, timecards.Totals(ctx, t, "2026-03-02", "2026-03-08", employee), "seed %d", seed)
		assert.Equal(t, byCode(t, ctx, timecards, other), byCode(t, ctx, timecards, employee), "seed %d: %v", seed, late)
	}
}

// Punches that come late on signed days of a week count towards the overtime of its days
// that are open.
func TestCorrectionsCountTowardsTheWeek(t *testing.T) {
	t.Parallel()
	ctx := tenant.With(t.Context(), 1)
	pool := pooltest.New(t)
	ids := []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	timecards := timecardtest.New(pool, weekly(t, ctx, pool, 40*60, ids...), timecardtest.Noon(t, "2026-05-01"))
	monday := civil.Of(2026, time.March, 2)
	full := []string{"2026-03-02T06:00", "2026-03-02T18:00", "2026-03-03T06:00", "2026-03-03T18:00", "2026-03-04T06:00", "2026-03-04T18:00"}
	for i, c := range []struct {
		it          string
		early, open []string
		late        [][]string
	}{
		{
			"on a day without work",
			[]string{"2026-03-02T06:00", "2026-03-02T18:00", "2026-03-04T06:00", "2026-03-04T18:00"},
			[]string{"2026-03-05T08:00", "2026-03-05T16:00", "2026-03-06T08:00", "2026-03-06T16:00"},
			[][]string{{"2026-03-03T08:00", "2026-03-03T18:00"}},
		},
		{"on a day with work", full, []string{"2026-03-05T08:00", "2026-03-05T16:00"}, [][]string{{"2026-03-03T19:00", "2026-03-03T21:00"}}},
		{"a pause", full, []string{"2026-03-05T08:00", "2026-03-05T16:00"}, [][]string{{"2026-03-03T10:00", "2026-03-03T13:00"}}},
		{
			"in several changes", full,
			[]string{"2026-03-05T08:00", "2026-03-05T16:00"},
			[][]string{{"2026-03-03T10:00", "2026-03-03T13:00"}, {"2026-03-02T19:00", "2026-03-02T20:00"}, {"2026-03-04T20:00", "2026-03-04T21:30"}},
		},
		{
			"a night shift of the last day", full[:4],
			[]string{"2026-03-05T14:00", "2026-03-05T22:00", "2026-03-06T14:00", "2026-03-06T22:00"},
			[][]string{{"2026-03-04T22:00"}, {"2026-03-05T04:00"}},
		},
	} {
		t.Run(c.it, func(t *testing.T) {
			signed, other := ids[2*i], ids[2*i+1]
			timecards.Punch(ctx, t, signed, c.early...)
			timecards.SignOff(ctx, t, signed, civil.Range{From: monday, To: monday + 3})
			kept := timecards.Totals(ctx, t, "2026-03-02", "2026-03-04", signed)
			for _, late := range c.late {
				timecards.Punch(ctx, t, signed, late...)
				timecards.Punch(ctx, t, other, late...)
			}
			timecards.Punch(ctx, t, signed, c.open...)
			timecards.Punch(ctx, t, other, append(c.early, c.open...)...)
			want := byCode(t, ctx, timecards, other)
			assert.Equal(t, want, byCode(t, ctx, timecards, signed))
			assert.Equal(t, kept, timecards.Totals(ctx, t, "2026-03-02", "2026-03-04", signed), "signed days stay as they were")

			// Nor are the days of the week that are signed off later paid otherwise.
			timecards.SignOff(ctx, t, signed, civil.Range{From: monday + 3, To: monday + 7})
			assert.Equal(t, want, byCode(t, ctx, timecards, signed))

			// Nor when more comes late, or they are opened again.
			more := []string{"2026-03-02T18:30", "2026-03-02T20:00", "2026-03-05T16:30", "2026-03-05T17:30"}
			timecards.Punch(ctx, t, signed, more...)
			timecards.Punch(ctx, t, other, more...)
			want = byCode(t, ctx, timecards, other)
			assert.Equal(t, want, byCode(t, ctx, timecards, signed))
			require.NoError(t, timecards.Signoffs.Reopen(ctx, signed, monday+3))
			assert.Equal(t, want, byCode(t, ctx, timecards, signed))
		})
	}
}

// A shift of the last night belongs to the signed days, whenever its punches come.
func TestNightShiftsThatComeLate(t *testing.T) {
	t.Parallel()
	ctx := tenant.With(t.Context(), 1)
	timecards := timecardtest.New(pooltest.New(t), timecardtest.Known{}, timecardtest.Noon(t, "2026-05-01"))
	monday := civil.Of(2026, time.March, 2)
	for i, c := range []struct {
		it    string
		early []string
		late  [][]string
	}{
		{"both at once", nil, [][]string{{"2026-03-08T22:00", "2026-03-09T06:00"}}},
		{"one after the other", nil, [][]string{{"2026-03-08T22:00"}, {"2026-03-09T06:00"}}},
		{"the end before the start", nil, [][]string{{"2026-03-09T06:00"}, {"2026-03-08T22:00"}}},
		{"only the end", []string{"2026-03-08T22:00"}, [][]string{{"2026-03-09T06:00"}}},
		{"only the start", []string{"2026-03-09T06:00"}, [][]string{{"2026-03-08T22:00"}}},
		{"after a break", []string{"2026-03-08T18:00", "2026-03-08T22:00"}, [][]string{{"2026-03-08T23:00"}, {"2026-03-09T04:00"}}},
		{"on another day", []string{"2026-03-08T18:00", "2026-03-08T22:00"}, [][]string{{"2026-03-09T23:00"}, {"2026-03-10T04:00"}}},
	} {
		t.Run(c.it, func(t *testing.T) {
			signed, other := int64(2*i+1), int64(2*i+2)
			early := append([]string{"2026-03-03T08:00", "2026-03-03T16:00", "2026-03-09T12:00", "2026-03-09T17:00"}, c.early...)
			timecards.Punch(ctx, t, signed, early...)
			timecards.Punch(ctx, t, other, early...)
			timecards.SignOff(ctx, t, signed, civil.Range{From: monday, To: monday + 7})
			for _, late := range c.late {
				timecards.Punch(ctx, t, signed, late...)
				timecards.Punch(ctx, t, other, late...)
			}
			sum := func(id int64) (sum int64) {
				for _, w := range timecards.Worked(ctx, t, "2026-03-02", "2026-03-15", id)[0].GetTotals() {
					sum += w.GetSeconds()
				}
				return sum
			}
			assert.Equal(t, sum(other), sum(signed))
			assert.Zero(t, timecards.Worked(ctx, t, "2026-03-09", "2026-03-15", signed)[0].GetMissedPunches())
		})
	}
}

// The punches of one change may lie years apart. The days between them are not calculated again.
func TestCorrectionsOfDaysThatLieFarApart(t *testing.T) {
	t.Parallel()
	ctx := tenant.With(t.Context(), 1)
	asked := &requestedRanges{}
	timecards := timecardtest.New(pooltest.New(t), asked, timecardtest.Noon(t, "2026-05-01"))
	timecards.SignOff(ctx, t, 7, civil.Range{From: civil.Of(2026, time.March, 2), To: civil.Of(2026, time.March, 9)})
	asked.days = nil
	timecards.Punch(ctx, t, 7, "2016-03-01T08:00", "2016-03-01T10:00", "2016-03-05T08:00", "2016-03-05T09:00", "2026-03-06T08:00", "2026-03-06T12:00", "2026-03-10T08:00", "2026-03-10T09:00")
	assert.Equal(t, []string{
		"2026-03-09 HISTORICAL_CORRECTION Regular  7200", "2026-03-09 HISTORICAL_CORRECTION Regular  3600",
		"2026-03-09 HISTORICAL_CORRECTION Regular  14400", "2026-03-10 WORKED Regular  3600",
	}, timecards.Totals(ctx, t, "2026-03-09", "2026-03-10", 7))
	for _, days := range asked.days {
		assert.LessOrEqual(t, days, 400, "commons is asked for at most 400 days")
	}
	assert.Len(t, asked.days, 3, "one of each of the two ranges, and one of the read")
}

// Punches of many employees are one question to commons, though each has a sign-off and
// days of their own.
func TestOneImportAsksCommonsOnce(t *testing.T) {
	t.Parallel()
	ctx := tenant.With(t.Context(), 1)
	asked := &requestedRanges{}
	timecards := timecardtest.New(pooltest.New(t), asked, timecardtest.Noon(t, "2026-05-01"))
	const employees = 12
	var list []*punch.Entry
	for id := range int64(employees) {
		timecards.SignOff(ctx, t, id+1, civil.Range{From: civil.Of(2026, time.March, 2), To: civil.Of(2026, time.March, 10+int(id))})
		day := civil.Of(2026, time.March, 3+int(id)/2).String()
		list = append(list, timecardtest.Entries(t, id+1, day+"T08:00", day+"T09:00")...)
	}
	asked.days = nil
	require.NoError(t, timecards.Signoffs.AddPunches(ctx, list))
	assert.Len(t, asked.days, 1)
	for id := range int64(employees) {
		got := timecards.Worked(ctx, t, "2026-03-01", "2026-03-31", id+1)[0].GetTotals()
		open := civil.Of(2026, time.March, 10+int(id))
		assert.Equal(t, []string{open.String() + " HISTORICAL_CORRECTION Regular  3600"}, timecardtest.Describe(got))
	}
}

// requestedRanges notes for how many days others are asked.
type requestedRanges struct {
	timecardtest.Known
	days []int
}

func (r *requestedRanges) Read(ctx context.Context, ids []int64, days civil.Range, wages bool) (map[int64]employeeday.Days, error) {
	r.days = append(r.days, days.Days())
	return r.Known.Read(ctx, ids, days, wages)
}

// A shift that begins before the midnight through which a timecard is signed off stays
// with its day, and so do its punches; the next day begins after it.
func TestAShiftAcrossTheSignedMidnight(t *testing.T) {
	t.Parallel()
	ctx := tenant.With(t.Context(), 1)
	timecards := timecardtest.New(pooltest.New(t), timecardtest.Known{}, timecardtest.Noon(t, "2026-05-01"))
	day := civil.Of(2026, time.March, 28) // Its night is an hour short.
	timecards.Punch(ctx, t, 7, "2026-03-28T22:00", "2026-03-29T06:00", "2026-03-29T13:00", "2026-03-29T15:00")
	want := []string{"2026-03-28 WORKED Regular  25200", "2026-03-29 WORKED Regular  7200"}
	read := func() []string {
		return timecards.Totals(ctx, t, "2026-03-27", "2026-03-30", 7)
	}
	require.Equal(t, want, read())
	timecards.SignOff(ctx, t, 7, civil.Through(day-1, day))
	assert.Equal(t, want, read())

	// A punch out of the signed shift is a correction, one of the next day is not.
	timecards.Punch(ctx, t, 7, "2026-03-29T16:00", "2026-03-29T17:00")
	assert.Equal(t, []string{want[0], "2026-03-29 WORKED Regular  10800"}, read())
	timecards.Punch(ctx, t, 7, "2026-03-29T04:00", "2026-03-29T05:00")
	assert.Equal(t, []string{want[0], "2026-03-29 WORKED Regular  10800", "2026-03-29 HISTORICAL_CORRECTION Regular  -3600"}, read())
}

// Punches that arrive during a sign-off are on the signed days, or become corrections: none is
// lost, and none counts twice.
func TestSignOffsBesideImports(t *testing.T) {
	t.Parallel()
	ctx := tenant.With(t.Context(), 1)
	timecards := timecardtest.New(pooltest.New(t), timecardtest.Known{}, timecardtest.Noon(t, "2026-05-01"))
	day := civil.Of(2026, time.March, 2)
	for round := range 20 {
		employee := int64(round + 1)
		var group errgroup.Group
		for hour := range 8 {
			list := timecardtest.Entries(t, employee, fmt.Sprintf("%sT%02d:00", day, 2*hour), fmt.Sprintf("%sT%02d:30", day, 2*hour))
			group.Go(func() error {
				return untilDone(func() error { return timecards.Signoffs.AddPunches(ctx, list) })
			})
		}
		group.Go(func() error {
			who := person.Person{ID: employee, TimeZone: "Europe/Berlin"}
			return untilDone(func() error { return timecards.Signoffs.SignOff(ctx, who, civil.Through(day, day)) })
		})
		require.NoError(t, group.Wait())
		var sum int64
		for _, w := range timecards.Worked(ctx, t, day.String(), (day + 1).String(), employee)[0].GetTotals() {
			sum += w.GetSeconds()
		}
		assert.EqualValues(t, 8*1800, sum, "round %d", round)
	}
}

// untilDone repeats a change while other users sign off or open the same days.
func untilDone(fn func() error) error {
	err := fn()
	for fault.HasCode(err, fault.CodeStale) {
		err = fn()
	}
	return err
}
