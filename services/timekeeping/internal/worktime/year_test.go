package worktime_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/worktime"
)

// workedYear is the year of an employee with realistic work: shifts of usual length, with or
// without a break, that begin at about the same time for some weeks.
type workedYear struct {
	worktime.Input
	zone *civil.Zone
	rule worktime.Rule
	// shiftOf is the number of the shift of each punch.
	shiftOf []int
}

func drawYear(t *rapid.T, zone *civil.Zone, days int) *workedYear {
	y := &workedYear{zone: zone, rule: *plainRule()}
	y.rule.RepeatWithin = 60
	y.Rule = func(civil.Date) *worktime.Rule { return &y.rule }
	scheduled := rapid.Bool().Draw(t, "scheduled")
	first := civil.Of(2025, time.November, 3)
	shift := 0
	for day := first; day < first+civil.Date(days); {
		start := rapid.SampledFrom([]int{6, 8, 8, 14, 22}).Draw(t, "start")
		for range rapid.IntRange(5, 25).Draw(t, "days alike") {
			if rapid.IntRange(0, 9).Draw(t, "works") < 7 {
				y.addShift(t, day, start, shift, scheduled)
				shift++
			}
			day++
		}
		day += 2 // Nobody changes from nights to mornings without a free day.
	}
	y.Now = y.zone.Unix((first + civil.Date(days) + 30).At(0))
	return y
}

func (y *workedYear) addShift(t *rapid.T, day civil.Date, start, shift int, scheduled bool) {
	minutes := start*60 + rapid.IntRange(-25, 25).Draw(t, "jitter")
	length := rapid.IntRange(7*60, 9*60).Draw(t, "length")
	at := func(minute int) int64 {
		d := day + civil.Date(minute/(24*60))
		return y.zone.Unix(d.At(int32(minute%(24*60)) * 60))
	}
	add := func(minute int) {
		y.Punches = append(y.Punches, worktime.Punch{ID: int64(len(y.Punches)), At: at(minute), Zone: y.zone})
		y.shiftOf = append(y.shiftOf, shift)
	}
	add(minutes)
	if rapid.Bool().Draw(t, "break") {
		from := minutes + length/2
		add(from)
		add(from + rapid.IntRange(20, 60).Draw(t, "away"))
	}
	add(minutes + length)
	if scheduled {
		y.Schedule = append(y.Schedule, worktime.Scheduled{Day: day, Start: at(start * 60), End: at(start*60 + 8*60)})
	}
}

// byShift returns the time that is paid for each shift, and the punches that miss others.
func (y *workedYear) byShift() (paid map[int]int64, missing []int) {
	result := worktime.Calculate(&y.Input)
	paid = map[int]int64{}
	for i := range result.Shifts {
		s := &result.Shifts[i]
		punch := max(s.Spans[0].In, s.Spans[0].Out)
		for _, item := range s.Items {
			paid[y.shiftOf[punch]] += item.End - item.Start
		}
	}
	for _, e := range result.Exceptions {
		if e.Fault == worktime.MissedIn || e.Fault == worktime.MissedOut {
			missing = append(missing, y.shiftOf[e.Punch])
		}
	}
	return paid, missing
}

func berlin(t *testing.T) *civil.Zone {
	t.Helper()
	zone, err := civil.LoadZone("Europe/Berlin")
	require.NoError(t, err)
	return zone
}

// A punch that is missing changes the shift that it belongs to, and no other.
func TestAMissingPunchChangesItsShiftOnly(t *testing.T) {
	t.Parallel()
	zone := berlin(t)
	rapid.Check(t, func(t *rapid.T) {
		y := drawYear(t, zone, 60)
		want, missing := y.byShift()
		require.Empty(t, missing)
		at := rapid.IntRange(0, len(y.Punches)-1).Draw(t, "missing")
		shift := y.shiftOf[at]
		y.Punches, y.shiftOf = slices.Delete(y.Punches, at, at+1), slices.Delete(y.shiftOf, at, at+1)
		got, missing := y.byShift()
		require.Equal(t, []int{shift}, missing)
		delete(want, shift)
		delete(got, shift)
		require.Equal(t, want, got)
	})
}

// Two touches of the time clock in a row are paid like one.
func TestASecondTouchChangesNothing(t *testing.T) {
	t.Parallel()
	zone := berlin(t)
	rapid.Check(t, func(t *rapid.T) {
		y := drawYear(t, zone, 60)
		want, _ := y.byShift()
		at := rapid.IntRange(0, len(y.Punches)-1).Draw(t, "touched")
		again := y.Punches[at]
		again.At += rapid.Int64Range(1, 60).Draw(t, "later")
		y.Punches, y.shiftOf = slices.Insert(y.Punches, at+1, again), slices.Insert(y.shiftOf, at+1, y.shiftOf[at])
		got, missing := y.byShift()
		require.Empty(t, missing)
		require.Equal(t, want, got)
	})
}

// The totals of a day do not depend on the other days of a read, also in weeks where punches are
// missing.
func TestDaysDoNotDependOnTheRange(t *testing.T) {
	t.Parallel()
	zone := berlin(t)
	rapid.Check(t, func(t *rapid.T) {
		y := drawYear(t, zone, 90)
		for range rapid.IntRange(0, 6).Draw(t, "missing") {
			at := rapid.IntRange(0, len(y.Punches)-1).Draw(t, "at")
			y.Punches, y.shiftOf = slices.Delete(y.Punches, at, at+1), slices.Delete(y.shiftOf, at, at+1)
		}
		all := worktime.Calculate(&y.Input)
		first := civil.Of(2025, time.November, 3)
		from := first + civil.Date(rapid.IntRange(10, 80).Draw(t, "from"))
		to := from + civil.Date(rapid.IntRange(1, 7).Draw(t, "days"))
		// As much is read as a timecard reads around its days.
		begin, end := zone.Unix((from - 8).At(0)), zone.Unix((to + 5).At(0))
		part := y.Input
		part.Punches = slices.DeleteFunc(slices.Clone(y.Punches), func(p worktime.Punch) bool { return p.At < begin || p.At >= end })
		part.Schedule = slices.DeleteFunc(slices.Clone(y.Schedule), func(s worktime.Scheduled) bool { return s.Day < from-8 || s.Day >= to+5 })
		got := worktime.Calculate(&part)
		require.Equal(t, listBetween(all, y.Punches, from, to), listBetween(got, part.Punches, from, to))
	})
}

// listBetween returns the totals and the exceptions of some days.
func listBetween(r *worktime.Result, punches []worktime.Punch, from, to civil.Date) (out []string) {
	for key, seconds := range r.Totals() {
		if key.Day >= from && key.Day < to {
			out = append(out, fmt.Sprint(key, seconds))
		}
	}
	for _, e := range r.Exceptions {
		if e.Day >= from && e.Day < to {
			id := int64(-1)
			if e.Punch >= 0 {
				id = punches[e.Punch].ID
			}
			out = append(out, fmt.Sprint(e.Day, e.Fault, id))
		}
	}
	slices.Sort(out)
	return out
}
