package worktime_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/worktime"
)

const hour = 3600

func newYork(t *testing.T) *civil.Zone {
	t.Helper()
	zone, err := civil.LoadZone("America/New_York")
	require.NoError(t, err)
	return zone
}

// at returns the instant of a time in November 2026. The clock goes back on the first day of that
// month, at two.
func at(zone *civil.Zone, day, hours, minutes int) int64 {
	return zone.Unix(civil.Of(2026, time.November, day).At(int32(hours*hour + minutes*60)))
}

func plainRule() *worktime.Rule {
	return &worktime.Rule{Regular: code("Regular"), MaxShift: 16 * hour, ShiftGap: 4 * hour, WeekStart: time.Monday}
}

type faulty struct {
	day   int
	fault worktime.Fault
	punch int
}

func TestExceptions(t *testing.T) {
	t.Parallel()
	zone := newYork(t)
	zero := int64(0)
	strict := worktime.Tolerance{EarlyIn: &zero, LateIn: &zero, EarlyOut: &zero, LateOut: &zero}
	day := func(from, to int64) worktime.Scheduled {
		return worktime.Scheduled{Day: civil.Of(2026, time.November, 10), Start: at(zone, 10, int(from), 0), End: at(zone, 10, int(to), 0)}
	}
	for _, example := range []struct {
		name    string
		punches []int64
		plan    []worktime.Scheduled
		now     int64
		excused bool
		want    []faulty
	}{
		{"as planned", []int64{at(zone, 10, 8, 0), at(zone, 10, 16, 0)}, []worktime.Scheduled{day(8, 16)}, at(zone, 12, 0, 0), false, nil},
		{
			"late and early",
			[]int64{at(zone, 10, 8, 1), at(zone, 10, 15, 59)},
			[]worktime.Scheduled{day(8, 16)},
			at(zone, 12, 0, 0), false,
			[]faulty{{10, worktime.LateIn, 0}, {10, worktime.EarlyOut, 1}},
		},
		{
			"early and late",
			[]int64{at(zone, 10, 7, 59), at(zone, 10, 16, 1)},
			[]worktime.Scheduled{day(8, 16)},
			at(zone, 12, 0, 0), false,
			[]faulty{{10, worktime.EarlyIn, 0}, {10, worktime.LateOut, 1}},
		},
		{"no punch out", []int64{at(zone, 10, 8, 0)}, []worktime.Scheduled{day(8, 16)}, at(zone, 11, 0, 1), false, []faulty{{10, worktime.MissedOut, 0}}},
		{"still at work", []int64{at(zone, 10, 8, 0)}, []worktime.Scheduled{day(8, 16)}, at(zone, 11, 0, 0), false, nil},
		{
			"no punch out before another day",
			[]int64{at(zone, 9, 8, 0), at(zone, 10, 8, 0), at(zone, 10, 16, 0)},
			nil, at(zone, 12, 0, 0), false,
			[]faulty{{9, worktime.MissedOut, 0}, {9, worktime.Unscheduled, 0}, {10, worktime.Unscheduled, 1}},
		},
		{"absent", nil, []worktime.Scheduled{day(8, 16)}, at(zone, 10, 16, 0), false, []faulty{{10, worktime.Absent, -1}}},
		{"not over yet", nil, []worktime.Scheduled{day(8, 16)}, at(zone, 10, 15, 59), false, nil},
		{"excused", nil, []worktime.Scheduled{day(8, 16)}, at(zone, 12, 0, 0), true, nil},
		{
			"late by hours",
			[]int64{at(zone, 10, 14, 1), at(zone, 10, 15, 0)},
			[]worktime.Scheduled{day(8, 16)},
			at(zone, 12, 0, 0), false,
			[]faulty{{10, worktime.LateIn, 0}, {10, worktime.EarlyOut, 1}},
		},
		{
			"too far from the schedule",
			[]int64{at(zone, 10, 16, 30), at(zone, 10, 18, 0)},
			[]worktime.Scheduled{day(8, 16)},
			at(zone, 12, 0, 0), false,
			[]faulty{{10, worktime.Unscheduled, 0}, {10, worktime.Absent, -1}},
		},
	} {
		t.Run(example.name, func(t *testing.T) {
			t.Parallel()
			rule := plainRule()
			rule.Tolerance, rule.FlagAbsence, rule.FlagUnscheduled = strict, true, true
			in := &worktime.Input{
				Schedule: example.plan, Now: example.now,
				Rule: func(civil.Date) *worktime.Rule { return rule }, Excused: func(civil.Date) bool { return example.excused },
			}
			for _, at := range example.punches {
				in.Punches = append(in.Punches, worktime.Punch{At: at, Zone: zone})
			}
			var got []faulty
			for _, e := range worktime.Calculate(in).Exceptions {
				_, _, day := e.Day.Civil()
				got = append(got, faulty{day, e.Fault, e.Punch})
			}
			assert.Equal(t, example.want, got)
		})
	}
}

func TestAPunchOutWithoutOneIn(t *testing.T) {
	t.Parallel()
	zone, rule := newYork(t), plainRule()
	result := worktime.Calculate(&worktime.Input{
		Punches: []worktime.Punch{{At: at(zone, 10, 16, 0), Zone: zone, Direction: worktime.Out}},
		Rule:    func(civil.Date) *worktime.Rule { return rule }, Now: at(zone, 12, 0, 0),
	})
	assert.Empty(t, result.Totals())
	require.Len(t, result.Shifts, 1)
	assert.Equal(t, []worktime.Exception{{Day: civil.Of(2026, time.November, 10), Fault: worktime.MissedIn, Punch: 0}}, result.Exceptions)
}

func TestHoursOfTheNightOnWhichTheClockGoesBack(t *testing.T) {
	t.Parallel()
	zone, rule := newYork(t), plainRule()
	zoneOct := zone.Unix(civil.Of(2026, time.October, 31).At(22 * hour))
	result := worktime.Calculate(&worktime.Input{
		Punches: []worktime.Punch{{At: zoneOct, Zone: zone}, {At: at(zone, 1, 6, 0), Zone: zone}},
		Rule:    func(civil.Date) *worktime.Rule { return rule }, Now: at(zone, 12, 0, 0),
	})
	assert.Equal(t, map[worktime.Key]int64{
		{Day: civil.Of(2026, time.October, 31), PayCode: code("Regular")}: 9 * hour,
	}, result.Totals(), "from ten to six, and one hour twice")
}

// Work from earlier in the week counts, although it is not calculated again.
func TestWorkBeforeCountsTowardsTheWeek(t *testing.T) {
	t.Parallel()
	zone, rule := newYork(t), plainRule()
	rule.Weekly = []worktime.Tier{{After: 40 * hour, PayCode: code("Overtime")}}
	monday := civil.Of(2026, time.November, 9)
	result := worktime.Calculate(&worktime.Input{
		Punches: []worktime.Punch{{At: at(zone, 13, 8, 0), Zone: zone}, {At: at(zone, 13, 16, 0), Zone: zone}},
		Before: map[civil.Date]worktime.Worked{
			monday - 1: {All: 8 * hour, Week: 8 * hour}, monday: {All: 20 * hour, Week: 20 * hour}, monday + 1: {All: 18 * hour, Week: 15 * hour},
		},
		Rule: func(civil.Date) *worktime.Rule { return rule }, Now: at(zone, 14, 0, 0),
	})
	assert.Equal(t, map[worktime.Key]int64{
		{Day: monday + 4, PayCode: code("Regular")}: 5 * hour, {Day: monday + 4, PayCode: code("Overtime")}: 3 * hour,
	}, result.Totals())
}

func code(name string) worktime.PayCode { return worktime.PayCode{Name: name} }
