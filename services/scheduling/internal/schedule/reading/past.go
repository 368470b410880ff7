package reading

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/hiddenentry"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/request"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/storedrows"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/window"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/span"
)

const readLineages = `SELECT DISTINCT id, coalesce(lineage_id, id) FROM pattern_assignment WHERE tenant_id = $1 AND id = ANY($2)`

// ReadAt returns the schedules of persons as of a settled instant. The persons, their primary
// jobs and names are current data.
func (r *Reader) ReadAt(ctx context.Context, q *request.Query, persons []window.Person, at time.Time) (*window.Window, error) {
	rows, patterns, err := r.rowsAt(ctx, q, persons, at)
	if err != nil {
		return nil, err
	}
	return expand(q, persons, rows, patterns)
}

// rowsAt reads the rows as of a settled instant, with the slots that items hid then. patterns[i]
// belongs to the span i.
func (r *Reader) rowsAt(ctx context.Context, q *request.Query, persons []window.Person, at time.Time) (rows storedrows.Rows, patterns []*window.Pattern, err error) {
	f := storedrows.Filter{
		Days: q.Days, At: &at, Open: q.Selected&request.SelectOpen != 0,
		Leave: needsKind(q, window.KindShift) || needsKind(q, window.KindLeaveEdit),
	}
	if !q.OnlyOpen() {
		f.Employees = window.PersonIDs(persons)
	}
	if rows, err = storedrows.Read(ctx, r.db, f); err != nil {
		return rows, nil, err
	}
	if err := storedrows.OpenShifts.Check(len(rows.Open)); err != nil {
		return rows, nil, err
	}
	if patterns, err = r.spanPatterns(ctx, rows.Spans, form{q.ExcludeBreaks, rows.Names}); err != nil {
		return rows, nil, err
	}
	rows.Hidden, err = r.resolveHidden(ctx, &rows, patterns)
	return rows, patterns, err
}

// resolveHidden returns the slots that items hid at the earlier time, by employee and day.
// patterns[i] belongs to the span i.
func (r *Reader) resolveHidden(ctx context.Context, rows *storedrows.Rows, patterns []*window.Pattern) ([]storedrows.HiddenSlot, error) {
	if len(rows.Hides) == 0 {
		return nil, nil
	}
	byEmployee := map[int64][]span.Span{}
	for i := range rows.Hides {
		byEmployee[rows.Hides[i].EmployeeID] = nil
	}
	for i := range rows.Spans {
		s := &rows.Spans[i]
		if list, hides := byEmployee[s.EmployeeID]; hides {
			byEmployee[s.EmployeeID] = append(list, s.ToSpan(patterns[i].Cycle.DayCount()))
		}
	}
	lookup, err := r.lookUp(ctx, rows.Hides, byEmployee)
	if err != nil {
		return nil, err
	}
	var out []storedrows.HiddenSlot
	for i := range rows.Hides {
		h := &rows.Hides[i]
		if slot := h.Resolve(byEmployee[h.EmployeeID], lookup); slot != nil {
			out = append(out, storedrows.HiddenSlot{EmployeeID: h.EmployeeID, ItemID: h.ItemID, Day: h.Day, Lane: slot.Lane, Ordinal: slot.Ordinal})
		}
	}
	return out, nil
}

// lookUp reads the lineages and patterns that the hides, and the spans on their days, refer to.
func (r *Reader) lookUp(ctx context.Context, hides []hiddenentry.Hide, spans map[int64][]span.Span) (hiddenentry.Lookup, error) {
	out := hiddenentry.Lookup{Lineages: map[int64]int64{}, Patterns: map[int64]*hiddenentry.Pattern{}}
	var assignments, patterns []int64
	for i := range hides {
		h := &hides[i]
		patterns = append(patterns, h.PatternID)
		for _, s := range spans[h.EmployeeID] {
			if s.Days().Contains(h.Day) {
				assignments, patterns = append(assignments, s.AssignmentID), append(patterns, s.PatternID)
			}
		}
	}
	var id, lineage int64
	if err := pg.ForEach(ctx, r.db, []any{&id, &lineage}, func() error {
		out.Lineages[id] = lineage
		return nil
	}, readLineages, tenant.Of(ctx), sortUnique(assignments)); err != nil {
		return out, fmt.Errorf("schedule: read lineages: %w", err)
	}
	found, err := r.patterns.source.Patterns(ctx, r.db, sortUnique(patterns))
	if err != nil {
		return out, err
	}
	for id, pattern := range found {
		if out.Patterns[id], err = hiddenentry.Compile(pattern); err != nil {
			return out, fmt.Errorf("schedule: pattern %d: %w", id, err)
		}
	}
	return out, nil
}

func sortUnique(ids []int64) []int64 {
	slices.Sort(ids)
	return slices.Compact(ids)
}
