package schedulepreview

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/hiddenentry"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation/reconcile"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/proposal"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rotation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/window"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulewarning"
)

// computation computes the effect of a proposal in a snapshot. Its memory does not grow with the
// number of employees.
type computation struct {
	tx         pgx.Tx
	reader     *reading.Reader
	days       civil.Range
	hypothesis reconcile.Hypothesis
	unstored   *reading.UnstoredPatterns
	forecaster reconcile.Forecaster
}

func newComputation(tx pgx.Tx, reader *reading.Reader, days civil.Range, p *proposal.Proposal) (*computation, error) {
	c := &computation{
		tx: tx, reader: reader.In(tx), days: days, unstored: reading.NewUnstoredPatterns(p.Patterns),
		hypothesis: reconcile.Hypothesis{
			Ended: p.Ended, OfEmployees: p.OfEmployees(), Added: p.Added, Patterns: map[int64]*hiddenentry.Pattern{},
			Cycles: map[int64]*rotation.Pattern{}, Inherits: p.Inherits, RestoresFrom: p.RestoresFrom,
		},
	}
	for id, pattern := range p.Patterns {
		compiled, err := hiddenentry.Compile(pattern)
		if err != nil {
			return nil, fmt.Errorf("schedulepreview: compile pattern: %w", err)
		}
		c.hypothesis.Patterns[id] = compiled
		if len(pattern.GetItems()) == 0 {
			continue
		}
		expanded, err := window.Compile(pattern, false)
		if err != nil {
			return nil, fmt.Errorf("schedulepreview: compile pattern: %w", err)
		}
		c.hypothesis.Cycles[id] = expanded.Cycle
	}
	return c, nil
}

// employeeChange is the schedule of an employee without and with a change.
type employeeChange struct {
	*reconcile.Forecast
	// before and after are the shifts of the window, by day and time.
	before, after []reading.PlannedShift
}

// computeEach computes the schedules of employees in the ascending order of their ids, and calls add
// for each of them. The argument of add is valid until it returns.
func (c *computation) computeEach(ctx context.Context, employeeIDs []int64, add func(*employeeChange) error) error {
	for batch := range slices.Chunk(employeeIDs, batchEmployees) {
		forecasts, err := c.forecaster.Forecast(ctx, c.tx, batch, &c.hypothesis)
		if err != nil {
			return err
		}
		comparison, err := c.reader.Compare(ctx, batch, c.days, c.unstored)
		if err != nil {
			return err
		}
		before, err := readShifts(ctx, comparison, forecasts, func(f *reconcile.Forecast) *reconcile.Outcome { return &f.Without })
		if err != nil {
			return err
		}
		after, err := readShifts(ctx, comparison, forecasts, func(f *reconcile.Forecast) *reconcile.Outcome { return &f.With })
		if err != nil {
			return err
		}
		for i := range forecasts {
			if err := add(&employeeChange{Forecast: &forecasts[i], before: before[i], after: after[i]}); err != nil {
				return err
			}
		}
	}
	return nil
}

// readShifts returns the shifts of an outcome of each employee. Most employees of a term have the
// same spans: their shifts are computed once, and share one list.
func readShifts(ctx context.Context, comparison *reading.Comparison, forecasts []reconcile.Forecast, outcome func(*reconcile.Forecast) *reconcile.Outcome) ([][]reading.PlannedShift, error) {
	var computed []reading.Alternative
	source := make([]int, len(forecasts)) // the index in computed
	known := map[string]int{}
	var key []byte
	for i := range forecasts {
		o := outcome(&forecasts[i])
		a := reading.Alternative{EmployeeID: forecasts[i].EmployeeID, Spans: o.Spans, Hides: o.Hides}
		shared := comparison.AppendKey(key[:0], &a)
		at, found := known[string(shared)]
		if shared == nil || !found {
			at = len(computed)
			computed = append(computed, a)
		}
		if shared != nil {
			known[string(shared)], key = at, shared
		}
		source[i] = at
	}
	list, err := comparison.Shifts(ctx, computed)
	if err != nil {
		return nil, err
	}
	byComputed := make([][]reading.PlannedShift, len(computed))
	for i := range computed {
		byComputed[i], list = cutEmployee(list, computed[i].EmployeeID)
	}
	out := make([][]reading.PlannedShift, len(forecasts))
	for i := range forecasts {
		out[i] = byComputed[source[i]]
	}
	return out, nil
}

// cutEmployee returns the shifts of an employee at the beginning of a list, and the rest.
func cutEmployee(list []reading.PlannedShift, employeeID int64) (own, rest []reading.PlannedShift) {
	n := 0
	for n < len(list) && list[n].EmployeeID == employeeID {
		n++
	}
	return list[:n:n], list[n:]
}

// totals sums up the effect of a change.
type totals struct {
	employees, changed, added, removed int64
	shifts                             shiftChanges
	secondsBefore, secondsAfter        int64
	locked, detached                   int64
	warnings                           schedulewarning.Summaries
}

func (t *totals) add(e *employeeChange) error {
	t.employees++
	if e.IsChanged() {
		t.changed++
	}
	t.warnings.Add(e.EmployeeID, e.ChangesSchedule, e.Warnings)
	t.added, t.removed = t.added+int64(e.Added), t.removed+int64(e.Removed)
	if e.Locked {
		t.locked++
	}
	if e.Detached {
		t.detached++
	}
	c := compareShifts(e.before, e.after)
	t.shifts.added, t.shifts.removed, t.shifts.changed = t.shifts.added+c.added, t.shifts.removed+c.removed, t.shifts.changed+c.changed
	for i := range e.before {
		t.secondsBefore += e.before[i].Seconds
	}
	for i := range e.after {
		t.secondsAfter += e.after[i].Seconds
	}
	return nil
}
