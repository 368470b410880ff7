// Package worktime calculates worked time: it pairs punches to shifts, rounds them, deducts breaks
// and divides the rest by pay code. It has no input or output, and stores nothing.
//
// All instants and lengths are in seconds; instants count from 1970-01-01T00:00:00Z. Lengths are
// elapsed time, also across clock changes.
package worktime

import (
	"time"

	"github.com/rotaloom/rotaloom/pkg/civil"
)

// PayCode identifies a pay code. The id is 0 if only the name is known.
type PayCode struct {
	ID   int64
	Name string
}

// Direction tells whether a punch begins or ends work.
type Direction int8

// Directions of punches. For Any, the punches before it determine the direction.
const (
	Any Direction = iota
	In
	Out
)

// Punch is one registration at a time clock.
type Punch struct {
	ID int64
	At int64
	// Zone is the time zone of the clock. It determines the wall-clock time.
	Zone      *civil.Zone
	Direction Direction
	// Transfer means that an employee at work continues with another job or pay code.
	Transfer bool
	// Job is the path of the job from here on, or "" for the primary job.
	Job string
	// PayCode is the pay code of the punch's work rule; nil if the pay rule determines it.
	PayCode *PayCode
	// NoDeduction exempts the shift from the deduction of breaks.
	NoDeduction bool
}

// Local returns the wall-clock time of an instant in the time zone of the punch.
func (p *Punch) Local(at int64) civil.DateTime { return p.Zone.At(time.Unix(at, 0)) }

// Scheduled is a shift of the schedule.
type Scheduled struct {
	Day        civil.Date
	Start, End int64
	// Number identifies the shift for the caller.
	Number int
}

// Rounding moves times to the start of an interval, counted from midnight of the wall clock: back
// by up to Grace, and otherwise forward to the next start. With an Interval of 0, times do not
// change.
type Rounding struct{ Interval, Grace int64 }

// Snap sets how far a punch may be from the start or end of the scheduled shift to count as made at
// that time.
type Snap struct{ EarlyIn, LateIn, EarlyOut, LateOut int64 }

// Break is deducted from a shift if more than After is paid. Breaks that the employee punched count
// towards its Length.
type Break struct{ After, Length int64 }

// Tier sets the pay code of time after After is worked.
type Tier struct {
	After   int64
	PayCode PayCode
}

// Tolerance sets the differences from the schedule that make a punch an exception; nil means never.
type Tolerance struct{ EarlyIn, LateIn, EarlyOut, LateOut *int64 }

// Credit is paid time of a holiday.
type Credit struct {
	PayCode PayCode
	Length  int64
	// UnlessWorked gives no credit on a holiday with worked time.
	UnlessWorked bool
}

// RegularRate sets how the regular rate of a week is calculated. Bonuses are the pay codes of money
// that count.
type RegularRate struct{ Bonuses []PayCode }

// Rule is the version of a pay rule that applies on a day.
type Rule struct {
	// Regular is the pay code of time without another pay code.
	Regular PayCode
	// MaxShift is the longest time after the first punch of a shift at which another punch may
	// belong to it. ShiftGap is the longest break: a later punch in begins another shift. Both are
	// wall-clock times, also across clock changes.
	MaxShift, ShiftGap int64
	// RepeatWithin is the period after a punch within which an equal punch is ignored.
	RepeatWithin int64
	// CutSeconds removes the seconds of punches before they are rounded, compared and paid.
	CutSeconds bool
	// LongShift is the length that makes a shift an exception; 0 means never.
	LongShift int64
	In, Out   Rounding
	Snap      Snap
	// Breaks and the tiers ascend by After. SeventhDay replaces Daily on the last day of a
	// week if the employee worked on each day of it, and Holiday replaces both on a holiday.
	Breaks              []Break
	Daily, Weekly       []Tier
	SeventhDay, Holiday []Tier
	WeekStart           time.Weekday
	// DayStart is the start of a day, in seconds from its midnight: up to 12 hours before or after
	// it. SplitDays divides a shift that crosses this time between both days, and SplitWeeks does
	// so only at the end of a week. Otherwise a shift counts on the day on which it begins.
	DayStart              int64
	SplitDays, SplitWeeks bool
	Tolerance             Tolerance
	// Credit is the employee's credit on a holiday, or nil.
	Credit *Credit
	// RegularRate means that overtime is paid by the regular rate of the week; otherwise it is nil.
	RegularRate *RegularRate
	// FlagUnscheduled makes unscheduled shifts exceptions, and FlagAbsence makes scheduled shifts
	// that the employee did not work exceptions.
	FlagUnscheduled, FlagAbsence bool
}

// Worked is the work of a day, and the part of it that counts towards the week: all work except the
// overtime of the day.
type Worked struct{ All, Week int64 }

// Input is the data of one employee.
type Input struct {
	// Punches ascend by time. Within one second, Out comes before In, and In before Any.
	Punches []Punch
	// Schedule ascends by start.
	Schedule []Scheduled
	// Before is the work of days of the week whose shifts are not calculated.
	Before map[civil.Date]Worked
	// Rule returns the pay rule of a day.
	Rule func(civil.Date) *Rule
	// Holiday reports whether a day is a holiday; nil without holidays.
	Holiday func(civil.Date) bool
	// Settled reports whether the time of a day is settled and contained in Before; nil if no day
	// is settled. Shifts of such days are only needed for the parts that count on later days.
	Settled func(civil.Date) bool
	// Excused reports that an absence on a day is not an exception.
	Excused func(civil.Date) bool
	// Now is the time of the calculation. Later punches and shifts cannot be missing yet.
	Now int64
	// Edits are the bookings without punches. Work is all scheduled work of their days, including
	// the work that leave replaces, by the clocks of the employee.
	Edits  []Edit
	Work   []Interval
	Clocks civil.Clocks
}

// Span is a part of a shift in one job, between two punches.
type Span struct {
	// Start and End are rounded. RawStart and RawEnd are the times of the punches, without seconds
	// if the rule cuts them.
	Start, End, RawStart, RawEnd int64
	// In and Out are positions in Input.Punches, or -1 for a missing punch.
	In, Out int
	Job     string
	PayCode PayCode
}

// Item is worked time with a single pay code and job.
type Item struct {
	// Day is the day on which the item counts: the day of the shift, or a later one if the rule
	// splits.
	Day        civil.Date
	Start, End int64
	Job        string
	PayCode    PayCode
}

// Shift is the work from a punch in to the last punch out that belongs to it.
type Shift struct {
	// Day is the day on which the shift begins, in the time zone of its first punch. The rule sets
	// the start of a day.
	Day   civil.Date
	Spans []Span
	// Items are the paid time without breaks, ascending.
	Items []Item
	// Deducted is the time that was deducted for breaks.
	Deducted int64
	// Scheduled are the positions in Input.Schedule of the shifts that contain this shift or are
	// parts of it, ascending.
	Scheduled []int
	// Running means that the employee is still at work.
	Running bool
}

// Fault is a kind of exception.
type Fault string

// Exceptions that a supervisor checks before time is paid.
const (
	MissedIn    Fault = "MISSED_IN_PUNCH"
	MissedOut   Fault = "MISSED_OUT_PUNCH"
	EarlyIn     Fault = "EARLY_IN"
	LateIn      Fault = "LATE_IN"
	EarlyOut    Fault = "EARLY_OUT"
	LateOut     Fault = "LATE_OUT"
	Unscheduled Fault = "UNSCHEDULED"
	LongShift   Fault = "LONG_SHIFT"
	Absent      Fault = "UNEXCUSED_ABSENCE"
)

// Exception is a finding that a supervisor must check.
type Exception struct {
	Day   civil.Date
	Fault Fault
	// Punch is a position in Input.Punches, or -1 if the exception concerns no punch.
	Punch int
	// Amount is the difference of a punch to the schedule, or the excess of a shift over the limit.
	Amount int64
}

// Repetition is a punch that was ignored because it repeats another one. Both are
// positions in Input.Punches.
type Repetition struct{ Punch, Of int }

// Result is the result of the calculation.
type Result struct {
	// Repeated ascend.
	Repeated []Repetition
	// Shifts ascend by start.
	Shifts     []Shift
	Exceptions []Exception
	Days       map[civil.Date]Worked
	// Booked are the lengths of Input.Edits, in their order.
	Booked []int64
}

// Calculate calculates the worked time of an employee. It does not change the input.
func Calculate(in *Input) *Result {
	c := &calculation{in: in, out: &Result{Days: map[civil.Date]Worked{}}}
	c.pair()
	c.match()
	for i := range c.out.Shifts {
		c.round(&c.out.Shifts[i])
	}
	c.pay()
	c.findExceptions()
	c.book()
	return c.out
}

type calculation struct {
	in  *Input
	out *Result
}

// Key holds the properties that group totals.
type Key struct {
	Day     civil.Date
	PayCode PayCode
	Job     string
}

// Totals adds up the paid time.
func (r *Result) Totals() map[Key]int64 {
	out := make(map[Key]int64, len(r.Shifts))
	for i := range r.Shifts {
		for _, item := range r.Shifts[i].Items {
			out[Key{item.Day, item.PayCode, item.Job}] += item.End - item.Start
		}
	}
	return out
}
