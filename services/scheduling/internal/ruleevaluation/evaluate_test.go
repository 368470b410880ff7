package ruleevaluation_test

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/tzdb"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/ruleevaluation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulerule"
)

// zones are such as change their clocks by less or more than an hour, at midnight, in
// either half of the year, or skip a day; two do none of this.
var zones = []string{
	"Europe/Zurich", "Europe/London", "America/New_York", "America/St_Johns", "America/Sao_Paulo", "America/Havana",
	"America/Santiago", "America/Asuncion", "America/Nuuk", "Atlantic/Azores", "Antarctica/Troll", "Australia/Lord_Howe", "Australia/Sydney",
	"Pacific/Chatham", "Pacific/Apia", "Africa/Cairo", "Africa/Casablanca", "Asia/Beirut", "Asia/Gaza", "Asia/Tehran",
	"Asia/Kolkata", "Pacific/Kiritimati",
}

// changes returns the days near which a zone changes its clock, or any days of one that
// does not.
func changes(location *time.Location) []civil.Date {
	out := []civil.Date{civil.Of(2024, time.February, 29)}
	for at := civil.Of(2011, time.June, 1).Time(); at.Before(civil.Of(2025, time.December, 31).Time()); at = at.AddDate(0, 0, 1) {
		_, before := at.In(location).Zone()
		if _, after := at.AddDate(0, 0, 1).In(location).Zone(); before != after {
			out = append(out, civil.FromTime(at))
		}
	}
	return out
}

// drawShifts draws shifts around a day. Some shifts overlap or touch.
func drawShifts(t *rapid.T, days civil.Range) []ruleevaluation.Shift {
	var shifts []ruleevaluation.Shift
	from, to := days.From.AddDays(-33).Time().Unix(), days.To.AddDays(36).Time().Unix()
	gap := rapid.SampledFrom([]int64{8, 20, 40, 90}).Draw(t, "gap")
	step := rapid.SampledFrom([]int64{60, 1800}).Draw(t, "step") // Some begin at midnight.
	for at := from; at < to; {
		at += 60 * rapid.Int64Range(-60, gap*60).Draw(t, "gap")
		at -= at % step
		length := 60 * rapid.Int64Range(0, 14*60).Draw(t, "length")
		s := ruleevaluation.Shift{ID: int64(len(shifts) + 1), Interval: ruleevaluation.Interval{Start: at, End: at + length}}
		if pause := 60 * rapid.Int64Range(0, 90).Draw(t, "break"); pause < length/2 {
			s.Work = []ruleevaluation.Interval{{Start: at, End: at + length/120*60}, {Start: at + length/120*60 + pause, End: at + length}}
		} else {
			s.Work = []ruleevaluation.Interval{s.Interval}
		}
		shifts = append(shifts, s)
		at += length
	}
	slices.SortStableFunc(shifts, func(a, b ruleevaluation.Shift) int { return cmp.Compare(a.Start, b.Start) })
	return shifts
}

func drawRules(t *rapid.T) []ruleevaluation.Rule {
	hours := func(most int) float64 { return float64(rapid.IntRange(0, 4*most).Draw(t, "hours")) / 4 }
	number := func(most int) float64 { return float64(rapid.IntRange(1, most).Draw(t, "number")) }
	age := rapid.IntRange(15, 18)
	return []ruleevaluation.Rule{
		{ID: schedulerule.MaxHoursDay, Limit: hours(12)},
		{ID: schedulerule.MaxHoursWeek, Limit: hours(60)},
		{ID: schedulerule.MaxDaysInRow, Limit: number(8)},
		{ID: schedulerule.MaxDaysWeek, Limit: number(7)},
		{ID: schedulerule.MinRestBetweenShifts, Limit: hours(48)},
		{ID: schedulerule.MinRestWeek, Limit: hours(72)},
		{ID: schedulerule.MaxHoursNight, Limit: hours(8)},
		{ID: schedulerule.MaxNightsInRow, Limit: number(6)},
		{ID: schedulerule.MinorMaxHoursDay, Limit: hours(8), Age: age.Draw(t, "age")},
		{ID: schedulerule.MinorMaxHoursWeek, Limit: hours(40), Age: age.Draw(t, "age")},
		{ID: schedulerule.MinorNoNightWork, Age: age.Draw(t, "age")},
	}
}

// The evaluator finds what one finds who goes through the schedule minute by minute.
func TestEvaluateAgreesWithBruteForce(t *testing.T) {
	t.Parallel()
	agreesWithBruteForce(t, func(_ *rapid.T, _ *civil.Zone, _ *time.Location, _ civil.Range, shifts []ruleevaluation.Shift) (known, brute []ruleevaluation.Shift) {
		return shifts, shifts
	})
}

// The evaluation also agrees on the shifts that were worked on past days, by the clock of package
// time.
func TestActualHoursAgreeWithBruteForce(t *testing.T) {
	t.Parallel()
	agreesWithBruteForce(t, func(t *rapid.T, zone *civil.Zone, location *time.Location, days civil.Range, scheduled []ruleevaluation.Shift) (known, brute []ruleevaluation.Shift) {
		worked := drawWorked(t, scheduled)
		now := days.From.AddDays(rapid.IntRange(-9, days.Days()+9).Draw(t, "today")).Time().Unix() + rapid.Int64Range(0, 86399).Draw(t, "second of today")
		today := zone.Unix(zone.At(time.Unix(now, 0)).Date.At(0))
		return ruleevaluation.Actual(scheduled, worked, today), bruteActual(location, scheduled, worked, now)
	})
}

// drawWorked draws worked shifts: some follow scheduled shifts a little earlier or later, others
// are separate.
func drawWorked(t *rapid.T, scheduled []ruleevaluation.Shift) []ruleevaluation.Worked {
	var out []ruleevaluation.Worked
	around := rapid.Int64Range(-90, 90)
	for i := range scheduled {
		if rapid.IntRange(0, 3).Draw(t, "missed") == 0 {
			continue
		}
		s := &scheduled[i]
		w := ruleevaluation.Worked{Shift: ruleevaluation.Shift{ID: -s.ID, Worked: true}, Scheduled: &s.Start}
		w.Start = s.Start + 60*around.Draw(t, "early or late")
		w.End = max(w.Start, s.End+60*around.Draw(t, "longer"))
		if rapid.IntRange(0, 9).Draw(t, "unscheduled") == 0 {
			w.Scheduled = nil
		}
		w.Work = []ruleevaluation.Interval{w.Interval}
		out = append(out, w)
	}
	slices.SortStableFunc(out, func(a, b ruleevaluation.Worked) int { return cmp.Compare(a.Start, b.Start) })
	return out
}

// bruteActual compares the start dates of shifts.
func bruteActual(location *time.Location, scheduled []ruleevaluation.Shift, worked []ruleevaluation.Worked, now int64) []ruleevaluation.Shift {
	date := func(at int64) string { return time.Unix(at, 0).In(location).Format(time.DateOnly) }
	today := date(now)
	var out []ruleevaluation.Shift
	begun := map[int64]bool{}
	for _, w := range worked {
		if date(w.Start) >= today {
			continue
		}
		out = append(out, w.Shift)
		if w.Scheduled != nil {
			begun[*w.Scheduled] = true
		}
	}
	for _, s := range scheduled {
		if date(s.Start) >= today && !begun[s.Start] {
			out = append(out, s)
		}
	}
	return out
}

// agreesWithBruteForce compares the evaluator with the brute-force one. counts returns the shifts
// that both measure.
func agreesWithBruteForce(t *testing.T, counts func(t *rapid.T, zone *civil.Zone, location *time.Location, days civil.Range, shifts []ruleevaluation.Shift) (known, brute []ruleevaluation.Shift)) {
	for _, name := range zones {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			zone, err := civil.LoadZone(name)
			require.NoError(t, err)
			location, err := tzdb.Load(name)
			require.NoError(t, err)
			near := changes(location)
			rapid.Check(t, func(t *rapid.T) {
				first := rapid.SampledFrom(near).Draw(t, "change").AddDays(rapid.IntRange(-9, 2).Draw(t, "days after"))
				days := civil.Range{From: first, To: first.AddDays(rapid.IntRange(1, 10).Draw(t, "days"))}
				calendar := ruleevaluation.Calendar{
					WeekStart:  time.Weekday(rapid.IntRange(0, 6).Draw(t, "week start")),
					NightStart: civil.TimeOfDay(60 * rapid.IntRange(0, 24*60-1).Draw(t, "night start")),
					NightEnd:   civil.TimeOfDay(60 * rapid.IntRange(0, 24*60-1).Draw(t, "night end")),
				}
				var birth *civil.Date
				if rapid.Bool().Draw(t, "birth known") {
					born := first.AddDays(-rapid.IntRange(14*365, 19*365).Draw(t, "age in days"))
					birth = &born
				}
				rules := drawRules(t)
				measuring, shifts := counts(t, zone, location, days, drawShifts(t, days))
				window := calendar.Window(days, rules)
				// The caller of an evaluation reads the shifts that touch the window.
				end := zone.Unix(window.To.At(0))
				start := zone.Unix(window.From.At(0))
				known := slices.DeleteFunc(slices.Clone(measuring), func(s ruleevaluation.Shift) bool { return s.End <= start || s.Start >= end })
				var found []measured
				for _, v := range ruleevaluation.New(zone, calendar, rules, days).Evaluate(known, birth) {
					found = append(found, measured{v.Rule, v.Days.From.String(), v.Days.To.String(), v.Measured, len(v.Shifts)})
				}
				want := newBruteForce(location, calendar, days, shifts, birth).evaluate(rules)
				assert.Equal(t, want, found)
			})
		})
	}
}
