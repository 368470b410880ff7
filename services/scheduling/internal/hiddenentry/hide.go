package hiddenentry

import (
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rotation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/span"
)

// Entered is the generated entry that an item was created from, and that it hides.
type Entered struct {
	EmployeeID int64
	Day        civil.Date
	// LineageID is the lineage of the assignment that generated the entry.
	LineageID int64
	// PatternID, CycleDay (from 0) and Ordinal are the position of the entry in a pattern.
	PatternID int64
	CycleDay  int32
	Ordinal   uint8
}

// Slot is the place of a generated entry among the entries of its day.
type Slot struct{ Lane, Ordinal uint8 }

// Hide is an item with the generated entry that it hides.
type Hide struct {
	// ItemID is the id that the entry had. Series is the series of that id.
	ItemID, Series int64
	Entered
	Slot *Slot // nil while the entry is not generated

	// OwnerID and OwnDay are the employee and day of the item. OwnerID is 0 if the item is on no
	// employee's schedule.
	OwnerID int64
	OwnDay  civil.Date
	// Withdrawn reports whether the item is not shown; see Withdraw.
	Withdrawn bool
	// OfEmployee reports whether the entry came from a pattern of the employee and not of a term.
	// Terminated reports whether the employment is terminated on OwnDay.
	OfEmployee, Terminated bool
}

// Lookup has the lineages and patterns that spans refer to by id.
type Lookup struct {
	Lineages map[int64]int64 // of assignments, by id
	Patterns map[int64]*Pattern
}

// Resolve returns the slot of the hidden entry among the employee's spans. It returns nil if no
// span generates the entry: the assignment ended, is hidden by one that overrides, or belongs to a
// term that the employee left, or its pattern has no such entry on the day.
func (h *Hide) Resolve(spans []span.Span, l Lookup) *Slot {
	var s *span.Span
	for i := range spans {
		c := &spans[i]
		if !c.Days().Contains(h.Day) || l.Lineages[c.AssignmentID] != h.LineageID {
			continue
		}
		if s == nil || h.mayBeFrom(c) && (!h.mayBeFrom(s) || c.Series > s.Series) {
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

// mayBeFrom reports whether the id of the entry can be from a span. It is if no series of another
// span lies between.
func (h *Hide) mayBeFrom(s *span.Span) bool {
	return s.Series <= h.Series && h.Series < s.Series+rotation.MaxEntriesPerDay
}

// Equal reports whether two slots are the same. Both can be nil.
func (s *Slot) Equal(other *Slot) bool {
	if s == nil || other == nil {
		return s == other
	}
	return *s == *other
}

// Withdraw returns whether the item must not be shown. That is the case if the hidden entry is no
// longer generated and the employee has no employment term on the day of the item. An item from a
// pattern of the employee is withdrawn only while the employment is terminated. Items on locked
// days do not change.
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

// Columns returns the stored form of the slot, with nil for no slot.
func (s *Slot) Columns() (lane, ordinal *int16) {
	if s == nil {
		return nil, nil
	}
	l, o := int16(s.Lane), int16(s.Ordinal)
	return &l, &o
}

// Shift returns the slot on an employee's day in the form for services that keep a copy, or nil.
func (s *Slot) Shift(employeeID int64, day civil.Date) *schedulingv1.HiddenShift {
	if s == nil {
		return nil
	}
	return &schedulingv1.HiddenShift{EmployeeId: employeeID, Day: int32(day), Lane: int32(s.Lane), Ordinal: int32(s.Ordinal)}
}
