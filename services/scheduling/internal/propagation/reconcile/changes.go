package reconcile

import (
	"fmt"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/hiddenentry"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rotation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleevent"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/span"
)

// Changes has the changes of spans to write, as columns for the database.
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
	employees []int64     // with a changed schedule, ascending
	days      civil.Range // from the first to the last changed day
	// Employees with skipped days.
	Locked, Detached []int64
	// Failed are the employees whose spans could not be computed, ascending. Failures are the
	// errors at the same positions.
	Failed   []int64
	Failures []error
	// published are all spans of the employees with changed spans.
	published scheduleevent.Spans
	// edited are the employees with changed entries.
	edited []editedEmployee

	// changed are the employees with changed schedules, and kept their spans.
	changed  []changedEmployee
	kept     []span.Span
	warnings warnings
	findings findings

	resolver, unlocked span.Resolver
	ranges             []civil.Range
}

// editedEmployee is an employee with changed entries, and the expected spans.
type editedEmployee struct {
	employee    int64
	spans       []span.Span
	hides       []hiddenentry.Hide
	memberships []span.Membership
	locks       []civil.Range
	// withdrawn are the days of the entries that the change hides; see UpdateHidden.
	withdrawn []civil.Date
}

// Compute fills c with the changes of employees. Their ids ascend. takeSeries allocates the series
// of new spans.
func (c *Changes) Compute(s *State, employeeIDs []int64, takeSeries func(count int32) (int64, error)) error {
	c.reset()
	for _, employee := range employeeIDs {
		in := s.next(employee)
		hidden, former := s.hidden.next(employee), s.former.next(employee)
		expected, err := c.resolver.Resolve(in)
		if err != nil {
			// An error must not hold up the changes of other employees.
			c.Failed = append(c.Failed, employee)
			c.Failures = append(c.Failures, fmt.Errorf("propagation: employee %d: %w", employee, err))
			continue
		}
		if len(in.Locks) > 0 {
			c.checkLocked(employee, in, expected)
		}
		span.CarryBack(in.Current, former, expected, in.Assignments)
		if err := span.Number(expected, in.Assignments, takeSeries); err != nil {
			return fmt.Errorf("propagation: employee %d: %w", employee, err)
		}
		if removed, added := c.resolver.Diff(in.Current, expected); len(removed)+len(added) > 0 {
			if c.add(employee, removed, added, hidden) {
				c.keep(employee, in.Current, expected)
			}
			c.published.Add(employee, expected)
		}
		if len(hidden) > 0 {
			c.edited = append(c.edited, editedEmployee{
				employee: employee, spans: slices.Clone(expected), hides: hidden, memberships: in.Memberships, locks: in.Locks,
			})
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
	c.changed, c.kept = c.changed[:0], c.kept[:0]
	c.findings.reset()
}

// checkLocked records an employee whose spans would be different without the locked days, or could
// not be computed.
func (c *Changes) checkLocked(employee int64, in span.Input, expected []span.Span) {
	locks := in.Locks
	in.Locks = nil
	unlocked, err := c.unlocked.Resolve(in)
	if err == nil && slices.Equal(unlocked, expected) {
		return
	}
	c.Locked = append(c.Locked, employee)
	skipped := slices.Clone(locks)
	if err == nil {
		skipped = appendChanged(appendChanged(nil, expected, unlocked), unlocked, expected)
	}
	c.addSkipped(employee, propagation.ReasonLocked, civil.Normalise(skipped))
}

// add adds the changed spans of an employee, and reports whether the schedule changes.
func (c *Changes) add(employee int64, removed, added []span.Span, hidden []hiddenentry.Hide) bool {
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
	if days := detachedDays(hidden, c.ranges); len(days) > 0 {
		c.Detached = append(c.Detached, employee)
		c.addSkipped(employee, propagation.ReasonDetached, days)
	}
	return len(c.ranges) > 0
}

// ChangedEmployees returns the employees whose schedules changed, ascending.
func (c *Changes) ChangedEmployees() []int64 { return c.employees }

// appendChanged appends the days of spans where no other span generates the same entries. If a span
// only becomes shorter, these are the days that it loses.
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

// generatesSame reports whether two spans generate the same entries on their common days.
func generatesSame(a, b span.Span) bool {
	return a.Lane == b.Lane && a.AssignmentID == b.AssignmentID && a.Inherited == b.Inherited &&
		a.PatternID == b.PatternID && a.DayCount == b.DayCount &&
		b.Position == rotation.Position(a.From, a.Position, b.From, a.DayCount)
}
