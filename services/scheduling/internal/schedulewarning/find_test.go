package schedulewarning_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rotation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulewarning"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/span"
)

// The patterns of the tests.
const (
	nights  = 1 // 22:00 to 06:00 on each day
	days    = 2 // 10:00 to 18:00 on each day
	split   = 3 // 08:00 to 12:00 and 16:00 to 20:00 on each day
	mixed   = 4 // 14:00 to 22:00, then 06:00 to 14:00, then a free day
	double  = 5 // 06:00 to 14:00 and 14:00 to 22:00 on each day
	evening = 6 // 18:00 to 20:00 on each day
)

func pattern(t testing.TB) func(id int64) *rotation.Pattern {
	compiled := map[int64]*rotation.Pattern{}
	for id, items := range map[int64][][3]int32{
		nights: {{1, 22, 30}}, days: {{1, 10, 18}}, split: {{1, 8, 12}, {1, 16, 20}}, mixed: {{1, 14, 22}, {2, 6, 14}},
		double: {{1, 6, 14}, {1, 14, 22}}, evening: {{1, 18, 20}},
	} {
		var list []rotation.Item
		for _, i := range items {
			list = append(list, rotation.Item{Day: i[0], Kind: rotation.Shift, StartSec: i[1] * 3600, EndSec: i[2] * 3600})
		}
		p, err := rotation.New(dayCount(id), 364, list)
		require.NoError(t, err)
		compiled[id] = p
	}
	return func(id int64) *rotation.Pattern { return compiled[id] }
}

func dayCount(patternID int64) int32 {
	if patternID == mixed {
		return 3
	}
	return 1
}

func parseDate(t testing.TB, text string) civil.Date {
	d, err := civil.ParseDate(text)
	require.NoError(t, err)
	return d
}

// newSpan returns a span of an assignment; an empty end means no end.
func newSpan(t testing.TB, assignment, patternID int64, from, to string) span.Span {
	s := span.Span{
		From: parseDate(t, from), To: civil.Forever, DayCount: dayCount(patternID), PatternID: patternID, AssignmentID: assignment,
		Lane: uint8(assignment % span.MaxLanes), Series: assignment * 1000,
	}
	if to != "" {
		s.To = parseDate(t, to)
	}
	return s
}

func handEntry(t testing.TB, day string, from, to int32) schedulewarning.HandEntry {
	return schedulewarning.HandEntry{Start: parseDate(t, day).At(from * 3600), End: parseDate(t, day).At(to * 3600)}
}

// TestFind has a case for each rule. The results are "code assignment first date (number of dates)".
func TestFind(t *testing.T) {
	utc, err := civil.LoadZone("UTC")
	require.NoError(t, err)
	brussels, err := civil.LoadZone("Europe/Brussels")
	require.NoError(t, err)
	on := func(assignment, patternID int64, from, to string) []span.Span {
		return []span.Span{newSpan(t, assignment, patternID, from, to)}
	}
	both := func(lists ...[]span.Span) []span.Span { return slices.Concat(lists...) }
	for _, c := range []struct {
		name   string
		change schedulewarning.Change
		want   []string
		text   string
	}{
		{name: "a pattern with enough rest", change: schedulewarning.Change{After: on(1, nights, "2026-12-07", "")}},
		{name: "an empty change", change: schedulewarning.Change{Before: on(1, mixed, "2026-12-07", ""), After: on(1, mixed, "2026-12-07", "")}},
		{name: "a removal", change: schedulewarning.Change{Before: on(1, mixed, "2026-12-07", "")}},
		{
			name: "the same shifts twice", want: []string{"DUPLICATE_SHIFT 2 2026-12-10 (10)"},
			change: schedulewarning.Change{Before: on(1, days, "2026-12-07", ""), After: both(on(1, days, "2026-12-07", ""), on(2, days, "2026-12-10", ""))},
			text:   "On 2026-12-10 there are two shifts 10:00-18:00: the schedule pattern assignment 1 has the same times.",
		},
		{
			name: "overlapping shifts of two patterns", want: []string{"OVERLAPPING_SHIFT 2 2026-12-10 (2)"},
			change: schedulewarning.Change{
				Before: on(1, days, "2026-12-07", ""), After: both(on(1, days, "2026-12-07", ""), on(2, split, "2026-12-10", "2026-12-12")),
			},
			text: "The shift 08:00-12:00 on 2026-12-10 overlaps the shift 10:00-18:00 on 2026-12-10: the schedule pattern assignment 1.",
		},
		{
			name: "four hours after a hand-made shift", want: []string{"SHORT_REST 1 2026-12-08 (1)"},
			change: schedulewarning.Change{
				After: on(1, nights, "2026-12-07", ""), HandEntries: []schedulewarning.HandEntry{handEntry(t, "2026-12-08", 10, 18)},
			},
			text: "There are 4 h of rest between the shift 22:00-06:00 on 2026-12-07 and the shift 10:00-18:00 on 2026-12-08.",
		},
		{
			name: "a hand-made shift on the first day", want: []string{"SHORT_REST 1 2026-12-07 (1)"},
			change: schedulewarning.Change{
				After: on(1, nights, "2026-12-07", ""), HandEntries: []schedulewarning.HandEntry{handEntry(t, "2026-12-07", 10, 18)},
			},
			text: "There are 4 h of rest between the shift 10:00-18:00 on 2026-12-07 and the shift 22:00-06:00 on 2026-12-07.",
		},
		{
			name: "a hand-made shift at the same time", want: []string{"DUPLICATE_SHIFT 1 2026-12-08 (1)"},
			change: schedulewarning.Change{
				After: on(1, days, "2026-12-07", ""), HandEntries: []schedulewarning.HandEntry{handEntry(t, "2026-12-08", 10, 18)},
			},
			text: "On 2026-12-08 there are two shifts 10:00-18:00: an entry made by hand has the same times.",
		},
		{
			name: "a hand-made shift that replaces the generated shift",
			change: schedulewarning.Change{
				After: on(1, days, "2026-12-07", ""), HandEntries: []schedulewarning.HandEntry{handEntry(t, "2026-12-08", 10, 18)},
				Hidden: []schedulewarning.HiddenShift{{Day: parseDate(t, "2026-12-08"), Lane: 1}},
			},
		},
		{
			name: "old neighbours", change: schedulewarning.Change{
				Before: on(1, mixed, "2026-12-07", "2026-12-20"), After: both(on(1, mixed, "2026-12-07", "2026-12-20"), on(2, days, "2027-01-10", "")),
				HandEntries: []schedulewarning.HandEntry{handEntry(t, "2026-12-09", 4, 8)},
			},
		},
		{name: "a split shift", change: schedulewarning.Change{After: on(1, split, "2026-12-07", "")}},
		{
			name: "a working day of 14 hours", want: []string{"SHORT_REST 1 2026-12-07 (10)"}, text: "There are 0 h of rest between the shift 06:00-14:00 on 2026-12-07 and the shift 14:00-22:00 on 2026-12-07.",
			change: schedulewarning.Change{After: on(1, double, "2026-12-07", "")},
		},
		{
			name: "a shift that continues another within one working day",
			change: schedulewarning.Change{
				Before: on(1, days, "2026-12-07", ""), After: both(on(1, days, "2026-12-07", ""), on(2, evening, "2026-12-07", "2026-12-08")),
			},
		},
		{
			name: "a short rest within the cycle", want: []string{"SHORT_REST 1 2026-12-08 (10)"}, text: "There are 8 h of rest between the shift 14:00-22:00 on 2026-12-07 and the shift 06:00-14:00 on 2026-12-08.",
			change: schedulewarning.Change{After: on(1, mixed, "2026-12-07", "")},
		},
		{
			name: "a short rest where one pattern ends and the next begins", want: []string{"SHORT_REST 2 2026-12-10 (1)"},
			change: schedulewarning.Change{
				Before: on(1, nights, "2026-12-07", ""), After: both(on(1, nights, "2026-12-07", "2026-12-10"), on(2, days, "2026-12-10", "")),
			},
			text: "There are 4 h of rest between the shift 22:00-06:00 on 2026-12-09 and the shift 10:00-18:00 on 2026-12-10.",
		},
		{
			name: "days after the horizon", change: schedulewarning.Change{
				Before: on(1, days, "2026-12-07", ""), After: both(on(1, days, "2026-12-07", ""), on(2, evening, "2026-12-07", "2026-12-08"), on(3, days, "2027-04-01", "")),
			},
		},
		{
			name: "the night of a clock change", want: []string{"CLOCK_CHANGE 1 2027-03-27 (1)"}, text: "A clock change makes the shift 22:00-06:00 on 2027-03-27 1 h shorter.",
			change: schedulewarning.Change{Zone: brussels, After: on(1, nights, "2027-03-01", "")},
		},
		{
			name: "a hidden entry", want: []string{"HIDES_HAND_ENTRY 0 2026-12-08 (1)"}, text: "The change hides the entry of 2026-12-08 that was changed by hand.",
			change: schedulewarning.Change{Before: on(1, days, "2026-12-07", ""), Withdrawn: []civil.Date{parseDate(t, "2026-12-08")}},
		},
		{name: "a pattern without shifts", change: schedulewarning.Change{After: on(1, 99, "2026-12-07", "")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.change.Zone == nil {
				c.change.Zone = utc
			}
			finder := schedulewarning.Finder{Pattern: pattern(t)}
			found := finder.Find(&c.change)
			assert.Equal(t, c.want, describe(found))
			if c.text != "" && assert.NotEmpty(t, found) {
				assert.Equal(t, c.text, found[0].Text)
			}
			assert.Equal(t, found, finder.Find(&c.change), "the second time")
		})
	}
}

func describe(list []schedulewarning.Warning) (out []string) {
	for _, w := range list {
		out = append(out, fmt.Sprintf("%s %d %s (%d)", w.Code, w.AssignmentID, w.Dates[0], len(w.Dates)))
	}
	return out
}

func TestRememberedResultsDependOnTheZone(t *testing.T) {
	finder := schedulewarning.Finder{Pattern: pattern(t)}
	found := map[string]int{}
	for range 3 {
		for _, name := range []string{"UTC", "Europe/Brussels", "America/New_York"} {
			zone, err := civil.LoadZone(name)
			require.NoError(t, err)
			change := schedulewarning.Change{Zone: zone, After: []span.Span{newSpan(t, 1, nights, "2027-03-01", "")}}
			for _, w := range finder.Find(&change) {
				found[name+" "+w.Dates[0].String()]++
			}
		}
	}
	assert.Equal(t, map[string]int{"Europe/Brussels 2027-03-27": 3, "America/New_York 2027-03-13": 3}, found)
}

func TestSummaries(t *testing.T) {
	var summaries schedulewarning.Summaries
	rest := schedulewarning.Warning{Code: schedulewarning.ShortRest, AssignmentID: 1, Text: "4 h"}
	for id := range int64(150) {
		summaries.Add(id+1, true, []schedulewarning.Warning{rest})
	}
	summaries.Add(151, true, nil)
	list := summaries.List()
	require.Len(t, list, 1)
	assert.Equal(t, int64(150), list[0].Employees)
	require.Len(t, list[0].Persons, schedulewarning.MaxPersons)
	assert.Equal(t, schedulewarning.Person{EmployeeID: 100, Text: "4 h"}, list[0].Persons[99])

	summaries = schedulewarning.Summaries{}
	assert.Empty(t, summaries.List())
	summaries.Add(1, false, nil)
	summaries.Add(2, false, nil)
	assert.Equal(t, []schedulewarning.Summary{{Code: schedulewarning.EmptyChange, Employees: 2}}, summaries.List())
}

// BenchmarkFind measures the costs of an employee with a hand-made shift, which is not remembered.
func BenchmarkFind(b *testing.B) {
	zone, err := civil.LoadZone("Europe/Brussels")
	require.NoError(b, err)
	finder := schedulewarning.Finder{Pattern: pattern(b)}
	change := schedulewarning.Change{
		Zone: zone, After: []span.Span{newSpan(b, 1, nights, "2026-12-07", "")},
		HandEntries: []schedulewarning.HandEntry{handEntry(b, "2026-12-08", 10, 18)},
	}
	for b.Loop() {
		finder.Find(&change)
	}
}
