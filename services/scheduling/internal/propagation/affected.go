package propagation

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// All employees who were, are or will be on a term. If an employee has spans from a term without a
// membership, the change of the membership started its own propagation.
const selectAffected = `SELECT employee_id FROM membership WHERE tenant_id = $1 AND employment_term_id = ANY($2)`

// Affected returns the employees that are affected by a change of terms, together with the listed
// employees, in ascending order.
func Affected(ctx context.Context, db pg.Querier, termIDs, listed []int64) ([]int64, error) {
	employees := slices.Clone(listed)
	if len(termIDs) > 0 {
		rows, err := db.Query(ctx, selectAffected, tenant.Of(ctx), termIDs)
		if err == nil {
			employees, err = pgx.AppendRows(employees, rows, pgx.RowTo[int64])
		}
		if err != nil {
			return nil, fmt.Errorf("propagation: select employees: %w", err)
		}
	}
	slices.Sort(employees)
	return slices.Compact(employees), nil
}
