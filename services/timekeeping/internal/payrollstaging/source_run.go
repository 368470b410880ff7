package payrollstaging

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// newestRun finds the newest run that can be exported and has an employee whom the caller may see.
const newestRun = `
SELECT s.id FROM payroll_staging s
WHERE s.tenant_id = $1 AND s.state IN ('pending', 'in_progress', 'success') AND s.batches > 0
  AND ($2 OR EXISTS (
    SELECT FROM payroll_staging_batch b WHERE b.tenant_id = $1 AND b.staging_id = s.id AND b.employee_ids && $3::bigint[]))
ORDER BY s.created_at DESC, s.id DESC LIMIT 1`

// source returns the run of an export. Existing clients send the id of a run or a new id of their own,
// which names the export instead. An export of the second kind has the rows of the newest run.
func (h *Exports) source(ctx context.Context, text string) (*run, error) {
	handler := Handler{deps: h.deps}
	if text == "" {
		return nil, invalid("requestId is missing.")
	}
	if id, err := uuid.Parse(text); err == nil {
		var stored bool
		err := h.deps.Pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM payroll_staging WHERE tenant_id = $1 AND id = $2)`,
			tenant.Of(ctx), id).Scan(&stored)
		if err != nil {
			return nil, fmt.Errorf("find run: %w", err)
		}
		if stored {
			return handler.find(ctx, text)
		}
	}
	visible, err := h.deps.Persons.Visible(ctx)
	if err != nil {
		return nil, err
	}
	employees := append([]int64{}, visible.IDs()...) // A nil list would be NULL.
	found, err := pg.Collect(ctx, h.deps.Pool, pgx.RowTo[uuid.UUID], newestRun, tenant.Of(ctx), visible.All(), employees)
	if err != nil {
		return nil, fmt.Errorf("find the newest run: %w", err)
	}
	if len(found) == 0 {
		return nil, unknownRun(text)
	}
	return handler.find(ctx, found[0].String())
}
