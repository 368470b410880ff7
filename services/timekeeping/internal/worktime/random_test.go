package worktime_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/tzdb"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/worktime"
)

// zones change their clocks by an hour, by half of one and by two hours, at midnight,
// once and twice a day, and one left out a whole day.
var zones = []string{
	"UTC", "America/New_York", "America/St_Johns", "America/Havana", "America/Sao_Paulo", "America/Santiago", "America/Nuuk",
	"Atlantic/Azores", "Europe/London", "Europe/Berlin", "Africa/Casablanca", "Africa/Cairo", "Asia/Beirut", "Asia/Tehran",
	"Asia/Kolkata", "Asia/Kathmandu", "Australia/Lord_Howe", "Australia/Sydney", "Pacific/Auckland", "Pacific/Chatham",
	"Pacific/Apia", "Antarctica/Troll",
}

// place is a zone twice: as the product and as package time know it.
type place struct {
	zone     *civil.Zone
	location *time.Location
	changes  []int64
}

func places(t *testing.T) []place {
	t.Helper()
	out := make([]place, len(zones))
	for i, name := range zones {
		location, err := tzdb.Load(name)
		require.NoError(t, err)
		out[i] = place{zone: civil.NewZone(location), location: location}
		at := time.Date(2008, 1, 1, 0, 0, 0, 0, time.UTC)
		for at.Year() < 2027 {
			_, before := at.In(location).Zone()
			at = at.Add(time.Hour)
			if _, after := at.In(location).Zone(); after != before {
				out[i].changes = append(out[i].changes, at.Unix())
			}
		}
		if len(out[i].changes) == 0 {
			out[i].changes = []int64{time.Date(2024, 2, 28, 0, 0, 0, 0, time.UTC).Unix()}
		}
	}
	return out
}

const minute = 60

// timecard is random input in whole minutes.
type timecard struct {
	worktime.Input
	place place
	rules [2]worktime.Rule
}

func drawRule(t *rapid.T, name string) worktime.Rule {
	minutes := func(label string, of ...int64) int64 { return minute * rapid.SampledFrom(of).Draw(t, name+label) }
	rule := worktime.Rule{
		Regular: code("Regular " + name), MaxShift: minutes("longest", 600, 840, 960, 1440), ShiftGap: minutes("gap", 0, 30, 60, 240),
		In:        worktime.Rounding{Interval: minutes("in", 0, 1, 5, 6, 15, 30), Grace: minutes("graceIn", 0, 2, 7)},
		Out:       worktime.Rounding{Interval: minutes("out", 0, 1, 5, 6, 15, 30), Grace: minutes("graceOut", 0, 2, 7)},
		Snap:      worktime.Snap{EarlyIn: minutes("earlyIn", 0, 10), LateIn: minutes("lateIn", 0, 5), EarlyOut: minutes("earlyOut", 0, 5), LateOut: minutes("lateOut", 0, 20)},
		WeekStart: time.Weekday(rapid.IntRange(0, 6).Draw(t, name+"week")),
	}
	after := int64(0)
	for range rapid.IntRange(0, 2).Draw(t, name+"breaks") {
		after += minutes("after", 60, 240, 360)
		rule.Breaks = append(rule.Breaks, worktime.Break{After: after, Length: minutes("length", 15, 30, 45)})
	}
	after = 0
	for i := range rapid.IntRange(0, 2).Draw(t, name+"daily") {
		after += minutes("dailyAfter", 120, 480)
		rule.Daily = append(rule.Daily, worktime.Tier{After: after, PayCode: code([]string{"Day 1", "Day 2"}[i])})
	}
	after = 0
	for i := range rapid.IntRange(0, 2).Draw(t, name+"weekly") {
		after += minutes("weeklyAfter", 600, 1800)
		rule.Weekly = append(rule.Weekly, worktime.Tier{After: after, PayCode: code([]string{"Week 1", "Week 2"}[i])})
	}
	return rule
}

func drawTimecard(t *rapid.T, at place) *timecard {
	c := &timecard{place: at}
	c.rules = [2]worktime.Rule{drawRule(t, "a"), drawRule(t, "b")}
	clock := rapid.SampledFrom(c.place.changes).Draw(t, "change")/minute*minute - minute*rapid.Int64Range(0, 3*24*60).Draw(t, "before")
	split := c.place.zone.At(time.Unix(clock, 0)).Date + civil.Date(rapid.IntRange(0, 6).Draw(t, "split"))
	c.Rule = func(day civil.Date) *worktime.Rule {
		if day < split {
			return &c.rules[0]
		}
		return &c.rules[1]
	}
	scheduled := clock
	for range rapid.IntRange(0, 5).Draw(t, "scheduled") {
		scheduled += minute * rapid.Int64Range(1, 1800).Draw(t, "pause")
		c.Schedule = append(c.Schedule, worktime.Scheduled{Start: scheduled, End: scheduled + minute*rapid.Int64Range(60, 600).Draw(t, "planned")})
	}
	for i := range rapid.IntRange(1, 14).Draw(t, "punches") {
		clock += minute * rapid.OneOf(rapid.SampledFrom([]int64{30, 60, 240, 600, 840}), rapid.Int64Range(1, 90), rapid.Int64Range(1, 700), rapid.Int64Range(1, 2000)).Draw(t, "later")
		p := worktime.Punch{ID: int64(i), At: clock, Zone: c.place.zone}
		p.Direction = rapid.SampledFrom([]worktime.Direction{worktime.Any, worktime.Any, worktime.Any, worktime.In, worktime.Out}).Draw(t, "direction")
		p.Job = rapid.SampledFrom([]string{"", "", "A", "B"}).Draw(t, "job")
		p.Transfer = p.Job != ""
		if rapid.IntRange(0, 5).Draw(t, "coded") == 0 {
			p.PayCode = &worktime.PayCode{Name: "Coded"}
		}
		p.NoDeduction = rapid.IntRange(0, 9).Draw(t, "deduction") == 0
		c.Punches = append(c.Punches, p)
	}
	c.Now = clock + minute*rapid.Int64Range(0, 2000).Draw(t, "now")
	drawEdits(t, c)
	return c
}

// drawEdits draws booked time around a clock change, and the scheduled work.
func drawEdits(t *rapid.T, c *timecard) {
	c.Clocks = civil.NewClocks(c.place.zone)
	changes := rapid.SampledFrom(c.place.changes).Draw(t, "booked around")
	day := func() civil.Date {
		return c.place.zone.At(time.Unix(changes, 0)).Date + civil.Date(rapid.IntRange(-1, 1).Draw(t, "booked day"))
	}
	clock := func(from, to int) int32 { return minute * int32(rapid.IntRange(from, to).Draw(t, "clock")) }
	for range rapid.IntRange(0, 4).Draw(t, "intervals") {
		s := worktime.Interval{Day: day(), Start: clock(0, 24*60-1)}
		s.End = s.Start + clock(1, 16*60)
		c.Work = append(c.Work, s)
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "edits") {
		e := worktime.Edit{Day: day(), PayCode: code([]string{"Vacation", "Sick"}[i%2]), Job: rapid.SampledFrom([]string{"", "A"}).Draw(t, "edit job")}
		switch rapid.IntRange(0, 2).Draw(t, "amount") {
		case 0:
			e.Seconds = minute * rapid.Int64Range(1, 600).Draw(t, "seconds")
		case 1:
			e.Start = clock(0, 24*60-1)
			e.End = e.Start + clock(1, 24*60)
		default:
			e.Halves = rapid.Int64Range(1, 2).Draw(t, "halves")
		}
		c.Edits = append(c.Edits, e)
	}
}

// The product's totals equal the totals of a calculation that goes from minute to minute.
func TestTotalsComparedWithMinutes(t *testing.T) {
	t.Parallel()
	for i, at := range places(t) {
		t.Run(zones[i], func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				c := drawTimecard(t, at)
				got := worktime.Calculate(&c.Input)
				require.Equal(t, byMinutes(c, got.Shifts), got.Totals())
				booked := map[worktime.Key]int64{}
				for i, e := range c.Edits {
					booked[worktime.Key{Day: e.Day, PayCode: e.PayCode, Job: e.Job}] += got.Booked[i]
				}
				require.Equal(t, bookedByMinutes(c), booked)
			})
		})
	}
}
