// Package rotation computes repeating patterns: the entries of a cycle of days on a date.
//
// A [Pattern] is compiled once and never changes. The package knows no employees, terms or
// templates: entries have a number that the compiler of the pattern interprets.
package rotation

import (
	"errors"
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/civil"
)

const (
	// DefaultMaxDays is the default limit of a cycle: 52 weeks.
	DefaultMaxDays = 364
	// MaxEntriesPerDay is the largest number of entries of all kinds on a cycle day.
	MaxEntriesPerDay = 16
	// MaxEntrySeconds is the longest duration of an entry on the clock: a week. It limits how far
	// back readers search for entries that reach into their window.
	MaxEntrySeconds = 7 * civil.SecondsPerDay
)

// The reasons why a pattern is invalid. All but the first two are wrapped in an [ItemError].
var (
	ErrDayCount       = errors.New("the cycle has too few or too many days")
	ErrNoEntries      = errors.New("the pattern has no entries")
	ErrDay            = errors.New("the day is outside of the cycle")
	ErrTooManyEntries = errors.New("the cycle day has too many entries")
	ErrKind           = errors.New("the entry has no known kind")
	ErrStart          = errors.New("the entry does not start on its day")
	ErrEnd            = errors.New("the entry does not end after its start, or ends too late")
)

// ItemError reports an invalid item of a call of [New].
type ItemError struct {
	Index int // position in the argument of New
	Day   int32
	Err   error // one of the errors of this package
}

// Error returns the position of the item and the reason.
func (e *ItemError) Error() string { return fmt.Sprintf("item %d, day %d: %v", e.Index, e.Day, e.Err) }

// Unwrap returns the reason.
func (e *ItemError) Unwrap() error { return e.Err }

// Kind is the kind of an entry in a schedule.
type Kind uint8

// The kinds of entries. Zero is not a kind.
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
	EndSec   int32 // like StartSec; after it, and more than a day if the entry ends on a later day
	Template int32 // the caller's number of the template
}

// Entry is one entry of a cycle day.
type Entry struct {
	StartSec int32 // wall-clock seconds after the midnight that begins the day, less than a day
	EndSec   int32 // like StartSec; more than a day if the entry ends on a later day
	Template int32 // as in the [Item]
	Ordinal  uint8 // position among all entries of its cycle day, of any kind, 0 to 15
	Kind     Kind
}

// Pattern is a compiled cycle. It is immutable, and safe for concurrent use.
type Pattern struct { // of all cycle days, in order
	entries  []Entry // of all cycle days, in their order
	first    []int32 // index of each cycle day's first entry, and one more at the end
	maxReach int32
}

// New compiles a pattern of dayCount days, at most maxDays. Without a setting, use
// [DefaultMaxDays]. Items of the same day keep their order, which determines the ordinals and so
// the identity of generated entries. Always pass the items of a stored pattern in the same order.
//
// Errors are [ErrDayCount], [ErrNoEntries], or an *[ItemError] for the first invalid item.
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

// Day returns the entries of a cycle day, counted from 0, in the order of their ordinals. It is a
// view; do not modify it. A position outside of the cycle has no entries.
func (p *Pattern) Day(position int32) []Entry {
	if position < 0 || position >= p.DayCount() {
		return nil
	}
	return p.entries[p.first[position]:p.first[position+1]]
}

// Position returns the cycle day, counted from 0, of a pattern with dayCount days on a date. The
// cycle has day offset, also counted from 0, on the anchor. The anchor is the pattern's own start
// date if it has one, or else the start of its assignment; a positive offset starts that many days
// later in the cycle. Dates before the anchor count backwards. If dayCount is below 1, the only
// position is 0.
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
