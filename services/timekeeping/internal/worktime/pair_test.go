package worktime_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/worktime"
)

// week is the timecard of an employee in a place; all its times are local.
type week struct {
	t    *testing.T
	zone *civil.Zone
	rule worktime.Rule
	in   worktime.Input
}

func newWeek(t *testing.T, zone string) *week {
	t.Helper()
	loaded, err := civil.LoadZone(zone)
	require.NoError(t, err)
	w := &week{t: t, zone: loaded, rule: *plainRule()}
	zero := int64(0)
	w.rule.RepeatWithin, w.rule.FlagAbsence = 60, true
	w.rule.Tolerance = worktime.Tolerance{EarlyIn: &zero, LateIn: &zero, EarlyOut: &zero, LateOut: &zero}
	w.in = worktime.Input{Now: w.at("2030-01-01 00:00"), Rule: func(civil.Date) *worktime.Rule { return &w.rule }}
	return w
}

func (w *week) at(text string) int64 {
	w.t.Helper()
	layout := "2006-01-02 15:04"
	if strings.Count(text, ":") == 2 {
		layout += ":05"
	}
	parsed, err := time.Parse(layout, text)
	require.NoError(w.t, err)
	return w.zone.Unix(civil.Of(parsed.Year(), parsed.Month(), parsed.Day()).At(int32(parsed.Hour()*hour + parsed.Minute()*60 + parsed.Second())))
}

// punch adds punches, such as "2026-03-02 08:00". A direction or a job may follow the time:
// "2026-03-02 12:00 in", "2026-03-02 12:00 job:Packer".
func (w *week) punch(texts ...string) *week {
	w.t.Helper()
	for _, text := range texts {
		fields := strings.Fields(text)
		p := worktime.Punch{At: w.at(fields[0] + " " + fields[1]), Zone: w.zone}
		for _, said := range fields[2:] {
			switch job, named := strings.CutPrefix(said, "job:"); {
			case named:
				p.Job = job
			case said == "in":
				p.Direction = worktime.In
			case said == "out":
				p.Direction = worktime.Out
			case said == "transfer":
				p.Transfer = true
			default:
				require.Fail(w.t, said)
			}
		}
		w.in.Punches = append(w.in.Punches, p)
	}
	return w
}

// plan adds scheduled shifts: "2026-03-02 08:00-16:00", also over midnight.
func (w *week) plan(texts ...string) *week {
	w.t.Helper()
	for _, text := range texts {
		day, times, _ := strings.Cut(text, " ")
		start, end, _ := strings.Cut(times, "-")
		s := worktime.Scheduled{Start: w.at(day + " " + start), End: w.at(day + " " + end)}
		s.Day = w.zone.At(time.Unix(s.Start, 0)).Date
		if s.End <= s.Start {
			s.End = w.zone.Unix((s.Day + 1).At(w.zone.At(time.Unix(s.End, 0)).Seconds))
		}
		w.in.Schedule = append(w.in.Schedule, s)
	}
	return w
}

// shows returns the hours of the days, and the exceptions, as text.
func (w *week) shows() string {
	result := worktime.Calculate(&w.in)
	hours := map[civil.Date]int64{}
	jobs := map[civil.Date][]string{}
	for i := range result.Shifts {
		for _, item := range result.Shifts[i].Items {
			hours[result.Shifts[i].Day] += item.End - item.Start
			if item.Job != "" {
				jobs[result.Shifts[i].Day] = append(jobs[result.Shifts[i].Day], fmt.Sprintf("%s %g", item.Job, float64(item.End-item.Start)/hour))
			}
		}
	}
	faults := map[civil.Date][]string{}
	for _, e := range result.Exceptions {
		faults[e.Day] = append(faults[e.Day], string(e.Fault))
	}
	var out []string
	for day := civil.Of(2026, 1, 1); day < civil.Of(2027, 1, 1); day++ {
		if hours[day] == 0 && len(faults[day]) == 0 {
			continue
		}
		_, _, number := day.Civil()
		out = append(out, strings.Join(append(append([]string{fmt.Sprintf("%d: %g", number, float64(hours[day])/hour)}, jobs[day]...), faults[day]...), " "))
	}
	return strings.Join(out, ", ")
}

func TestOrdinaryWeeks(t *testing.T) {
	t.Parallel()
	day := func(days ...int) (texts []string) {
		for _, d := range days {
			texts = append(texts, fmt.Sprintf("2026-03-%02d 08:00", d), fmt.Sprintf("2026-03-%02d 16:00", d))
		}
		return texts
	}
	for _, example := range []struct {
		name string
		of   func(t *testing.T) *week
		want string
	}{
		{"a week of days", func(t *testing.T) *week { return newWeek(t, "Pacific/Auckland").punch(day(2, 3, 4, 5, 6)...) }, "2: 8, 3: 8, 4: 8, 5: 8, 6: 8"},
		{"a punch in is missing", func(t *testing.T) *week {
			return newWeek(t, "Europe/Berlin").punch(day(2)...).punch("2026-03-03 16:00").punch(day(4, 5, 6)...)
		}, "2: 8, 3: 0 MISSED_IN_PUNCH, 4: 8, 5: 8, 6: 8"},
		{"a punch out is missing", func(t *testing.T) *week {
			return newWeek(t, "Europe/Berlin").punch(day(2)...).punch("2026-03-03 08:00").punch(day(4, 5, 6)...)
		}, "2: 8, 3: 0 MISSED_OUT_PUNCH, 4: 8, 5: 8, 6: 8"},
		{"a punch in is missing of a scheduled day", func(t *testing.T) *week {
			return newWeek(t, "Europe/Berlin").punch("2026-03-03 16:00").punch(day(4)...).plan("2026-03-03 08:00-16:00", "2026-03-04 08:00-16:00")
		}, "3: 0 MISSED_IN_PUNCH, 4: 8"},
		{"two punches are missing on two days", func(t *testing.T) *week {
			return newWeek(t, "Europe/Berlin").punch(day(2)...).punch("2026-03-03 16:00").punch(day(4)...).punch("2026-03-05 08:00").punch(day(6)...)
		}, "2: 8, 3: 0 MISSED_IN_PUNCH, 4: 8, 5: 0 MISSED_OUT_PUNCH, 6: 8"},
		{"a day is longer than the longest shift", func(t *testing.T) *week {
			return newWeek(t, "Europe/Berlin").punch("2026-03-02 08:00", "2026-03-03 00:30").punch(day(3, 4, 5)...)
		}, "2: 0 MISSED_OUT_PUNCH, 3: 8 MISSED_IN_PUNCH, 4: 8, 5: 8"},
		{"a punch is made twice", func(t *testing.T) *week {
			return newWeek(t, "Europe/Berlin").punch("2026-03-02 08:00:00", "2026-03-02 08:00:30", "2026-03-02 17:00")
		}, "2: 9"},
		{"a punch in that follows one out is none of them", func(t *testing.T) *week {
			return newWeek(t, "Europe/Berlin").punch("2026-03-02 08:00 in", "2026-03-02 12:00 out", "2026-03-02 12:00:30 in", "2026-03-02 17:00 out")
		}, fmt.Sprintf("2: %g", 9-30.0/hour)},
		{"two punches of one second", func(t *testing.T) *week {
			return newWeek(t, "Europe/Berlin").punch("2026-03-02 08:00 in", "2026-03-02 12:00 out", "2026-03-02 12:00 in", "2026-03-02 17:00 out")
		}, "2: 9"},
		{"a transfer in the second of the punch in", func(t *testing.T) *week {
			return newWeek(t, "Europe/Berlin").punch("2026-03-02 08:00 in", "2026-03-02 08:00 transfer job:Packer", "2026-03-02 17:00 out")
		}, "2: 9 Packer 9"},
		{"a job in the middle of a shift", func(t *testing.T) *week {
			return newWeek(t, "Europe/Berlin").punch("2026-03-02 08:00", "2026-03-02 12:00 job:Packer", "2026-03-02 17:00")
		}, "2: 9 Packer 5"},
		{"the job with each punch", func(t *testing.T) *week {
			return newWeek(t, "Europe/Berlin").punch("2026-03-02 08:00 job:Packer", "2026-03-02 17:00 job:Packer", "2026-03-03 08:00 job:Packer", "2026-03-03 17:00 job:Packer")
		}, "2: 9 Packer 9, 3: 9 Packer 9"},
		{"the longest shift when the clock goes back", func(t *testing.T) *week {
			w := newWeek(t, "Europe/Berlin").punch("2026-10-24 19:00", "2026-10-25 07:00")
			w.rule.MaxShift = 12 * hour
			return w
		}, "24: 13"},
		{"a duty of a day when the clock goes back", func(t *testing.T) *week {
			w := newWeek(t, "Europe/Berlin").punch("2026-10-24 08:00", "2026-10-25 08:00")
			w.rule.MaxShift = 24 * hour
			return w
		}, "24: 25"},
		{"a long scheduled shift when the clock goes back", func(t *testing.T) *week {
			return newWeek(t, "Europe/Berlin").punch("2026-10-24 16:00", "2026-10-25 08:00").plan("2026-10-24 16:00-08:00")
		}, "24: 17"},
		{"the longest break when the clock goes back", func(t *testing.T) *week {
			return newWeek(t, "Europe/Berlin").punch("2026-10-24 20:00", "2026-10-25 00:00", "2026-10-25 04:00", "2026-10-25 08:00")
		}, "24: 8"},
		{"two scheduled shifts with a pause", func(t *testing.T) *week {
			return newWeek(t, "Europe/Berlin").punch("2026-03-02 08:00", "2026-03-02 12:00", "2026-03-02 12:30", "2026-03-02 16:00").
				plan("2026-03-02 08:00-12:00", "2026-03-02 12:30-16:00")
		}, "2: 7.5"},
		{"two scheduled shifts in one go", func(t *testing.T) *week {
			return newWeek(t, "Europe/Berlin").punch("2026-03-02 06:00", "2026-03-02 22:00").plan("2026-03-02 06:00-14:00", "2026-03-02 14:00-22:00")
		}, "2: 16"},
		{"only the first of two scheduled shifts", func(t *testing.T) *week {
			return newWeek(t, "Europe/Berlin").punch("2026-03-02 06:00", "2026-03-02 14:20").plan("2026-03-02 06:00-14:00", "2026-03-02 14:00-22:00")
		}, fmt.Sprintf("2: %g LATE_OUT UNEXCUSED_ABSENCE", 8+20.0/60)},
		{"the inner edges of two scheduled shifts", func(t *testing.T) *week {
			w := newWeek(t, "Europe/Berlin").punch("2026-03-02 10:55", "2026-03-02 14:37", "2026-03-02 16:51", "2026-03-02 22:04").
				plan("2026-03-02 11:00-14:30", "2026-03-02 17:00-22:00")
			w.rule.Snap = worktime.Snap{EarlyIn: 900, LateIn: 900, EarlyOut: 900, LateOut: 900}
			w.rule.Tolerance = worktime.Tolerance{}
			return w
		}, "2: 8.5"},
		{"a scheduled shift in two parts", func(t *testing.T) *week {
			w := newWeek(t, "Europe/Berlin").punch("2026-03-02 08:00", "2026-03-02 10:00", "2026-03-02 15:00", "2026-03-02 17:00").plan("2026-03-02 08:00-17:00")
			return w
		}, "2: 4"},
		{"nights", func(t *testing.T) *week {
			return newWeek(t, "Europe/Berlin").punch("2026-03-02 22:00", "2026-03-03 06:00", "2026-03-03 22:00", "2026-03-04 06:00", "2026-03-04 22:00", "2026-03-05 06:00")
		}, "2: 8, 3: 8, 4: 8"},
		{"a night of which the punch in is missing", func(t *testing.T) *week {
			return newWeek(t, "Europe/Berlin").punch("2026-03-02 22:00", "2026-03-03 06:00", "2026-03-04 06:00", "2026-03-04 22:00", "2026-03-05 06:00")
		}, "2: 8, 4: 8 MISSED_IN_PUNCH"},
	} {
		t.Run(example.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, example.want, example.of(t).shows())
		})
	}
}
