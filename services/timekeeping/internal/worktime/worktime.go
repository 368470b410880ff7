// Package worktime calculates what employees worked: it pairs punches to shifts, rounds
// them, takes out breaks and divides what is left by pay code. It has no input or
// output, and keeps nothing.
//
// All instants and lengths are in seconds; instants count from 1970-01-01T00:00:00Z.
// Lengths are real elapsed time, also across clock changes.
package worktime

import (
	"time"

	"github.com/rotaloom/rotaloom/pkg/civil"
)

// PayCode names what time is paid as. The id is 0 when only the name is known.
type PayCode struct {
	ID   int64
	Name string
}

// Direction says whether a punch begins or ends work.
type Direction int8

// Directions of punches. Any means the one that the punches before it ask for.
const (
	Any Direction = iota
	In
	Out
)

// Punch is one registration at a time clock.
type Punch struct {
	ID int64
	At int64
	// Zone is where the punch was made; it says what the clock showed.
	Zone      *civil.Zone
	Direction Direction
	// Transfer says that who is at work goes on with another job or pay code.
	Transfer bool
	// Job is the path of the job from here on, "" for the primary job.
	Job string
	// PayCode is what the work rule of the punch books under; nil for that of the
	// pay rule.
	PayCode *PayCode
	// NoDeduction keeps the shift from having breaks taken out.
	NoDeduction bool
}

// Local returns what the clock showed at an instant where the punch was made.
func (p *Punch) Local(at int64) civil.DateTime { return p.Zone.At(time.Unix(at, 0)) }

// Scheduled is a shift of the schedule.
type Scheduled struct {
	Day        civil.Date
	Start, End int64
	// Number distinguishes the shifts of a caller.
	Number int
}

// Rounding moves times to the beginning of an interval of the clock, counted from
// midnight: back by up to Grace, and otherwise forward to the next. An Interval of 0
// leaves times as they are.
type Rounding struct{ Interval, Grace int64 }

// Snap says how far from the start or end of the scheduled shift a punch may be to
// count as made then.
type Snap struct{ EarlyIn, LateIn, EarlyOut, LateOut int64 }

// Break is taken out of a shift of which more than After is paid, as far as the
// employee did not punch out for that long.
type Break struct{ After, Length int64 }

// Tier is what time is paid as once After is worked.
type Tier struct {
	After   int64
	PayCode PayCode
}

// Tolerance says from which difference to the schedule on there is an exception; nil
// means never.
type Tolerance struct{ EarlyIn, LateIn, EarlyOut, LateOut *int64 }

// Credit is paid time of a holiday.
type Credit struct {
	PayCode PayCode
	Length  int64
	// UnlessWorked gives nothing on a holiday on which the employee worked.
	UnlessWorked bool
}

// RegularRate is how the regular rate of a week is calculated. Bonuses are the pay codes of
// money that count.
type RegularRate struct{ Bonuses []PayCode }

// Rule is a pay rule, as it holds on a day.
type Rule struct {
	// Regular is what time is paid as that nothing else is said of.
	Regular PayCode
	// MaxShift is how long after the first punch of a shift another one may belong
	// to it, and ShiftGap is the longest break: who punches in later begins another
	// shift. Both are by the clock, also when it is changed in between.
	MaxShift, ShiftGap int64
	// RepeatWithin is how long after a punch another one that says the same is ignored.
	RepeatWithin int64
	// CutSeconds removes the seconds of punches before they are rounded, compared and paid.
	CutSeconds bool
	// LongShift is the length from which on a shift is an exception, 0 for never.
	LongShift int64
	In, Out   Rounding
	Snap      Snap
	// Breaks and the tiers ascend by After. SeventhDay replaces Daily on the last day of a
	// week if the employee worked on each day of it, and Holiday replaces both on a holiday.
	Breaks              []Break
	Daily, Weekly       []Tier
	SeventhDay, Holiday []Tier
	WeekStart           time.Weekday
	// DayStart is when a day begins, in seconds from its midnight: up to 12 hours before or
	// after it. SplitDays divides a shift that crosses this time between both days, and
	// SplitWeeks does so at the end of a week only. Otherwise a shift counts on the day on
	// which it begins.
	DayStart              int64
	SplitDays, SplitWeeks bool
	Tolerance             Tolerance
	// Credit is what the employee gets on a holiday, nil for nothing.
	Credit *Credit
	// RegularRate says that overtime is paid by the regular rate of the week; nil if it is not.
	RegularRate *RegularRate
	// FlagUnscheduled makes an exception of shifts that are not scheduled, and
	// FlagAbsence of scheduled ones that nobody worked.
	FlagUnscheduled, FlagAbsence bool
}

// Worked is how much of a day was worked, and how much of that counts towards the
// week: all but what is paid as overtime of the day.
type Worked struct{ All, Week int64 }

// Input is what is known of one employee.
type Input struct {
	// Punches ascend by time. Of those of one second an Out comes before an In, and an
	// In before what says neither.
	Punches []Punch
	// Schedule ascends by start.
	Schedule []Scheduled
	// Before is what was worked on days of the week whose shifts are not to be
	// calculated.
	Before map[civil.Date]Worked
	// Rule returns the pay rule of a day.
	Rule func(civil.Date) *Rule
	// Holiday reports whether a day is a holiday; nil without holidays.
	Holiday func(civil.Date) bool
	// Settled reports whether the time of a day is settled, and is in Before; nil if no day is.
	// Shifts of such days are only needed for the parts that count on later days.
	Settled func(civil.Date) bool
	// Excused says that an absence on a day is no exception.
	Excused func(civil.Date) bool
	// Now bounds what can be missing.
	Now int64
	// Edits are what is booked without punches; Work is all scheduled work of their days,
	// also what leave takes, by the clocks of the employee.
	Edits  []Edit
	Work   []Interval
	Clocks civil.Clocks
}

// Span is a part of a shift in one job, between two punches.
type Span struct {
	// Start and End are rounded. RawStart and RawEnd are the times of the punches, without
	// seconds if the rule cuts them.
	Start, End, RawStart, RawEnd int64
	// In and Out are positions in Input.Punches; -1 when there is none.
	In, Out int
	Job     string
	PayCode PayCode
}

// Item is worked time that is paid as one.
type Item struct {
	// Day is the day on which it counts: that of the shift, or a later one if the rule splits.
	Day        civil.Date
	Start, End int64
	Job        string
	PayCode    PayCode
}

// Shift is what is worked from a punch in to the last punch out that belongs to it.
type Shift struct {
	// Day is the day on which the shift begins, where it begins. The rule says when a day
	// begins.
	Day   civil.Date
	Spans []Span
	// Items are what is paid, without breaks; ascending.
	Items []Item
	// Deducted is how much was taken out for breaks.
	Deducted int64
	// Scheduled are the positions of the shifts in Input.Schedule of which this one is a
	// part, or which are parts of it; ascending.
	Scheduled []int
	// Running says that the employee is still at work.
	Running bool
}

// Fault is a kind of exception.
type Fault string

// Exceptions: what a supervisor looks at before time is paid.
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

// Exception is something that a supervisor looks at.
type Exception struct {
	Day   civil.Date
	Fault Fault
	// Punch is a position in Input.Punches, -1 when no punch is concerned.
	Punch int
	// Amount is by how much a punch differs from the schedule, or a shift exceeds the limit.
	Amount int64
}

// Repetition is a punch that was ignored because it repeats another one. Both are
// positions in Input.Punches.
type Repetition struct{ Punch, Of int }

// Result is what follows from an Input.
type Result struct {
	// Repeated ascend.
	Repeated []Repetition
	// Shifts ascend by start.
	Shifts     []Shift
	Exceptions []Exception
	Days       map[civil.Date]Worked
	// Booked is the time of each of Input.Edits.
	Booked []int64
}

// Calculate calculates what an employee worked. It changes nothing of the input.
func Calculate(in *Input) *Result {
	c := &calculation{in: in, out: &Result{Days: map[civil.Date]Worked{}}}
	c.pair()
	c.match()
	for i := range c.out.Shifts {
		c.round(&c.out.Shifts[i])
	}
	c.pay()
	c.except()
	c.book()
	return c.out
}

type calculation struct {
	in  *Input
	out *Result
}

// Key is what totals are added up by.
type Key struct {
	Day     civil.Date
	PayCode PayCode
	Job     string
}

// Totals adds up what is paid.
func (r *Result) Totals() map[Key]int64 {
	out := make(map[Key]int64, len(r.Shifts))
	for i := range r.Shifts {
		for _, item := range r.Shifts[i].Items {
			out[Key{item.Day, item.PayCode, item.Job}] += item.End - item.Start
		}
	}
	return out
}
