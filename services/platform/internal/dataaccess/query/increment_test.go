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
			assert.Equal(t, want, form.Label(days, civil.Range{}))
		})
	}
}

// Weeks have the ISO 8601 number of their Thursday, on whatever day they begin and even if the range cuts them.
func TestWeekNumbers(t *testing.T) {
	t.Parallel()
	sunday, monday, saturday := civil.Of(2026, 1, 4), civil.Of(2026, 1, 5), civil.Of(2026, 1, 3)
	for _, c := range []struct {
		name  string
		first civil.Date
		begin civil.Date
		want  string
	}{
		{"a week from Sunday", civil.Of(2026, 11, 22), sunday, "Week 48"},
		{"the first week of a year, from Sunday", civil.Of(2027, 1, 3), sunday, "Week 1"},
		{"the last week of a year, from Sunday", civil.Of(2026, 12, 27), sunday, "Week 53"},
		{"a week from Monday", civil.Of(2026, 11, 23), monday, "Week 48"},
		{"a week from Saturday", civil.Of(2026, 11, 21), saturday, "Week 48"},
		{"a week before the known one", civil.Of(2025, 12, 28), sunday, "Week 1"},
		{"the last days of a week from Sunday", civil.Of(2026, 11, 28), sunday, "Week 48"},
		{"the last day of a week from Monday", civil.Of(2026, 11, 29), monday, "Week 48"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, LabelForm("WEEK_NUMBER").Label(civil.Range{From: c.first, To: c.first + 1}, civil.Range{From: c.begin, To: c.begin + 7}))
		})
	}
}
