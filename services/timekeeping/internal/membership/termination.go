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
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// CodeTerminated (400): the person's employment is terminated on some of the
// days of an assignment.
const CodeTerminated = "WRL-20001"

// Terminate takes persons off their terms on the days on which commons says that
// they are terminated, which may lie ahead, and off all terms when they are
// deleted. States that are not the newest known ones change nothing.
func (h *Handler) Terminate(ctx context.Context, tenantID int64, states []*commonsv1.PersonState) error {
	var changed map[int64]*personAssignments
	err := pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		ends, err := newest(ctx, tx, tenantID, states)
		if err != nil {
			return err
		}
		var persons []int64
		for id, days := range ends {
			if len(days) > 0 {
				persons = append(persons, id)
			}
		}
		slices.Sort(persons)
		now, err := lock(ctx, tx, tenantID, persons)
		if err != nil {
			return err
		}
		if err := noteTerminations(ctx, tx, tenantID, ends); err != nil {
			return err
		}
		if changed = removeTerminated(now, ends); len(changed) == 0 {
			return nil
		}
		if err := replace(ctx, tx, tenantID, changed); err != nil {
			return err
		}
		return outbox.Append(ctx, tx, tenantID, changedEvent(changed))
	})
	if err != nil {
		return fmt.Errorf("end assignments of terminated persons: %w", err)
	}
	if len(changed) > 0 {
		h.wake()
	}
	return nil
}

// newest returns the terminated days of the persons whose states are the newest
// that the projection knows.
func newest(ctx context.Context, tx pgx.Tx, tenantID int64, states []*commonsv1.PersonState) (map[int64][]civil.Range, error) {
	byID := make(map[int64]*commonsv1.PersonState, len(states))
	var ids []int64
	for _, s := range states {
		if old := byID[s.GetPersonId()]; old.GetVersion() < s.GetVersion() {
			byID[s.GetPersonId()] = s
		}
		ids = append(ids, s.GetPersonId())
	}
	rows, err := tx.Query(ctx, `SELECT key, version FROM replica_head
		WHERE tenant_id = $1 AND topic = 'persons' AND `+condition.AnyOf("key", "$2::bigint[]")+` ORDER BY key FOR SHARE`, tenantID, ids)
	if err != nil {
		return nil, err
	}
	out := make(map[int64][]civil.Range, len(byID))
	var id, version int64
	_, err = pgx.ForEachRow(rows, []any{&id, &version}, func() error {
		if s := byID[id]; s.GetVersion() >= version {
			out[id] = terminatedDays(s)
		}
		return nil
	})
	return out, err
}

func terminatedDays(s *commonsv1.PersonState) []civil.Range {
	if s.GetDeleted() {
		return []civil.Range{always}
	}
	var out []civil.Range
	for _, d := range s.GetTerminated() {
		from, err := civil.ParseDate(d.GetFrom())
		if err != nil {
			continue
		}
		to, err := civil.ParseDate(d.GetTo())
		if err != nil {
			continue
		}
		out = append(out, civil.Range{From: from, To: to}.Clamp())
	}
	return civil.Normalise(out)
}

// noteTerminations keeps the days for whoever puts the persons on terms later.
func noteTerminations(ctx context.Context, tx pgx.Tx, tenantID int64, ends map[int64][]civil.Range) error {
	var persons, owners []int64
	var from, to []civil.Date
	for id, days := range ends {
		persons = append(persons, id)
		for _, d := range days {
			owners, from, to = append(owners, id), append(from, d.From), append(to, d.To)
		}
	}
	if len(persons) == 0 {
		return nil
	}
	batch := &pgx.Batch{}
	batch.Queue(`DELETE FROM termination WHERE tenant_id = $1 AND person_id = ANY($2)`, tenantID, persons)
	if len(owners) > 0 {
		batch.Queue(`INSERT INTO termination (tenant_id, person_id, days)
			SELECT $1, q.id, range_agg(daterange(q.from_date, q.to_date))
			FROM unnest($2::bigint[], $3::date[], $4::date[]) AS q (id, from_date, to_date) GROUP BY q.id
			ON CONFLICT (tenant_id, person_id) DO UPDATE SET days = excluded.days`, tenantID, owners, from, to)
	}
	return tx.SendBatch(ctx, batch).Close()
}

// removeTerminated takes the terminated days out of what persons have, and returns those
// for whom that makes a difference, each with their next version.
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

// refuseTerminated fails the items that put somebody, who is locked, on a term
// on days on which they are terminated.
func refuseTerminated(ctx context.Context, tx pgx.Tx, tenantID int64, items []*item) error {
	var at []int64
	var persons []int64
	var from, to []civil.Date
	for i, it := range items {
		if it.effect == remove {
			continue // Nothing is put on a term.
		}
		for _, m := range it.fresh {
			at, persons = append(at, int64(i)), append(persons, it.who.ID)
			from, to = append(from, m.days.From), append(to, m.days.To)
		}
	}
	if len(at) == 0 {
		return nil
	}
	rows, err := tx.Query(ctx, `SELECT q.at, lower(t.days * datemultirange(daterange(q.from_date, q.to_date)))
		FROM unnest($2::bigint[], $3::bigint[], $4::date[], $5::date[]) AS q (at, person, from_date, to_date)
		JOIN termination t ON t.tenant_id = $1 AND t.person_id = q.person
		WHERE t.days && daterange(q.from_date, q.to_date) ORDER BY 1, 2 DESC`, tenantID, at, persons, from, to)
	if err != nil {
		return err
	}
	var i int64
	var day civil.Date
	_, err = pgx.ForEachRow(rows, []any{&i, &day}, func() error {
		it := items[i]
		it.err = fault.Invalid(CodeTerminated, fmt.Sprintf("The employment of person %q is terminated on %s, so no assignment may hold then. "+
			"End it before, or change the employmentStatusList first.", it.who.Number, day))
		return nil
	})
	return err
}
