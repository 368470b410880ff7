package reconcile

import (
	"fmt"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/hiddenentry"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rotation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleevent"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/span"
)

// Changes is what must be written to bring employees up to date, in columns as
// the database takes them.
type Changes struct {
	removed struct {
		employees []int64
		lanes     []int16
		from      []civil.Date
	}
	added struct {
		employees, patterns, assignments []int64
		lanes                            []int16
		from, to                         []civil.Date
		positions, dayCounts             []int32
		inherited                        []bool
		series                           []int64
	}
	employees []int64     // whose schedule changes, ascending
	days      civil.Range // from the first to the last changed day
	// Employees for whom days were left alone.
	Locked, Detached []int64
	// Failed are the employees whose spans cannot be computed, ascending, and Failures
	// the reasons at the same positions.
	Failed   []int64
	Failures []error
	// published are all spans of those whose spans change.
	published scheduleevent.Spans
	// edited are the employees for whom people changed entries.
	edited []editedEmployee

	resolver, unlocked span.Resolver
	ranges             []civil.Range
}

// editedEmployee is an employee for whom people changed entries, with the wanted spans.
type editedEmployee struct {
	spans       []span.Span
	hides       []hiddenentry.Hide
	memberships []span.Membership
	locks       []civil.Range
}

// Compute fills c with the changes for employees, whose ids ascend. New spans get
// the series that take draws.
func (c *Changes) Compute(s *State, employeeIDs []int64, take func(count int32) (int64, error)) error {
	c.reset()
	for _, employee := range employeeIDs {
		in := s.next(employee)
		hidden := s.hidden.next(employee)
		wanted, err := c.resolver.Resolve(in)
		if err != nil {
			// It keeps nobody else from what is new.
			c.Failed = append(c.Failed, employee)
			c.Failures = append(c.Failures, fmt.Errorf("propagation: employee %d: %w", employee, err))
			continue
		}
		if len(in.Locks) > 0 {
			c.noteLocked(employee, in, wanted)
		}
		span.Carry(in.Current, wanted, in.Assignments)
		if err := span.Number(wanted, in.Assignments, take); err != nil {
			return fmt.Errorf("propagation: employee %d: %w", employee, err)
		}
		if removed, added := c.resolver.Diff(in.Current, wanted); len(removed)+len(added) > 0 {
			c.add(employee, removed, added, hidden)
			c.published.Add(employee, wanted)
		}
		if len(hidden) > 0 {
			c.edited = append(c.edited, editedEmployee{slices.Clone(wanted), hidden, in.Memberships, in.Locks})
		}
	}
	return nil
}

func (c *Changes) reset() {
	c.published.Reset()
	c.removed.employees, c.removed.lanes, c.removed.from = c.removed.employees[:0], c.removed.lanes[:0], c.removed.from[:0]
	a := &c.added
	a.employees, a.patterns, a.assignments = a.employees[:0], a.patterns[:0], a.assignments[:0]
	a.lanes, a.inherited, a.series = a.lanes[:0], a.inherited[:0], a.series[:0]
	c.edited = c.edited[:0]
	a.from, a.to, a.positions, a.dayCounts = a.from[:0], a.to[:0], a.positions[:0], a.dayCounts[:0]
	c.employees, c.days, c.Locked, c.Detached = c.employees[:0], civil.Range{}, c.Locked[:0], c.Detached[:0]
	c.Failed, c.Failures = c.Failed[:0], c.Failures[:0]
}

// noteLocked notes an employee who would have got something else without the
// locked days, or nothing that can be shown.
func (c *Changes) noteLocked(employee int64, in span.Input, wanted []span.Span) {
	in.Locks = nil
	if free, err := c.unlocked.Resolve(in); err != nil || !slices.Equal(free, wanted) {
		c.Locked = append(c.Locked, employee)
	}
}

func (c *Changes) add(employee int64, removed, added []span.Span, hidden []hiddenentry.Hide) {
	for i := range removed {
		r := &c.removed
		r.employees, r.lanes = append(r.employees, employee), append(r.lanes, int16(removed[i].Lane))
		r.from = append(r.from, removed[i].From)
	}
	for i := range added {
		a, s := &c.added, &added[i]
		a.employees, a.patterns = append(a.employees, employee), append(a.patterns, s.PatternID)
		a.assignments, a.lanes = append(a.assignments, s.AssignmentID), append(a.lanes, int16(s.Lane))
		a.from, a.to = append(a.from, s.From), append(a.to, s.To)
		a.positions, a.dayCounts = append(a.positions, s.Position), append(a.dayCounts, s.DayCount)
		a.inherited, a.series = append(a.inherited, s.Inherited), append(a.series, s.Series)
	}
	c.ranges = appendChanged(appendChanged(c.ranges[:0], removed, added), added, removed)
	if len(c.ranges) > 0 {
		c.employees = append(c.employees, employee)
	}
	for _, r := range c.ranges {
		if c.days.Empty() {
			c.days = r
		}
		c.days = civil.Range{From: min(c.days.From, r.From), To: max(c.days.To, r.To)}
	}
	if slices.ContainsFunc(hidden, func(h hiddenentry.Hide) bool {
		return slices.ContainsFunc(c.ranges, func(r civil.Range) bool { return r.Contains(h.Day) })
	}) {
		c.Detached = append(c.Detached, employee)
	}
}

// appendChanged appends the days of spans on which no span of others generates
// the same: a span that only becomes shorter changes the days that it loses.
func appendChanged(dst []civil.Range, spans, others []span.Span) []civil.Range {
	var same []civil.Range
	for _, s := range spans {
		same = same[:0]
		for _, o := range others {
			if generatesSame(s, o) {
				same = append(same, s.Days().Intersect(o.Days()))
			}
		}
		dst = civil.AppendDifference(dst, []civil.Range{s.Days()}, civil.Normalise(same))
	}
	return dst
}

// generatesSame reports whether two spans generate the same entries on the days
// that they share.
func generatesSame(a, b span.Span) bool {
	return a.Lane == b.Lane && a.AssignmentID == b.AssignmentID && a.Inherited == b.Inherited &&
		a.PatternID == b.PatternID && a.DayCount == b.DayCount &&
		b.Position == rotation.Position(a.From, a.Position, b.From, a.DayCount)
}
