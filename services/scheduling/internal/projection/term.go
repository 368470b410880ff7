package projection

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
)

const (
	readTerms = `
SELECT id, allows_inheritance AND NOT deleted FROM employment_term WHERE tenant_id = $1 AND id = ANY($2)`

	upsertTerms = `
INSERT INTO employment_term (tenant_id, id, name, allows_inheritance, deleted)
SELECT $1, u.* FROM unnest($2::bigint[], $3::text[], $4::bool[], $5::bool[]) AS u
ON CONFLICT (tenant_id, id) DO UPDATE SET
    name = excluded.name, allows_inheritance = excluded.allows_inheritance, deleted = excluded.deleted`
)

// applyTerms stores terms, and starts a propagation for those that begin or cease
// to pass patterns on.
func applyTerms(ctx context.Context, tx pgx.Tx, tenantID int64, changes []termChange) error {
	n := len(changes)
	ids, names, allows, deleted := make([]int64, n), make([]string, n), make([]bool, n), make([]bool, n)
	for i, c := range changes {
		ids[i], names[i] = c.Key, c.State.GetName()
		allows[i], deleted[i] = c.State.GetAllowsInheritance(), c.Deleted
	}
	before := map[int64]bool{}
	batch := &pgx.Batch{}
	batch.Queue(readTerms, tenantID, ids).Query(func(rows pgx.Rows) error {
		var id int64
		var inherits bool
		_, err := pgx.ForEachRow(rows, []any{&id, &inherits}, func() error {
			before[id] = inherits
			return nil
		})
		return err
	})
	batch.Queue(upsertTerms, tenantID, ids, names, allows, deleted)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("projection: store employment terms: %w", err)
	}
	var changed []int64
	for i, id := range ids {
		if before[id] != (allows[i] && !deleted[i]) {
			changed = append(changed, id)
		}
	}
	return start(ctx, tx, propagation.Request{Cause: propagation.CauseInheritance, TermIDs: changed})
}

// start starts a propagation unless it would concern nobody.
func start(ctx context.Context, tx pgx.Tx, req propagation.Request) error {
	if len(req.TermIDs) == 0 && len(req.EmployeeIDs) == 0 {
		return nil
	}
	_, err := propagation.Start(ctx, tx, req)
	return err
}
