package worktime_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/worktime"
)

// totals returns the hours of each day and pay code as text.
func (w *week) totals() string {
	var out []string
	for key, seconds := range worktime.Calculate(&w.in).Totals() {
		out = append(out, fmt.Sprintf("%s %s %g", key.Day.String()[5:], key.PayCode.Name, float64(seconds)/hour))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// eightHours punches eight hours on days of March 2026.
func (w *week) eightHours(days ...int) *week {
	for _, d := range days {
		w.punch(fmt.Sprintf("2026-03-%02d 08:00", d), fmt.Sprintf("2026-03-%02d 16:00", d))
	}
	return w
}

func overtime(after int64, name string) worktime.Tier {
	return worktime.Tier{After: after * hour, PayCode: worktime.PayCode{Name: name}}
}

func TestWhereDaysAndWeeksEnd(t *testing.T) {
	t.Parallel()
	regular := func(w *week) *week {
		w.rule.Regular, w.rule.WeekStart = worktime.PayCode{Name: "Regular"}, time.Monday
		w.rule.Weekly = []worktime.Tier{overtime(40, "Over")}
		return w
	}
	for _, example := range []struct {
		name string
		set  func(*worktime.Rule)
		of   func(w *week) *week
		want string
	}{
		{
			"a shift counts in the week in which it begins", func(*worktime.Rule) {},
			func(w *week) *week {
				return w.eightHours(2, 3, 4, 5, 6).punch("2026-03-08 20:00", "2026-03-09 08:00")
			},
			"03-02 Regular 8, 03-03 Regular 8, 03-04 Regular 8, 03-05 Regular 8, 03-06 Regular 8, 03-08 Over 12",
		},
		{
			"a shift is split at the end of the week", func(r *worktime.Rule) { r.SplitWeeks = true },
			func(w *week) *week {
				return w.eightHours(2, 3, 4, 5, 6).punch("2026-03-08 20:00", "2026-03-09 08:00")
			},
			"03-02 Regular 8, 03-03 Regular 8, 03-04 Regular 8, 03-05 Regular 8, 03-06 Regular 8, 03-08 Over 4, 03-09 Regular 8",
		},
		{
			"the second part counts in its week", func(r *worktime.Rule) { r.SplitWeeks = true },
			func(w *week) *week {
				return w.punch("2026-03-08 20:00", "2026-03-09 08:00").eightHours(10, 11, 12, 13).punch("2026-03-14 08:00", "2026-03-14 10:00")
			},
			"03-08 Regular 4, 03-09 Regular 8, 03-10 Regular 8, 03-11 Regular 8, 03-12 Regular 8, 03-13 Regular 8, 03-14 Over 2",
		},
		{
			"other nights are whole", func(r *worktime.Rule) { r.SplitWeeks = true },
			func(w *week) *week { return w.punch("2026-03-04 20:00", "2026-03-05 08:00") },
			"03-04 Regular 12",
		},
		{
			"a day begins at five", func(r *worktime.Rule) { r.DayStart = 5 * hour },
			func(w *week) *week {
				return w.punch("2026-03-03 01:00", "2026-03-03 04:00", "2026-03-03 22:00", "2026-03-04 06:00")
			},
			"03-02 Regular 3, 03-03 Regular 8",
		},
		{
			"a day begins in the evening before", func(r *worktime.Rule) { r.DayStart = -2 * hour },
			func(w *week) *week { return w.punch("2026-03-02 22:00", "2026-03-03 06:00") },
			"03-03 Regular 8",
		},
		{
			"a shift is split where a day begins", func(r *worktime.Rule) { r.DayStart, r.SplitDays = 5*hour, true },
			func(w *week) *week { return w.punch("2026-03-03 22:00", "2026-03-04 06:30") },
			"03-03 Regular 7, 03-04 Regular 1.5",
		},
		{
			"a break lies at midnight", func(r *worktime.Rule) { r.SplitDays = true },
			func(w *week) *week {
				return w.punch("2026-03-03 20:00", "2026-03-03 23:30", "2026-03-04 00:30", "2026-03-04 04:00")
			},
			"03-03 Regular 3.5, 03-04 Regular 3.5",
		},
		{
			"a day of overtime is split", func(r *worktime.Rule) { r.SplitDays, r.Daily = true, []worktime.Tier{overtime(8, "Over")} },
			func(w *week) *week { return w.punch("2026-03-03 18:00", "2026-03-04 06:00") },
			"03-03 Regular 6, 03-04 Regular 6",
		},
		{
			"a split in the night in which the clock goes forward", func(r *worktime.Rule) { r.DayStart, r.SplitDays = 2*hour, true },
			func(w *week) *week { return w.punch("2026-03-28 22:00", "2026-03-29 06:00") },
			"03-28 Regular 4, 03-29 Regular 3",
		},
		{
			"the seventh day of a week", func(r *worktime.Rule) { r.SeventhDay = []worktime.Tier{overtime(0, "Seventh"), overtime(6, "Double")} },
			func(w *week) *week { w.rule.Weekly = nil; return w.eightHours(2, 3, 4, 5, 6, 7, 8, 9) },
			"03-02 Regular 8, 03-03 Regular 8, 03-04 Regular 8, 03-05 Regular 8, 03-06 Regular 8, 03-07 Regular 8, 03-08 Double 2, 03-08 Seventh 6, 03-09 Regular 8",
		},
		{
			"a seventh day in a row in two weeks", func(r *worktime.Rule) { r.SeventhDay = []worktime.Tier{overtime(0, "Seventh")} },
			func(w *week) *week { w.rule.Weekly = nil; return w.eightHours(3, 4, 5, 6, 7, 8, 9) },
			"03-03 Regular 8, 03-04 Regular 8, 03-05 Regular 8, 03-06 Regular 8, 03-07 Regular 8, 03-08 Regular 8, 03-09 Regular 8",
		},
		{
			"work on a holiday", func(r *worktime.Rule) { r.Holiday = []worktime.Tier{overtime(0, "Holiday")} },
			func(w *week) *week {
				w.in.Holiday = func(day civil.Date) bool { return day == civil.Of(2026, 3, 3) }
				return w.eightHours(2, 3, 4, 5, 6, 7)
			},
			"03-02 Regular 8, 03-03 Holiday 8, 03-04 Regular 8, 03-05 Regular 8, 03-06 Regular 8, 03-07 Regular 8",
		},
		{
			"a part of a settled day", func(r *worktime.Rule) { r.SplitDays = true },
			func(w *week) *week {
				w.in.Settled = func(day civil.Date) bool { return day <= civil.Of(2026, 3, 3) }
				w.in.Before = map[civil.Date]worktime.Worked{civil.Of(2026, 3, 3): {All: 4 * hour, Week: 38 * hour}}
				return w.punch("2026-03-03 20:00", "2026-03-04 04:00")
			},
			"03-04 Over 2, 03-04 Regular 2",
		},
	} {
		t.Run(example.name, func(t *testing.T) {
			t.Parallel()
			w := regular(newWeek(t, "Europe/Berlin"))
			example.set(&w.rule)
			assert.Equal(t, example.want, example.of(w).totals())
		})
	}
}
