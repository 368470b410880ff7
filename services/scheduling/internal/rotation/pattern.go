// Package rotation is the arithmetic of repeating patterns: which entries a cycle of days puts on a date.
//
// A [Pattern] is compiled once and never changes. Nothing in here knows employees, terms or templates: entries
// carry a number that means something to whoever compiled the pattern.
package rotation

import (
	"errors"
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/civil"
)

const (
	// DefaultMaxDays is the usual longest cycle: 52 weeks.
	DefaultMaxDays = 364
	// MaxEntriesPerDay is how many entries, of all kinds together, a cycle day may hold.
	MaxEntriesPerDay = 16
	// MaxEntrySeconds is the longest time on the clock face that an entry may take: a week. It keeps small what a
	// reader must look back for entries that reach into its window.
	MaxEntrySeconds = 7 * civil.SecondsPerDay
)

// Why a pattern is refused. All but the first two come wrapped in an [ItemError].
var (
	ErrDayCount       = errors.New("the cycle has too few or too many days")
	ErrNoEntries      = errors.New("the pattern has no entry")
	ErrDay            = errors.New("the day is outside of the cycle")
	ErrTooManyEntries = errors.New("the cycle day has too many entries")
	ErrKind           = errors.New("the entry has no known kind")
	ErrStart          = errors.New("the entry does not start on its day")
	ErrEnd            = errors.New("the entry does not end after its start, or ends too late")
)

// ItemError says which of the items given to [New] is wrong.
type ItemError struct {
	Index int // position in the items given
	Day   int32
	Err   error // one of the errors of this package
}

// Error names the item and the reason.
func (e *ItemError) Error() string { return fmt.Sprintf("item %d, day %d: %v", e.Index, e.Day, e.Err) }

// Unwrap returns the reason.
func (e *ItemError) Unwrap() error { return e.Err }

// Kind is what an entry becomes in a schedule.
type Kind uint8

// The kinds of entries. Zero is none of them.
const (
	Shift Kind = iota + 1
	PayCodeEdit
	Availability
	ScheduleTag
)

// Item is one entry of a pattern before it is compiled.
type Item struct {
	Day      int32 // 1 to the day count
	Kind     Kind
	StartSec int32 // wall-clock seconds after the midnight that begins the day, less than a day
	EndSec   int32 // as StartSec; after it, and past a day when the entry ends on a later day
	Template int32 // whatever the caller finds its template by
}

// Entry is one entry of a cycle day.
type Entry struct {
	StartSec int32 // wall-clock seconds after the midnight that begins the day, less than a day
	EndSec   int32 // as StartSec; more than a day when the entry ends on a later day
	Template int32 // as in the [Item]
	Ordinal  uint8 // position among all entries of its cycle day, whatever their kind, 0 to 15
	Kind     Kind
}

// Pattern is a compiled cycle. It is immutable and may be shared.
type Pattern struct {
	entries  []Entry // of all cycle days, in their order
	first    []int32 // index of each cycle day's first entry; one more at the end
	maxReach int32
}

// New compiles a pattern of dayCount days, of which there may be up to maxDays ([DefaultMaxDays] where the caller
// has no setting). Items of the same day keep their order, which decides the ordinals and so the identity of what
// they generate: give the items of a stored pattern always in the same order.
//
// Errors are [ErrDayCount], [ErrNoEntries], or an *[ItemError] for the first item that is wrong.
func New(dayCount, maxDays int32, items []Item) (*Pattern, error) {
	if dayCount < 1 || dayCount > maxDays {
		return nil, fmt.Errorf("%w: %d, allowed are 1 to %d", ErrDayCount, dayCount, maxDays)
	}
	if len(items) == 0 {
		return nil, ErrNoEntries
	}
	perDay := make([]int32, dayCount)
	for i, item := range items {
		if err := item.check(dayCount); err != nil {
			return nil, &ItemError{Index: i, Day: item.Day, Err: err}
		}
		if perDay[item.Day-1]++; perDay[item.Day-1] > MaxEntriesPerDay {
			return nil, &ItemError{Index: i, Day: item.Day, Err: ErrTooManyEntries}
		}
	}
	p := &Pattern{entries: make([]Entry, len(items)), first: make([]int32, dayCount+1)}
	for day, n := range perDay {
		p.first[day+1] = p.first[day] + n
	}
	placed := make([]int32, dayCount)
	for _, item := range items {
		day := item.Day - 1
		p.entries[p.first[day]+placed[day]] = Entry{
			StartSec: item.StartSec, EndSec: item.EndSec, Template: item.Template, Kind: item.Kind, Ordinal: uint8(placed[day]),
		}
		placed[day]++
		p.maxReach = max(p.maxReach, (item.EndSec-1)/civil.SecondsPerDay)
	}
	return p, nil
}

func (i Item) check(dayCount int32) error {
	switch {
	case i.Day < 1 || i.Day > dayCount:
		return ErrDay
	case i.Kind < Shift || i.Kind > ScheduleTag:
		return ErrKind
	case i.StartSec < 0 || i.StartSec >= civil.SecondsPerDay:
		return ErrStart
	case i.EndSec <= i.StartSec || int64(i.EndSec) > int64(i.StartSec)+MaxEntrySeconds:
		return ErrEnd
	default:
		return nil
	}
}

// DayCount returns the length of the cycle in days.
func (p *Pattern) DayCount() int32 { return int32(len(p.first) - 1) }

// Day returns the entries of a cycle day, 0 being the first, in the order of their ordinals. It is a view: do not
// write to it. A position outside of the cycle has none.
func (p *Pattern) Day(position int32) []Entry {
	if position < 0 || position >= p.DayCount() {
		return nil
	}
	return p.entries[p.first[position]:p.first[position+1]]
}

// Position returns which day of its cycle, counted from 0, a pattern of dayCount days has on a date, when it has its
// day number offset (again counted from 0) on the anchor. The anchor is the pattern's own start date if it has one, and
// the start of its assignment otherwise; a positive offset starts that many days later inside the cycle. Dates before
// the anchor count backwards. A dayCount below 1 has only position 0.
func Position(anchor civil.Date, offset int32, date civil.Date, dayCount int32) int32 {
	if dayCount < 1 {
		return 0
	}
	position := (int64(date) - int64(anchor) + int64(offset)) % int64(dayCount)
	if position < 0 {
		position += int64(dayCount)
	}
	return int32(position)
}

// Position returns the position of p on a date; see the function [Position].
func (p *Pattern) Position(anchor civil.Date, offset int32, date civil.Date) int32 {
	return Position(anchor, offset, date, p.DayCount())
}
