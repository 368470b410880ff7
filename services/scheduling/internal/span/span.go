// Package span resolves what an employee's pattern assignments mean: a pure function from assignments, memberships
// and locks to spans, which say everything that is generated for the employee, for all days, without writing down
// any of them.
package span

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rotation"
)

// MaxLanes is how many assignments can be visible on one day.
const MaxLanes = 16

var (
	// ErrTooManyLayers says that more assignments lie on one day than there are lanes.
	ErrTooManyLayers = errors.New("too many schedule patterns on one day")
	// ErrInvalid says that an assignment or a span cannot be right: its cycle has no day, or its lane does not exist.
	ErrInvalid = errors.New("invalid pattern assignment")
)

// Span is an interval of days on which one assignment generates entries.
type Span struct {
	From, To     civil.Date // the first day, and the first day after the last
	Position     int32      // cycle day on From, counted from 0
	DayCount     int32      // length of the pattern's cycle: what it takes to cut a span in two
	PatternID    int64
	AssignmentID int64
	Lane         uint8 // distinguishes the spans of one day, 0 to 15
	Inherited    bool  // from an employment term, which has assignments of its own ids
	// Series numbers what is generated, with the entries that follow the first of a day; 0 for a span that has no number
	// yet. See Carry.
	Series int64
}

// Days returns the days of s.
func (s Span) Days() civil.Range { return civil.Range{From: s.From, To: s.To} }

// Run returns s in the form from which its pattern expands it.
func (s Span) Run() rotation.Run { return rotation.Run{Days: s.Days(), Position: s.Position} }

// cut returns the part of s inside of days, which must overlap with it.
func (s Span) cut(days civil.Range) Span {
	days = days.Intersect(s.Days())
	s.Position = rotation.Position(s.From, s.Position, days.From, s.DayCount)
	s.From, s.To = days.From, days.To
	return s
}

// continues reports whether b generates from its first day on what a would generate if it went on, under ids that fit.
func continues(a, b Span) bool {
	return a.To == b.From && a.Lane == b.Lane && a.AssignmentID == b.AssignmentID && sameRotation(&a, &b) &&
		(a.Series == b.Series || a.Series == 0 || b.Series == 0)
}

// compare orders spans by first day and lane, and spans that share both, which no resolved schedule has, by all the rest.
func compare(a, b Span) int {
	if c := cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Lane, b.Lane)); c != 0 {
		return c
	}
	return cmp.Or(
		cmp.Compare(a.To, b.To), cmp.Compare(a.AssignmentID, b.AssignmentID), cmp.Compare(a.PatternID, b.PatternID),
		cmp.Compare(a.Position, b.Position), cmp.Compare(a.DayCount, b.DayCount), compareBool(a.Inherited, b.Inherited),
		cmp.Compare(a.Series, b.Series),
	)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}

// Assignment puts a pattern on an employment term or on the employee.
type Assignment struct {
	ID, Seq   int64 // later assignments have the higher Seq
	TermID    int64 // the employment term, or 0 for the employee's own
	From, To  civil.Date
	PatternID int64
	DayCount  int32      // length of the pattern's cycle, at least 1
	Anchor    civil.Date // where the cycle begins; see rotation.Position
	Offset    int32
	Override  bool  // replaces what lies below on its days, even where its own cycle is blank
	Lane      uint8 // the lane chosen when it was made; see LaneFor
	// Lineage is the id of the first of the assignments that came from one another, or 0.
	Lineage int64
	// EntriesPerDay is how many series a span draws: the most entries, or segments, on a day of
	// the pattern; 0 when it is not known.
	EntriesPerDay int32
}

// Days returns the days of a.
func (a *Assignment) Days() civil.Range { return civil.Range{From: a.From, To: a.To} }

func (a *Assignment) own() bool { return a.TermID == 0 }

func (a *Assignment) check() error {
	if a.DayCount < 1 || a.Lane >= MaxLanes {
		return fmt.Errorf("%w %d: %d days, lane %d", ErrInvalid, a.ID, a.DayCount, a.Lane)
	}
	return nil
}

// before orders assignments as they are laid over one another: those of terms below the employee's own, and each kind by
// age.
func before(a, b *Assignment) int {
	return cmp.Or(compareBool(a.own(), b.own()), cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.ID, b.ID))
}

// Membership is a time in which the employee belongs to an employment term.
type Membership struct {
	TermID int64
	Days   civil.Range
	// Inherits reports whether the term passes its patterns on. A membership without it has no effect.
	Inherits bool
}
