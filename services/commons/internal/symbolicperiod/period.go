// Package symbolicperiod resolves names of periods relative to today, such as "the current
// pay period" or "the last thirty days".
package symbolicperiod

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rotaloom/rotaloom/pkg/civil"
)

// Calendar determines when periods begin. The zero Calendar is not usable; see [NewCalendar].
type Calendar struct {
	// anchor is the first day of a pay period. All pay periods have the same length.
	anchor  civil.Date
	payDays int
	week    time.Weekday
}

// NewCalendar returns a Calendar with pay periods of payDays days, at least one. A pay period
// begins on the anchor, and the others follow before and after it. Weeks begin on the
// anchor's weekday.
func NewCalendar(anchor civil.Date, payDays int) Calendar {
	return Calendar{anchor: anchor, payDays: max(payDays, 1), week: anchor.Weekday()}
}

// Types of periods.
const (
	Timekeeping = "TIMEKEEPING"
	Scheduling  = "SCHEDULING"
	Common      = "COMMON"
	Custom      = "CUSTOM"
)

// types returns all types in order.
func types() []string { return []string{Timekeeping, Scheduling, Common, Custom} }

// Period is a symbolic period.
type Period struct {
	ID int64
	// Qualifier names the period, in any case.
	Qualifier, Name, Type string
	days                  func(c Calendar, today civil.Date) civil.Range
}

// Days returns the days of the period.
func (p Period) Days(c Calendar, today civil.Date) civil.Range { return p.days(c, today) }

// All returns all periods by id. Ids up to 8 are defined by the reference product, and its
// clients send them; it defines no others.
func All() []Period {
	return []Period{
		{0, "Previous_Payperiod", "Previous Pay Period", Timekeeping, payPeriod(-1)},
		{1, "Current_Payperiod", "Current Pay Period", Timekeeping, payPeriod(0)},
		{2, "Next_Payperiod", "Next Pay Period", Timekeeping, payPeriod(1)},
		{3, "Current_SchedPeriod", "Current Schedule Period", Scheduling, payPeriod(0)},
		{4, "Previous_SchedPeriod", "Previous Schedule Period", Scheduling, payPeriod(-1)},
		{5, "Next_SchedPeriod", "Next Schedule Period", Scheduling, payPeriod(1)},
		{6, "Week_to_Date", "Week to Date", Common, weekToDate},
		{7, "Last_Week", "Last Week", Common, week(-1)},
		{8, "Yesterday", "Yesterday", Common, around(-1, -1)},
		{9, "Today", "Today", Common, around(0, 0)},
		{10, "Tomorrow", "Tomorrow", Common, around(1, 1)},
		{11, "Yesterday_Today_Tomorrow", "Yesterday, Today, Tomorrow", Common, around(-1, 1)},
		{12, "Yesterday_Plus_Six_Days", "Yesterday plus 6 days", Common, around(-1, 5)},
		{13, "Current_Week", "Current Week", Common, week(0)},
		{14, "Next_Week", "Next Week", Common, week(1)},
		{15, "Last_Thirty_Days", "Last 30 Days", Common, around(-30, -1)},
		{16, "Last_Ninety_Days", "Last 90 Days", Common, around(-90, -1)},
		{17, "Last_Month", "Last Month", Common, month(-1)},
		{18, "Current_Month", "Current Month", Common, month(0)},
		{19, "Next_Month", "Next Month", Common, month(1)},
	}
}

// aliases are additional names of periods that clients send, in lower case.
var aliases = map[string]string{
	"previous_scheduled_period": "Previous_SchedPeriod",
	"current_scheduled_period":  "Current_SchedPeriod",
	"next_scheduled_period":     "Next_SchedPeriod",
}

// Named returns the period with an id, as text, or a qualifier.
func Named(text string) (Period, bool) {
	if name, ok := aliases[strings.ToLower(text)]; ok {
		text = name
	}
	id, err := strconv.ParseInt(text, 10, 64)
	return find(func(p Period) bool { return err == nil && p.ID == id || strings.EqualFold(p.Qualifier, text) })
}

// ByID returns the period with an id.
func ByID(id int64) (Period, bool) { return find(func(p Period) bool { return p.ID == id }) }

func find(is func(Period) bool) (Period, bool) {
	all := All()
	i := slices.IndexFunc(all, is)
	if i < 0 {
		return Period{}, false
	}
	return all[i], true
}

// around returns the days from today plus first to today plus last.
func around(first, last int) func(Calendar, civil.Date) civil.Range {
	return func(_ Calendar, today civil.Date) civil.Range {
		return civil.Through(today.AddDays(first), today.AddDays(last))
	}
}

// payPeriod returns the pay period at an offset from the current one.
func payPeriod(n int) func(Calendar, civil.Date) civil.Range {
	return func(c Calendar, today civil.Date) civil.Range {
		length := c.payDays
		into := (int(today-c.anchor)%length + length) % length
		first := today.AddDays(n*length - into)
		return civil.Range{From: first, To: first.AddDays(length)}
	}
}

// week returns the week at an offset from the current one.
func week(n int) func(Calendar, civil.Date) civil.Range {
	return func(c Calendar, today civil.Date) civil.Range {
		first := firstOfWeek(c, today).AddDays(7 * n)
		return civil.Range{From: first, To: first.AddDays(7)}
	}
}

func weekToDate(c Calendar, today civil.Date) civil.Range {
	return civil.Through(firstOfWeek(c, today), today)
}

func firstOfWeek(c Calendar, today civil.Date) civil.Date {
	return today.AddDays(-((int(today.Weekday()) - int(c.week) + 7) % 7))
}

// month returns the month at an offset from the current one.
func month(n int) func(Calendar, civil.Date) civil.Range {
	return func(_ Calendar, today civil.Date) civil.Range {
		y, m, _ := today.Civil()
		return civil.Range{From: civil.Of(y, m+time.Month(n), 1), To: civil.Of(y, m+time.Month(n+1), 1)}
	}
}
