package reconcile

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/hiddenentry"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleevent"
)

const (
	// Spans of locked days can refer to deleted assignments.
	selectLineages = `SELECT DISTINCT id, coalesce(lineage_id, id) FROM pattern_assignment WHERE tenant_id = $1 AND id = ANY($2)`

	selectPatterns = `SELECT id, body FROM schedule_pattern WHERE tenant_id = $1 AND id = ANY($2)`

	updateHidden = `
UPDATE schedule_item i SET hidden_lane = u.lane, hidden_ordinal = u.ordinal, withdrawn = u.withdrawn
FROM unnest($2::bigint[], $3::smallint[], $4::smallint[], $5::boolean[]) AS u (id, lane, ordinal, withdrawn)
WHERE i.tenant_id = $1 AND i.id = u.id
RETURNING i.id, i.kind = 'SHIFT', CASE WHEN i.deleted OR i.withdrawn THEN 0 ELSE coalesce(i.employee_id, 0) END,
    i.from_day, i.body, i.version`
)

// UpdateHidden recomputes the slots of changed or deleted entries, and whether their items are
// shown. It stores the differences, and returns the entries to publish. The employees are locked.
func (c *Changes) UpdateHidden(ctx context.Context, tx pgx.Tx) (*scheduleevent.Shifts, error) {
	published := &scheduleevent.Shifts{}
	if len(c.edited) == 0 {
		return published, nil
	}
	lookup, err := lookUp(ctx, tx, c.edited)
	if err != nil {
		return nil, err
	}
	moved := map[int64]*hiddenentry.Hide{}
	var ids []int64
	var lanes, ordinals []*int16
	var withdrawn []bool
	for _, h := range movedHides(c.edited, lookup) {
		moved[h.ItemID] = &h
		ids = append(ids, h.ItemID)
		lane, ordinal := h.Slot.Columns()
		lanes, ordinals, withdrawn = append(lanes, lane), append(ordinals, ordinal), append(withdrawn, h.Withdrawn)
	}
	if len(ids) == 0 {
		return published, nil
	}
	var s scheduleevent.Shift
	var shift bool // Other services copy only shifts.
	err = pg.ForEach(ctx, tx, []any{&s.ID, &shift, &s.EmployeeID, &s.Day, &s.Body, &s.Version}, func() error {
		if !shift {
			return nil
		}
		h := moved[s.ID]
		s.Hides = h.Slot.Shift(h.EmployeeID, h.Day)
		return published.Add(s)
	}, updateHidden, tenant.Of(ctx), ids, lanes, ordinals, withdrawn)
	if err != nil {
		return nil, fmt.Errorf("propagation: store hidden entries: %w", err)
	}
	return published, nil
}

// movedHides updates the hides to their new state, and returns those that differ from their stored
// state.
func movedHides(edited []editedEmployee, lookup hiddenentry.Lookup) []hiddenentry.Hide {
	var moved []hiddenentry.Hide
	for i := range edited {
		one := &edited[i]
		for k := range one.hides {
			h := &one.hides[k]
			slot := h.Resolve(one.spans, lookup)
			withdrawn := h.Withdraw(slot, one.memberships, one.locks)
			if slot.Equal(h.Slot) && withdrawn == h.Withdrawn {
				continue
			}
			if withdrawn && !h.Withdrawn {
				one.withdrawn = append(one.withdrawn, h.OwnDay)
			}
			h.Slot, h.Withdrawn = slot, withdrawn
			moved = append(moved, *h)
		}
	}
	return moved
}

// lookUp reads the lineages and patterns that the spans and hides of employees refer to.
func lookUp(ctx context.Context, db pg.Querier, edited []editedEmployee) (hiddenentry.Lookup, error) {
	tenantID := tenant.Of(ctx)
	out := hiddenentry.Lookup{Lineages: map[int64]int64{}, Patterns: map[int64]*hiddenentry.Pattern{}}
	var assignments, patterns []int64
	for _, one := range edited {
		for i := range one.spans {
			s := &one.spans[i]
			if slices.ContainsFunc(one.hides, func(h hiddenentry.Hide) bool { return s.Days().Contains(h.Day) }) {
				assignments, patterns = append(assignments, s.AssignmentID), append(patterns, s.PatternID)
			}
		}
		for i := range one.hides {
			patterns = append(patterns, one.hides[i].PatternID)
		}
	}
	var id, lineage int64
	if err := pg.ForEach(ctx, db, []any{&id, &lineage}, func() error {
		out.Lineages[id] = lineage
		return nil
	}, selectLineages, tenantID, uniqueIDs(assignments)); err != nil {
		return out, fmt.Errorf("propagation: read lineages: %w", err)
	}
	var body []byte
	if err := pg.ForEach(ctx, db, []any{&id, &body}, func() (err error) {
		pattern := &schedulingv1.SchedulePattern{}
		if err := proto.Unmarshal(body, pattern); err != nil {
			return err
		}
		out.Patterns[id], err = hiddenentry.Compile(pattern)
		return err
	}, selectPatterns, tenantID, uniqueIDs(patterns)); err != nil {
		return out, fmt.Errorf("propagation: read patterns: %w", err)
	}
	return out, nil
}

func uniqueIDs(ids []int64) []int64 {
	slices.Sort(ids)
	return slices.Compact(ids)
}

// SeriesBlock is an allocated block of series. A process that ends loses the rest of its block;
// there are millions of blocks.
type SeriesBlock struct{ next, end int64 }

// seriesPerBlock is the increment of the sequence.
const seriesPerBlock = 1024

const drawSeries = `SELECT nextval('entry_series')`

// Take allocates count numbers, at most a block, and returns the first of them.
func (b *SeriesBlock) Take(ctx context.Context, db pg.Querier, count int32) (int64, error) {
	if b.end-b.next < int64(count) {
		if err := db.QueryRow(ctx, drawSeries).Scan(&b.next); err != nil {
			b.end = b.next
			return 0, fmt.Errorf("propagation: draw series: %w", err)
		}
		b.end = b.next + seriesPerBlock
	}
	first := b.next
	b.next += int64(count)
	return first, nil
}
