package rotation_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rotation"
)

func listEntries(p *rotation.Pattern, run rotation.Run, window civil.Range) (out []string) {
	for day, e := range p.Entries(run, window) {
		out = append(out, fmt.Sprintf("%v/%d", day, e.Ordinal))
	}
	return out
}

func TestEntriesReachIntoTheWindow(t *testing.T) {
	t.Parallel()
	monday := date(t, "2026-01-05")
	p := compile(t, 7, shift(1, 22, 30), shift(1, 6, 14), shift(2, 0, 24), shift(3, 12, 84)) // the last for three days
	run := rotation.Run{Days: civil.Range{From: monday, To: monday + 14}}
	one := func(d civil.Date) civil.Range { return civil.Range{From: d, To: d + 1} }

	assert.Equal(t, []string{"2026-01-05/0", "2026-01-05/1"}, listEntries(p, run, one(monday)))
	assert.Equal(t, []string{"2026-01-05/0", "2026-01-06/0"}, listEntries(p, run, one(monday+1)), "the night shift reaches over")
	assert.Equal(t, []string{"2026-01-07/0"}, listEntries(p, run, one(monday+2)), "the day that ends at midnight does not")
	assert.Equal(t, []string{"2026-01-07/0"}, listEntries(p, run, one(monday+5)), "three days later")
	assert.Empty(t, listEntries(p, run, one(monday+6)))
	assert.Empty(t, listEntries(p, run, one(monday-1)))
	assert.Empty(t, listEntries(p, run, civil.Range{From: monday + 3, To: monday + 3}))

	short := rotation.Run{Days: one(monday)}
	assert.Equal(t, []string{"2026-01-05/0"}, listEntries(p, short, one(monday+1)), "an entry outlives its run")
	assert.Empty(t, listEntries(p, rotation.Run{}, one(monday)))
	for range p.Entries(run, run.Days) {
		break
	}
}

func TestEntriesStartAnywhereInTheCycle(t *testing.T) {
	t.Parallel()
	monday := date(t, "2026-01-05")
	p := compile(t, 3, shift(2, 6, 14))
	window := civil.Range{From: monday + 100, To: monday + 106}
	for position, want := range map[int32][]string{
		0: {"2026-04-15/0", "2026-04-18/0"}, 1: {"2026-04-17/0"}, -2: {"2026-04-17/0"}, 4: {"2026-04-17/0"}, 2: {"2026-04-16/0"},
	} {
		t.Run(fmt.Sprint(position), func(t *testing.T) {
			run := rotation.Run{Days: civil.Range{From: monday, To: civil.Forever}, Position: position}
			got := listEntries(p, run, window)
			require.NotEmpty(t, got)
			assert.Equal(t, want[0], got[0], "position %d", position)
		})
	}
}

// A weekly cycle keeps its weekdays through a year with 53 weeks and through a leap day.
func TestWeeklyCycleKeepsItsWeekday(t *testing.T) {
	t.Parallel()
	p := compile(t, 7, shift(1, 6, 14))
	run := rotation.Run{Days: civil.Range{From: date(t, "2020-01-06"), To: civil.Forever}}
	window := civil.Range{From: date(t, "2020-01-01"), To: date(t, "2033-01-01")}
	fridays, perYear := run, map[int]int{}
	fridays.Position = 3
	for day := range p.Entries(run, window) {
		require.Equal(t, "Monday", day.Weekday().String())
		year, week := day.AddDays(3).Time().ISOWeek() // the Thursday decides
		perYear[year] = week
	}
	assert.Equal(t, 53, perYear[2020])
	assert.Equal(t, 53, perYear[2026])
	assert.Equal(t, 52, perYear[2027])
	assert.Equal(t, 53, perYear[2032])
	for day := range p.Entries(fridays, window) {
		require.Equal(t, "Friday", day.Weekday().String())
	}
	leap := compile(t, 366-2, shift(55, 6, 14)) // 2024-01-06 + 54 days
	assert.Equal(t, []string{"2024-02-29/0"}, listEntries(leap, rotation.Run{Days: civil.Range{From: date(t, "2024-01-06"), To: civil.Forever}},
		civil.Range{From: date(t, "2024-02-01"), To: date(t, "2024-04-01")}))
}

func TestExpansionDoesNotAllocate(t *testing.T) {
	p := compile(t, 14, shift(1, 22, 30), shift(4, 6, 14))
	run := rotation.Run{Days: civil.Range{From: 0, To: civil.Forever}}
	total := int32(0)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		for day, e := range p.Entries(run, civil.Range{From: 20000, To: 20365}) {
			total += int32(day) + e.StartSec
		}
	}))
	assert.NotZero(t, total)
}
