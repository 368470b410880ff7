// Package span resolves the pattern assignments of an employee. It is a pure function from
// assignments, memberships and locks to spans. Spans describe all generated entries of the employee
// on all days, without storing any entry.
package span

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rotation"
)

// MaxLanes is the largest number of assignments that are visible on one day.
const MaxLanes = 16

var (
	// ErrTooManyLayers reports more assignments on one day than there are lanes.
	ErrTooManyLayers = errors.New("too many schedule patterns on one day")
	// ErrInvalid reports an invalid assignment or span: its cycle has no days, or its lane does not
	// exist.
	ErrInvalid = errors.New("invalid pattern assignment")
)

// Span is a range of days when one assignment generates entries.
type Span struct {
	From, To     civil.Date // the first day, and the first day after the last
	Position     int32      // cycle day on From, counted from 0
	DayCount     int32      // length of the pattern's cycle, needed to cut a span in two
	PatternID    int64
	AssignmentID int64
	Lane         uint8 // distinguishes the spans of one day, 0 to 15
	Inherited    bool  // from an employment term; the ids of its assignments are separate
	// Series numbers the generated entries; their ids are derived from it. The further entries of a
	// day use the numbers after it. It is 0 before a number is assigned; see Carry.
	Series int64
}

// Days returns the days of s.
func (s Span) Days() civil.Range { return civil.Range{From: s.From, To: s.To} }

// Run returns s in the form that its pattern expands.
func (s Span) Run() rotation.Run { return rotation.Run{Days: s.Days(), Position: s.Position} }

// cut returns the part of s inside of days, which must overlap it.
func (s Span) cut(days civil.Range) Span {
	days = days.Intersect(s.Days())
	s.Position = rotation.Position(s.From, s.Position, days.From, s.DayCount)
	s.From, s.To = days.From, days.To
	return s
}

// continues reports whether b continues a without a gap: the same entries under compatible ids.
func continues(a, b Span) bool {
	return a.To == b.From && a.Lane == b.Lane && a.AssignmentID == b.AssignmentID && sameRotation(&a, &b) &&
		(a.Series == b.Series || a.Series == 0 || b.Series == 0)
}

// compare orders spans by first day and lane, and then by all other fields. In a resolved schedule,
// no two spans share first day and lane.
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

// Assignment assigns a pattern to an employment term or to the employee.
type Assignment struct {
	ID, Seq   int64 // later assignments have the higher Seq
	TermID    int64 // the employment term, or 0 for the employee's own
	From, To  civil.Date
	PatternID int64
	DayCount  int32      // length of the pattern's cycle, at least 1
	Anchor    civil.Date // the start of the cycle; see rotation.Position
	Offset    int32
	Override  bool  // hides the layers below on its days, even on blank days of its own cycle
	Lane      uint8 // the lane chosen when it was created; see LaneFor
	// Lineage is the id of the first assignment in a chain of replacements, or 0.
	Lineage int64
	// EntriesPerDay is the number of series that a span needs: the largest number of entries or
	// segments on a day of the pattern; 0 if unknown.
	EntriesPerDay int32
}

// Days returns the days of a.
func (a *Assignment) Days() civil.Range { return civil.Range{From: a.From, To: a.To} }

func (a *Assignment) isOwn() bool { return a.TermID == 0 }

func (a *Assignment) check() error {
	if a.DayCount < 1 || a.Lane >= MaxLanes {
		return fmt.Errorf("%w %d: %d days, lane %d", ErrInvalid, a.ID, a.DayCount, a.Lane)
	}
	return nil
}

// compareLayers orders assignments by layer: assignments of terms below the employee's own, and
// each kind by age.
func compareLayers(a, b *Assignment) int {
	return cmp.Or(compareBool(a.isOwn(), b.isOwn()), cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.ID, b.ID))
}

// Membership is a range of days when the employee belongs to an employment term.
type Membership struct {
	TermID int64
	Days   civil.Range
	// Inherits reports whether the term passes on its patterns. Otherwise the membership has no
	// effect.
	Inherits bool
}
