package payrollstaging

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/pg"
)

// selectVisible finds those of some runs that have a visible employee, or none at all: such
// a run says nothing about anybody.
const selectVisible = `
SELECT s.id FROM payroll_staging s WHERE s.tenant_id = $1 AND s.id = ANY($2)
  AND (s.batches = 0 OR $3 OR EXISTS (
    SELECT FROM payroll_staging_batch b WHERE b.tenant_id = $1 AND b.staging_id = s.id AND b.employee_ids && $4::bigint[]))`

// visibleRuns returns those of some runs that the caller may see.
func visibleRuns(ctx context.Context, db pg.Querier, tenantID int64, visible rowvisibility.Set, ids []uuid.UUID) (map[uuid.UUID]bool, error) {
	employees := visible.IDs()
	if visible.All() || employees == nil {
		employees = []int64{}
	}
	rows, err := db.Query(ctx, selectVisible, tenantID, ids, visible.All(), employees)
	if err != nil {
		return nil, fmt.Errorf("find visible runs: %w", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return nil, fmt.Errorf("find visible runs: %w", err)
	}
	out := make(map[uuid.UUID]bool, len(found))
	for _, id := range found {
		out[id] = true
	}
	return out, nil
}

// freeName returns the name under which a run with an executionId is stored, or the run
// that has it. A run that the caller may not see takes no name away: the new run has one
// that is derived from the executionId and the user.
func freeName(ctx context.Context, db pg.Querier, tenantID int64, executionID string, visible rowvisibility.Set) (name string, used *uuid.UUID, err error) {
	user := ""
	if p, ok := authn.From(ctx); ok {
		user = p.Subject
	}
	sum := sha256.Sum256([]byte(executionID + "\x00" + user))
	derived := hex.EncodeToString(sum[:])
	rows, err := db.Query(ctx, `SELECT execution_id, id FROM payroll_staging WHERE tenant_id = $1 AND execution_id = ANY($2)`,
		tenantID, []string{executionID, derived})
	if err != nil {
		return "", nil, fmt.Errorf("find a run by its executionId: %w", err)
	}
	taken := map[string]uuid.UUID{}
	var text string
	var id uuid.UUID
	if _, err := pgx.ForEachRow(rows, []any{&text, &id}, func() error { taken[text] = id; return nil }); err != nil {
		return "", nil, fmt.Errorf("find a run by its executionId: %w", err)
	}
	if mine, ok := taken[derived]; ok {
		return "", &mine, nil
	}
	other, ok := taken[executionID]
	if !ok {
		return executionID, nil, nil
	}
	shown, err := visibleRuns(ctx, db, tenantID, visible, []uuid.UUID{other})
	if err != nil || shown[other] {
		return "", &other, err
	}
	return derived, nil, nil
}
