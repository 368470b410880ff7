package reconcile

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/entryid"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/hiddenentry"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rotation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulewarning"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/span"
)

// Hypothesis is a change of the assignments of terms or of employees that is not stored.
type Hypothesis struct {
	// Ended are the ids of current assignments that the change ends or replaces.
	Ended []int64
	// OfEmployees reports whether the owners of Added are employees and not terms.
	OfEmployees bool
	// Added are the new assignments by owner, with ids that no other assignment has. Their terms pass
	// on patterns.
	Added map[int64][]span.Assignment
	// Patterns are the patterns of Added that are not stored, by id.
	Patterns map[int64]*hiddenentry.Pattern
	// Cycles are the cycles of these patterns, by id.
	Cycles map[int64]*rotation.Pattern
	// Inherits has the new value for terms that begin or cease to pass on their patterns.
	Inherits map[int64]bool
	// RestoresFrom is the time of the change that an undo undoes, so that the spans that return get
	// their series back. It is nil for other changes.
	RestoresFrom *time.Time
}

// Outcome is the state of an employee's schedule that follows from assignments.
type Outcome struct {
	// Spans are ordered by first day and lane. Spans that are not stored have series that are not in
	// use.
	Spans []span.Span
	// Hides are the entries that were changed or deleted, with the slots that they hide in Spans.
	Hides []hiddenentry.Hide
}

// Forecast is an employee's schedule without and with a hypothesis, once all committed changes are
// applied.
type Forecast struct {
	EmployeeID    int64
	Without, With Outcome
	// Removed and Added count the spans that a worker would remove and add.
	Removed, Added int
	// Locked and Detached report days that the change would not reach, as in [Changes].
	Locked, Detached bool
	// ChangesSchedule reports whether the change alters the entries of a day.
	ChangesSchedule bool
	// Warnings are the reasons to look at the schedule with the change. Do not modify them.
	Warnings []schedulewarning.Warning
	// Err is the reason why the spans cannot be computed. Both outcomes are then empty.
	Err error
}

// IsChanged reports whether the change writes spans of the employee.
func (f *Forecast) IsChanged() bool { return f.Removed+f.Added > 0 }

// Forecaster computes forecasts of many employees, in batches, with the functions of the workers.
// It writes nothing. The zero value is ready to use. It is not safe for concurrent use.
type Forecaster struct {
	state  State
	byTerm list[span.Assignment]
	// begun are the assignments of terms that begin to pass on patterns.
	begun list[span.Assignment]
	// terminated are the days without employment of the owners of new assignments.
	terminated map[int64][]civil.Range

	resolver, unlocked span.Resolver
	series             int64
	warnings           warnings
}

// firstFreeSeries is where the series of spans that are not stored begin. No database gets that far
// before its ids end.
const firstFreeSeries = entryid.MaxSeries - 1<<28

// Forecast returns the forecasts of employees in the ascending order of their ids. db must be a
// transaction with a snapshot.
func (f *Forecaster) Forecast(ctx context.Context, db pg.Querier, employeeIDs []int64, h *Hypothesis) ([]Forecast, error) {
	f.state.restoresFrom = h.RestoresFrom
	if err := f.state.Load(ctx, db, employeeIDs); err != nil {
		return nil, err
	}
	if err := f.load(ctx, db, employeeIDs, h); err != nil {
		return nil, err
	}
	f.assume(h)
	f.series = firstFreeSeries
	out := make([]Forecast, len(employeeIDs))
	var edited []editedEmployee
	for i, employee := range employeeIDs {
		in, hidden, former := f.state.nextRows(employee), f.state.hidden.next(employee), f.state.former.next(employee)
		out[i] = Forecast{EmployeeID: employee}
		if out[i].Err = f.resolve(&out[i], in, hidden, former, h); out[i].Err != nil {
			out[i] = Forecast{EmployeeID: employee, Err: fmt.Errorf("propagation: employee %d: %w", employee, out[i].Err)}
			continue
		}
		if len(hidden) > 0 {
			for _, o := range []*Outcome{&out[i].Without, &out[i].With} {
				o.Hides = slices.Clone(hidden)
				edited = append(edited, editedEmployee{employee: employee, spans: o.Spans, hides: o.Hides, memberships: in.Memberships, locks: in.Locks})
			}
		}
	}
	if err := hideAgain(ctx, db, edited, h); err != nil {
		return nil, err
	}
	return out, f.findWarnings(ctx, db, out, h)
}

const readTerminations = `
SELECT id, terminated_from, terminated_to FROM employee WHERE tenant_id = $1 AND id = ANY($2) AND terminated_from IS NOT NULL`

// load reads the rows that the workers do not read: those that only a hypothesis needs.
func (f *Forecaster) load(ctx context.Context, db pg.Querier, employeeIDs []int64, h *Hypothesis) error {
	f.begun.reset()
	if len(h.Inherits) > 0 {
		rows, err := db.Query(ctx, readTermAssignments, tenant.Of(ctx), f.state.terms, false)
		if err == nil {
			err = scanAssignments(&f.begun)(rows)
		}
		if err != nil {
			return fmt.Errorf("propagation: read assignments: %w", err)
		}
	}
	f.terminated = map[int64][]civil.Range{}
	if !h.OfEmployees {
		return nil
	}
	var id int64
	var from, to []civil.Date
	err := pg.ForEach(ctx, db, []any{&id, &from, &to}, func() error {
		f.terminated[id] = joinRanges(from, to)
		return nil
	}, readTerminations, tenant.Of(ctx), employeeIDs)
	if err != nil {
		return fmt.Errorf("propagation: read terminations: %w", err)
	}
	return nil
}

// assume puts the assignments of the hypothesis in the place of the current ones of their terms.
func (f *Forecaster) assume(h *Hypothesis) {
	f.byTerm.reset()
	for _, term := range f.state.terms {
		current := f.state.byTerm.find(term)
		if inherits, changes := h.Inherits[term]; changes {
			current = nil
			if inherits {
				current = f.begun.find(term)
			}
		}
		for _, a := range current {
			if !slices.Contains(h.Ended, a.ID) {
				f.byTerm.add(term, a)
			}
		}
		if !h.OfEmployees {
			for _, a := range h.Added[term] {
				f.byTerm.add(term, a)
			}
		}
	}
}

// ownAssignments returns an employee's own assignments after the change.
func (f *Forecaster) ownAssignments(employee int64, own []span.Assignment, h *Hypothesis) []span.Assignment {
	if !h.OfEmployees {
		return own
	}
	changed := slices.DeleteFunc(slices.Clone(own), func(a span.Assignment) bool { return slices.Contains(h.Ended, a.ID) })
	for _, a := range h.Added[employee] {
		changed = append(changed, employedParts(a, f.terminated[employee])...)
	}
	return changed
}

// resolve computes the spans of an employee. in has only the employee's own assignments.
func (f *Forecaster) resolve(out *Forecast, in span.Input, hidden []hiddenentry.Hide, former []span.Span, h *Hypothesis) error {
	own := in.Assignments
	in.Assignments = f.state.withTerms(own, in.Memberships, &f.state.byTerm)
	var err error
	if out.Without.Spans, _, err = f.expect(in, in.Current, nil); err != nil {
		return err
	}
	in.Assignments = f.state.withTerms(f.ownAssignments(out.EmployeeID, own, h), in.Memberships, &f.byTerm)
	if out.With.Spans, out.Locked, err = f.expect(in, out.Without.Spans, former); err != nil {
		return err
	}
	removed, added := f.resolver.Diff(out.Without.Spans, out.With.Spans)
	out.Removed, out.Added = len(removed), len(added)
	ranges := appendChanged(appendChanged(nil, removed, added), added, removed)
	out.ChangesSchedule = len(ranges) > 0
	out.Detached = slices.ContainsFunc(hidden, func(h hiddenentry.Hide) bool {
		return slices.ContainsFunc(ranges, func(r civil.Range) bool { return r.Contains(h.Day) })
	})
	return nil
}

// expect returns the spans of the input, which continue the series of the spans before and, if they
// return, of former spans. It also
// reports whether they would be different without locked days, as [Changes.checkLocked] does.
func (f *Forecaster) expect(in span.Input, before, former []span.Span) (spans []span.Span, locked bool, err error) {
	resolved, err := f.resolver.Resolve(in)
	if err != nil {
		return nil, false, err
	}
	if len(in.Locks) > 0 {
		open := in
		open.Locks = nil
		unlocked, err := f.unlocked.Resolve(open)
		locked = err != nil || !slices.Equal(unlocked, resolved)
	}
	spans = slices.Clone(resolved)
	span.CarryBack(before, former, spans, in.Assignments)
	return spans, locked, span.Number(spans, in.Assignments, func(count int32) (int64, error) {
		first := f.series
		f.series += int64(count)
		return first, nil
	})
}

// hideAgain computes the slots of the hides in their spans, and whether their items are shown.
func hideAgain(ctx context.Context, db pg.Querier, edited []editedEmployee, h *Hypothesis) error {
	if len(edited) == 0 {
		return nil
	}
	lookup, err := lookUp(ctx, db, edited)
	if err != nil {
		return err
	}
	for _, added := range h.Added {
		for i := range added {
			lookup.Lineages[added[i].ID] = added[i].Lineage
		}
	}
	for id, pattern := range h.Patterns {
		lookup.Patterns[id] = pattern
	}
	for _, one := range edited {
		for i := range one.hides {
			hide := &one.hides[i]
			slot := hide.Resolve(one.spans, lookup)
			hide.Slot, hide.Withdrawn = slot, hide.Withdraw(slot, one.memberships, one.locks)
		}
	}
	return nil
}
