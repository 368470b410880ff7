package timezone

import (
	"time"

	"google.golang.org/protobuf/proto"

	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// change is a change of the clocks in a year: the local time before it.
type change struct {
	at time.Time // a wall-clock time, in UTC
	ok bool
}

// summerTime returns the first start and the last end of summer time in a year.
func summerTime(location *time.Location, year int) (start, end change) {
	at := time.Date(year, 1, 1, 0, 0, 0, 0, location)
	for {
		_, next := at.ZoneBounds()
		if next.IsZero() || next.In(location).Year() > year {
			return start, end
		}
		if !next.After(at) { // Package time ends the last period of a leap year one day early.
			next = at.AddDate(0, 0, 1)
		}
		_, offset := at.Zone()
		wall := next.UTC().Add(time.Duration(offset) * time.Second)
		switch before, after := at.IsDST(), next.In(location).IsDST(); {
		case !before && after && !start.ok:
			start = change{wall, true}
		case before && !after:
			end = change{wall, true}
		}
		at = next.In(location)
	}
}

// standardOffset returns the seconds of the standard time east of UTC at an instant.
func standardOffset(at time.Time) int {
	_, offset := at.Zone()
	if at.IsDST() {
		// Summer time began at the start of the present period.
		if start, _ := at.ZoneBounds(); !start.IsZero() {
			_, offset = start.Add(-time.Second).Zone()
		}
	}
	return offset
}

// ruleYears is the number of years in which a rule must hold.
const ruleYears = 8

// place is the position of a change in its month.
type place struct {
	month     time.Month
	weekday   time.Weekday
	nth       int
	timeOfDay time.Duration
}

// findPlace returns the position that a change has in all years from a year on, or false if it has none.
func findPlace(location *time.Location, year int, pick func(start, end change) change) (place, bool) {
	var found place
	last := true
	for i := range ruleYears {
		c := pick(summerTime(location, year+i))
		if !c.ok {
			return place{}, false
		}
		midnight := time.Date(c.at.Year(), c.at.Month(), c.at.Day(), 0, 0, 0, 0, time.UTC)
		here := place{c.at.Month(), c.at.Weekday(), (c.at.Day()-1)/7 + 1, c.at.Sub(midnight)}
		last = last && c.at.AddDate(0, 0, 7).Month() != here.month
		if i == 0 {
			found = here
		}
		if found.month != here.month || found.weekday != here.weekday || found.timeOfDay != here.timeOfDay || !last && found.nth != here.nth {
			return place{}, false
		}
	}
	if last {
		found.nth = -1
	}
	return found, true
}

// newRule returns the yearly rule of summer time from a year on.
func newRule(location *time.Location, year int) *commonsv1.TimeZoneRule {
	from, starts := findPlace(location, year, func(start, _ change) change { return start })
	to, ends := findPlace(location, year, func(_, end change) change { return end })
	if !starts || !ends {
		return &commonsv1.TimeZoneRule{}
	}
	return &commonsv1.TimeZoneRule{
		StartDayOfWeek: number(int(from.weekday) + 1), StartDay: number(from.nth), StartMonth: number(int(from.month) - 1), StartTime: number(int(from.timeOfDay.Milliseconds())),
		EndDayOfWeek: number(int(to.weekday) + 1), EndDay: number(to.nth), EndMonth: number(int(to.month) - 1), EndTime: number(int(to.timeOfDay.Milliseconds())),
	}
}

func number(n int) *int32 { return proto.Int32(int32(n)) } //nolint:gosec // at most the milliseconds of a day

// localTime is the format of times without an offset.
const localTime = "2006-01-02T15:04:05"

// newDated returns the rules of a year.
func newDated(location *time.Location, year int) *commonsv1.DatedTimeZone {
	out := &commonsv1.DatedTimeZone{Timezone: newRule(location, year)}
	if start, end := summerTime(location, year); start.ok && end.ok {
		out.DstStart, out.DstEnd = start.at.Format(localTime), end.at.Format(localTime)
	}
	return out
}
