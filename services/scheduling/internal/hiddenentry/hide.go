package hiddenentry

import (
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rotation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/span"
)

// Entered is the generated entry that an item was made from, and that it hides.
type Entered struct {
	EmployeeID int64
	Day        civil.Date
	// LineageID is that of the assignment that generated the entry.
	LineageID int64
	// PatternID, CycleDay (from 0) and Ordinal are its position in a pattern.
	PatternID int64
	CycleDay  int32
	Ordinal   uint8
}

// Slot is where a generated entry stands among those of its day.
type Slot struct{ Lane, Ordinal uint8 }

// Hide is an item with what it hides.
type Hide struct {
	// ItemID is the id that the entry had; Series is that of the id.
	ItemID, Series int64
	Entered
	Slot *Slot // nil while the entry is not generated

	// OwnerID and OwnDay say whose schedule the item is on, and when; 0 for nobody's.
	OwnerID int64
	OwnDay  civil.Date
	// Withdrawn reports whether the item is not shown; see Withdraw.
	Withdrawn bool
	// OfEmployee reports whether the entry came from a pattern of the employee, and not of
	// a term, and Terminated whether the employment is terminated on OwnDay.
	OfEmployee, Terminated bool
}

// Lookup gives what spans only name.
type Lookup struct {
	Lineages map[int64]int64 // of assignments, by id
	Patterns map[int64]*Pattern
}

// Resolve returns the slot of what h hides among the employee's spans, or nil when
// none of them generates it: the assignment has ended, lies under another one that
// overrides, is that of a term that the employee has left, or its pattern has
// nothing of the kind on the day.
func (h *Hide) Resolve(spans []span.Span, l Lookup) *Slot {
	var s *span.Span
	for i := range spans {
		c := &spans[i]
		if !c.Days().Contains(h.Day) || l.Lineages[c.AssignmentID] != h.LineageID {
			continue
		}
		if s == nil || h.isOf(c) && (!h.isOf(s) || c.Series > s.Series) {
			s = c
		}
	}
	if s == nil {
		return nil
	}
	cycleDay := rotation.Position(s.From, s.Position, h.Day, s.DayCount)
	if s.PatternID == h.PatternID && cycleDay == h.CycleDay {
		return &Slot{Lane: s.Lane, Ordinal: h.Ordinal}
	}
	from, to := l.Patterns[h.PatternID], l.Patterns[s.PatternID]
	if from == nil || to == nil {
		return nil
	}
	if ordinal, ok := counterpart(from.day(h.CycleDay), h.Ordinal, to.day(cycleDay)); ok {
		return &Slot{Lane: s.Lane, Ordinal: ordinal}
	}
	return nil
}

// isOf reports whether the entry may have had its id from a span, as it has when no
// other span's series lies between.
func (h *Hide) isOf(s *span.Span) bool {
	return s.Series <= h.Series && h.Series < s.Series+rotation.MaxEntriesPerDay
}

// Equal reports whether two slots, which may be nil, are the same.
func (s *Slot) Equal(other *Slot) bool {
	if s == nil || other == nil {
		return s == other
	}
	return *s == *other
}

// Withdraw returns whether the item is not to be shown: it was made from an entry that the employee's employment
// generated, which is gone, and the employee is on no employment term on its day. What came from a pattern of the
// employee goes only while the employment is terminated. Locked days stay as they are.
func (h *Hide) Withdraw(slot *Slot, memberships []span.Membership, locks []civil.Range) bool {
	on := func(days civil.Range) bool { return days.Contains(h.OwnDay) }
	if slices.ContainsFunc(locks, on) {
		return h.Withdrawn
	}
	if h.OfEmployee {
		return h.OwnerID == h.EmployeeID && slot == nil && h.Terminated
	}
	return h.OwnerID == h.EmployeeID && slot == nil &&
		!slices.ContainsFunc(memberships, func(m span.Membership) bool { return on(m.Days) })
}

// Columns returns the slot as it is stored: nil for none.
func (s *Slot) Columns() (lane, ordinal *int16) {
	if s == nil {
		return nil, nil
	}
	l, o := int16(s.Lane), int16(s.Ordinal)
	return &l, &o
}

// Shift returns the slot of an employee's day as it is published to those who keep a
// copy; nil for none.
func (s *Slot) Shift(employeeID int64, day civil.Date) *schedulingv1.HiddenShift {
	if s == nil {
		return nil
	}
	return &schedulingv1.HiddenShift{EmployeeId: employeeID, Day: int32(day), Lane: int32(s.Lane), Ordinal: int32(s.Ordinal)}
}
