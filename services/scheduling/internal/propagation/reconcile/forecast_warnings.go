package reconcile

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/pg"
)

// findWarnings finds the reasons to look at the schedules of forecasts, with the function that the
// workers use for a change that is made.
func (f *Forecaster) findWarnings(ctx context.Context, db pg.Querier, forecasts []Forecast, h *Hypothesis) error {
	w := &f.warnings
	w.withdrawn = map[int64]bool{}
	var changed []changedEmployee
	for i := range forecasts {
		one := &forecasts[i]
		if one.ChangesSchedule {
			changed = append(changed, changedEmployee{one.EmployeeID, one.Without.Spans, one.With.Spans})
		}
		for k := range one.With.Hides {
			w.withdrawn[one.With.Hides[k].ItemID] = one.With.Hides[k].Withdrawn
		}
	}
	if err := w.load(ctx, db, changed); err != nil {
		return err
	}
	for id, cycle := range h.Cycles {
		if w.patterns != nil {
			w.patterns[id] = cycle
		}
	}
	for i := range forecasts {
		one := &forecasts[i]
		edited := one.collectEdited()
		switch {
		case one.ChangesSchedule:
			one.Warnings = w.find(&changed[0], edited)
			changed = changed[1:]
		case len(edited.withdrawn) > 0:
			one.Warnings = w.findWithdrawn(edited.withdrawn)
		}
	}
	return nil
}

// collectEdited returns the changed entries of the employee with the change, and the days of the entries that
// the change hides.
func (f *Forecast) collectEdited() *editedEmployee {
	out := &editedEmployee{employee: f.EmployeeID, hides: f.With.Hides}
	for i := range f.With.Hides {
		if h := &f.With.Hides[i]; h.Withdrawn && !f.Without.Hides[i].Withdrawn {
			out.withdrawn = append(out.withdrawn, h.OwnDay)
		}
	}
	return out
}
