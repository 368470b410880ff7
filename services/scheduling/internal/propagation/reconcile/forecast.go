package reconcile

import (
	"context"
	"fmt"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/entryid"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/hiddenentry"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/span"
)

// Hypothesis is a change of the assignments of terms that is not stored.
type Hypothesis struct {
	// Ended are the ids of current assignments that the change ends or replaces.
	Ended []int64
	// Added are the new assignments, with ids that no other assignment has. Their terms pass on
	// patterns.
	Added []span.Assignment
	// Patterns are the patterns of Added that are not stored, by id.
	Patterns map[int64]*hiddenentry.Pattern
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

	resolver, unlocked span.Resolver
	series             int64
}

// firstFreeSeries is where the series of spans that are not stored begin. No database gets that far
// before its ids end.
const firstFreeSeries = entryid.MaxSeries - 1<<28

// Forecast returns the forecasts of employees, whose ids ascend. db must be a transaction with a
// snapshot.
func (f *Forecaster) Forecast(ctx context.Context, db pg.Querier, employeeIDs []int64, h *Hypothesis) ([]Forecast, error) {
	if err := f.state.Load(ctx, db, employeeIDs); err != nil {
		return nil, err
	}
	f.assume(h)
	f.series = firstFreeSeries
	out := make([]Forecast, len(employeeIDs))
	var edited []editedEmployee
	for i, employee := range employeeIDs {
		in, hidden := f.state.nextRows(employee), f.state.hidden.next(employee)
		out[i] = Forecast{EmployeeID: employee}
		if out[i].Err = f.resolve(&out[i], in, hidden); out[i].Err != nil {
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
	return out, hideAgain(ctx, db, edited, h)
}

// assume puts the assignments of the hypothesis in the place of the current ones of their terms.
func (f *Forecaster) assume(h *Hypothesis) {
	f.byTerm.reset()
	for _, term := range f.state.terms {
		for _, a := range f.state.byTerm.find(term) {
			if !slices.Contains(h.Ended, a.ID) {
				f.byTerm.add(term, a)
			}
		}
		for i := range h.Added {
			if h.Added[i].TermID == term {
				f.byTerm.add(term, h.Added[i])
			}
		}
	}
}

// resolve computes the spans of an employee. in has only the employee's own assignments.
func (f *Forecaster) resolve(out *Forecast, in span.Input, hidden []hiddenentry.Hide) error {
	own := in.Assignments
	in.Assignments = f.state.withTerms(own, in.Memberships, &f.state.byTerm)
	var err error
	if out.Without.Spans, _, err = f.expect(in, in.Current); err != nil {
		return err
	}
	in.Assignments = f.state.withTerms(own, in.Memberships, &f.byTerm)
	if out.With.Spans, out.Locked, err = f.expect(in, out.Without.Spans); err != nil {
		return err
	}
	removed, added := f.resolver.Diff(out.Without.Spans, out.With.Spans)
	out.Removed, out.Added = len(removed), len(added)
	if len(hidden) > 0 {
		ranges := appendChanged(appendChanged(nil, removed, added), added, removed)
		out.Detached = slices.ContainsFunc(hidden, func(h hiddenentry.Hide) bool {
			return slices.ContainsFunc(ranges, func(r civil.Range) bool { return r.Contains(h.Day) })
		})
	}
	return nil
}

// expect returns the spans of the input, which continue the series of the spans before. It also
// reports whether they would be different without locked days, as [Changes.checkLocked] does.
func (f *Forecaster) expect(in span.Input, before []span.Span) (spans []span.Span, locked bool, err error) {
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
	span.Carry(before, spans, in.Assignments)
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
	for i := range h.Added {
		lookup.Lineages[h.Added[i].ID] = h.Added[i].Lineage
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
