package projection

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
)

const (
	// A term that nobody has heard of is like a deleted one of version 0. Being
	// there, it can be locked, so that two transactions which both bring its
	// first state see each other.
	insertUnknownTerms = `
INSERT INTO employment_term (tenant_id, id, name, allows_inheritance, deleted, version)
SELECT $1, id, '', false, true, 0 FROM unnest($2::bigint[]) AS id
ON CONFLICT (tenant_id, id) DO NOTHING`

	lockTerms = `
SELECT id, allows_inheritance AND NOT deleted FROM employment_term
WHERE tenant_id = $1 AND id = ANY($2) ORDER BY id FOR UPDATE`

	updateTerms = `
UPDATE employment_term t
SET name = u.name, allows_inheritance = u.allows_inheritance, deleted = u.deleted, version = u.version
FROM unnest($2::bigint[], $3::text[], $4::bool[], $5::bool[], $6::bigint[])
    AS u (id, name, allows_inheritance, deleted, version)
WHERE t.tenant_id = $1 AND t.id = u.id AND u.version > t.version
RETURNING t.id, t.allows_inheritance AND NOT t.deleted`
)

// applyTerms stores the states of terms that are newer than what is known, and
// starts a propagation for those that begin or cease to pass patterns on.
func applyTerms(ctx context.Context, tx pgx.Tx, tenantID int64, states []*timekeepingv1.EmploymentTermChanged) error {
	states = newest(states, (*timekeepingv1.EmploymentTermChanged).GetId, (*timekeepingv1.EmploymentTermChanged).GetVersion)
	ids, versions, names := make([]int64, len(states)), make([]int64, len(states)), make([]string, len(states))
	allows, deleted := make([]bool, len(states)), make([]bool, len(states))
	for i, s := range states {
		ids[i], versions[i], names[i] = s.GetId(), s.GetVersion(), s.GetName()
		allows[i], deleted[i] = s.GetAllowsInheritance(), s.GetDeleted()
	}
	before, after := map[int64]bool{}, map[int64]bool{}
	batch := &pgx.Batch{}
	batch.Queue(insertUnknownTerms, tenantID, ids)
	batch.Queue(lockTerms, tenantID, ids).Query(collectFlags(before))
	batch.Queue(updateTerms, tenantID, ids, names, allows, deleted, versions).Query(collectFlags(after))
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("projection: store employment terms: %w", err)
	}
	var changed []int64
	for _, id := range ids {
		if inherits, stored := after[id]; stored && inherits != before[id] {
			changed = append(changed, id)
		}
	}
	return start(ctx, tx, propagation.Request{Cause: propagation.CauseInheritance, TermIDs: changed})
}

func collectFlags(into map[int64]bool) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		var id int64
		var flag bool
		_, err := pgx.ForEachRow(rows, []any{&id, &flag}, func() error {
			into[id] = flag
			return nil
		})
		return err
	}
}

// start starts a propagation unless it would concern nobody.
func start(ctx context.Context, tx pgx.Tx, req propagation.Request) error {
	if len(req.TermIDs) == 0 && len(req.EmployeeIDs) == 0 {
		return nil
	}
	_, err := propagation.Start(ctx, tx, req)
	return err
}
