package worktime_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/rotaloom/rotaloom/services/timekeeping/internal/worktime"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	tolerance := int64(7 * 60)
	for _, example := range []struct {
		name   string
		set    func(*worktime.Rule)
		on     func(*week) *week
		unset  string
		wanted string
	}{
		{
			"seconds are cut before rounding", func(r *worktime.Rule) { r.CutSeconds = true },
			func(w *week) *week {
				w.rule.In = worktime.Rounding{Interval: 900, Grace: 420}
				return w.punch("2026-03-02 08:07:30", "2026-03-02 16:00:40")
			},
			"2: 7.761111111111111", "2: 8",
		},
		{
			"seconds are cut before the comparison with the schedule", func(r *worktime.Rule) { r.CutSeconds = true },
			func(w *week) *week {
				w.rule.Tolerance = worktime.Tolerance{LateIn: &tolerance}
				return w.punch("2026-03-02 08:07:30", "2026-03-02 16:07:59").plan("2026-03-02 08:00-16:00")
			},
			"2: 8.008055555555556 LATE_IN", "2: 8",
		},
		{
			"seconds of a change of job are cut for both jobs", func(r *worktime.Rule) { r.CutSeconds = true },
			func(w *week) *week {
				return w.punch("2026-03-02 08:00:10", "2026-03-02 12:00:50 job:Packer", "2026-03-02 16:00:20")
			},
			"2: 8.002777777777778 Packer 3.9916666666666667", "2: 8 Packer 4",
		},
		{
			"a shift as long as the limit is an exception", func(r *worktime.Rule) { r.LongShift = 10 * hour },
			func(w *week) *week {
				return w.punch("2026-03-02 08:00", "2026-03-02 12:00", "2026-03-02 13:00", "2026-03-02 18:00", "2026-03-03 08:00", "2026-03-03 17:59:59")
			},
			"2: 9, 3: 9.999722222222223", "2: 9 LONG_SHIFT, 3: 9.999722222222223",
		},
	} {
		t.Run(example.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, example.unset, example.on(newWeek(t, "Europe/Berlin")).shows())
			w := newWeek(t, "Europe/Berlin")
			example.set(&w.rule)
			assert.Equal(t, example.wanted, example.on(w).shows())
		})
	}
}
