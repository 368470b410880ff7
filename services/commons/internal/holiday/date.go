package holiday

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rickar/cal/v2"
	"google.golang.org/protobuf/proto"

	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// dateTime is the format of dates and times of day, without a zone.
const dateTime = "2006-01-02T15:04:05"

// calculating lets one calculation run at a time: the library writes package variables when it calculates
// holidays of Japan.
var calculating sync.Mutex

// holidayDay returns the day on which the rule puts the holiday in a year, or false if the year
// has no such day. The rule must be well formed.
func holidayDay(rule *commonsv1.HolidayRule, year int32) (time.Time, bool) {
	var h *cal.Holiday
	observed := false
	switch {
	case rule.GetFixedDate() != nil:
		r := rule.GetFixedDate()
		h = &cal.Holiday{Month: time.Month(r.GetMonth()), Day: int(r.GetDay()), Func: cal.CalcDayOfMonth}
	case rule.GetWeekday() != nil:
		r := rule.GetWeekday()
		weekday, _ := parseWeekday(r.GetDayOfWeek())
		h = &cal.Holiday{Month: time.Month(r.GetMonth()), Weekday: weekday, Offset: int(r.GetOrdinal()), Func: cal.CalcWeekdayOffset}
	case rule.GetEaster() != nil:
		r := rule.GetEaster()
		h = &cal.Holiday{Offset: int(r.GetOffsetDays()), Julian: r.GetOrthodox(), Func: cal.CalcEasterOffset}
	case rule.GetPublicHoliday() != nil:
		r := rule.GetPublicHoliday()
		h, observed = public(r.GetRegion(), r.GetName()), r.Observed == nil || r.GetObserved()
	}
	if h == nil {
		return time.Time{}, false
	}
	calculating.Lock()
	day, instead := h.Calc(int(year))
	calculating.Unlock()
	// Some years have no fifth Monday, or no February 29.
	if day.IsZero() || rule.GetFixedDate() != nil && day.Day() != int(rule.GetFixedDate().GetDay()) ||
		rule.GetWeekday() != nil && day.Month() != time.Month(rule.GetWeekday().GetMonth()) {
		return time.Time{}, false
	}
	if observed {
		day = instead
	}
	return day, true
}

func parseWeekday(name string) (time.Weekday, bool) {
	for day := time.Sunday; day <= time.Saturday; day++ {
		if strings.ToUpper(day.String()) == name {
			return day, true
		}
	}
	return 0, false
}

// dateIn returns the date and times of a holiday in a year, or nil if the holiday does not
// occur in it. A stored date takes precedence over the rule.
func dateIn(h *commonsv1.Holiday, year int32) *commonsv1.HolidayDate {
	date := &commonsv1.HolidayDate{Year: year}
	if i := slices.IndexFunc(h.GetDates(), func(d *commonsv1.HolidayDate) bool { return d.GetYear() == year }); i >= 0 {
		date = proto.CloneOf(h.GetDates()[i])
	}
	date.Enabled = proto.Bool(date.GetEnabled())
	if date.GetStartDateTime() == "" {
		day, is := holidayDay(h.GetRule(), year)
		if !is {
			return nil
		}
		date.StartDateTime, date.EndDateTime = day.Format(dateTime), day.AddDate(0, 0, 1).Format(dateTime)
	}
	return date
}

// dateBefore returns the date of the next year's holiday if it is observed in the given year,
// or nil: 1 January 2028 is a Saturday, and the United States observe it on 31 December 2027.
func dateBefore(h *commonsv1.Holiday, year int32) *commonsv1.HolidayDate {
	if year >= lastYear {
		return nil
	}
	date := dateIn(h, year+1)
	if date == nil || !strings.HasPrefix(date.GetStartDateTime(), fmt.Sprintf("%04d-", year)) {
		return nil
	}
	return date
}

// holidayDates returns the dates of a holiday in all years that are stored for it.
func holidayDates(h *commonsv1.Holiday) []*commonsv1.HolidayDate {
	var out []*commonsv1.HolidayDate
	for _, stored := range h.GetDates() {
		if date := dateIn(h, stored.GetYear()); date != nil {
			out = append(out, date)
		}
	}
	return out
}
