package membership

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/condition"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// CodeTerminated (400): the person's employment is terminated on some of the days of an assignment.
// End the assignment before, or change the employment status first.
const CodeTerminated = "WRL-20001"

// Terminate removes persons from their terms on the days that commons reports as terminated, which
// can be in the future. Deleted persons are removed from all terms. Call it after the states are
// stored: it uses the stored states, so that outdated states have no effect.
func (h *Handler) Terminate(ctx context.Context, states []*commonsv1.PersonState) error {
	var persons []int64
	for _, s := range states {
		if s.GetDeleted() || len(s.GetTerminated()) > 0 {
			persons = append(persons, s.GetPersonId())
		}
	}
	if len(persons) == 0 {
		return nil
	}
	slices.Sort(persons)
	persons = slices.Compact(persons)
	err := pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		now, err := lock(ctx, tx, persons)
		if err != nil {
			return err
		}
		ends, err := terminations(ctx, tx, persons)
		if err != nil {
			return err
		}
		changed := removeTerminated(now, ends)
		if len(changed) == 0 {
			return nil
		}
		if _, err := store(ctx, tx, changed); err != nil {
			return err
		}
		return outbox.Append(ctx, tx, changedEvent(changed))
	})
	if err != nil {
		return fmt.Errorf("end assignments of terminated persons: %w", err)
	}
	return nil
}

// terminations returns the terminated days of locked persons.
func terminations(ctx context.Context, tx pgx.Tx, persons []int64) (map[int64][]civil.Range, error) {
	out := map[int64][]civil.Range{}
	var id int64
	var days civil.Range
	if err := pg.ForEach(ctx, tx, []any{&id, &days.From, &days.To}, func() error {
		out[id] = append(out[id], days)
		return nil
	}, `SELECT e.id, d.from_date, d.to_date
		FROM employee e CROSS JOIN LATERAL unnest(e.terminated_from, e.terminated_to) AS d (from_date, to_date)
		WHERE e.tenant_id = $1 AND `+condition.AnyOf("e.id", "$2::bigint[]")+` ORDER BY e.id, d.from_date`, tenant.Of(ctx), persons); err != nil {
		return nil, fmt.Errorf("read terminations: %w", err)
	}
	return out, nil
}

// removeTerminated removes the terminated days from assignments. It returns the persons whose
// assignments change, with their next version.
func removeTerminated(now map[int64]*personAssignments, ends map[int64][]civil.Range) map[int64]*personAssignments {
	changed := map[int64]*personAssignments{}
	for id, h := range now {
		after := h.list
		for _, days := range ends[id] {
			after = rewrite(after, days, nil)
		}
		if !slices.Equal(h.list, after) {
			changed[id] = &personAssignments{version: h.version + 1, list: after, request: h.request}
		}
	}
	return changed
}

// refuseTerminated fails the items that assign a locked person to a term on days with terminated
// employment.
func refuseTerminated(ctx context.Context, tx pgx.Tx, items []*item) error {
	isTerminated, err := terminations(ctx, tx, personIDs(items))
	if err != nil || len(isTerminated) == 0 {
		return err
	}
	for _, it := range items {
		if it.effect == remove || it.err != nil {
			continue // Nothing is added.
		}
		if day, isTerminated := firstTerminated(it.fresh, isTerminated[it.who.ID]); isTerminated {
			it.err = fault.Invalid(CodeTerminated, fmt.Sprintf("The employment of person %q is terminated on %s, so no assignment can be in effect then. "+
				"End it before, or change the employmentStatusList first.", it.who.PersonNumber, day))
		}
	}
	return nil
}

// firstTerminated returns the first day of assignments that is among the terminated days.
func firstTerminated(fresh []membership, terminated []civil.Range) (first civil.Date, found bool) {
	for _, m := range fresh {
		for _, days := range terminated {
			if on := m.days.Intersect(days); !on.Empty() && (!found || on.From < first) {
				first, found = on.From, true
			}
		}
	}
	return first, found
}
