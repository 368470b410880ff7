package query

import (
	"cmp"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/rotaloom/rotaloom/pkg/civil"
)

func TestIncrements(t *testing.T) {
	t.Parallel()
	days := civil.Through(civil.Of(2025, 12, 30), civil.Of(2026, 4, 2))
	for increment, want := range map[Increment][]civil.Date{
		byMonth:   {civil.Of(2025, 12, 30), civil.Of(2026, 1, 1), civil.Of(2026, 2, 1), civil.Of(2026, 3, 1), civil.Of(2026, 4, 1), civil.Of(2026, 4, 3)},
		byQuarter: {civil.Of(2025, 12, 30), civil.Of(2026, 1, 1), civil.Of(2026, 4, 1), civil.Of(2026, 4, 3)},
	} {
		t.Run(IncrementNames[increment], func(t *testing.T) {
			t.Parallel()
			var got []civil.Date
			for _, bound := range (periods{Increment: increment}).Bounds(days) {
				got = append(got, civil.Date(bound))
			}
			assert.Equal(t, want, got)
		})
	}
	assert.Len(t, periods{Increment: byDay}.Bounds(days), days.Days()+1)
}

func TestPayPeriodsAreCountedFromOne(t *testing.T) {
	t.Parallel()
	days := civil.Through(civil.Of(2025, 12, 30), civil.Of(2026, 4, 2))
	for name, one := range map[string]civil.Range{
		"before it": civil.Through(civil.Of(2024, 3, 3), civil.Of(2024, 3, 16)),
		"after it":  civil.Through(civil.Of(2026, 3, 1), civil.Of(2026, 3, 14)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made := periods{Increment: byPayPeriod, One: one}.Bounds(days)
			assert.Equal(t, civil.Of(2026, 1, 4), civil.Date(made[1]))
			assert.Equal(t, civil.Of(2026, 1, 18), civil.Date(made[2]))
		})
	}
}

func TestLabels(t *testing.T) {
	t.Parallel()
	days := civil.Through(civil.Of(2025, 12, 30), civil.Of(2026, 4, 2))
	for form, want := range map[LabelForm]string{
		"": "12/30/2025", "DAY_OF_WEEK": "Tuesday", "DAY_OF_WEEK_LONGDATE": "Tuesday 12/30/2025", "WEEK_NUMBER": "Week 1",
		"WEEK_NUMBER_LONG_DATERANGE": "Week 1 12/30/2025 - 4/02/2026", "LONG_DATERANGE": "12/30/2025 - 4/02/2026", "LONG_DATE": "12/30/2025",
		"MONTH_NAME": "December", "MONTH_SHORTNAME": "Dec", "MONTH_LONG_DATERANGE": "December 12/30/2025 - 4/02/2026", "QUARTER_NAME": "Q4 2025",
	} {
		t.Run(cmp.Or(string(form), "none"), func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, want, form.Label(days))
		})
	}
}
