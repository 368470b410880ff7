package payrollstaging

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/payledger"
)

const stateCancelled = "cancelled"

// refuseCancelled returns the error (409) for an export of a cancelled run.
func refuseCancelled(id uuid.UUID) error {
	return fault.Conflict(CodeCancelled, fmt.Sprintf("The run %s was cancelled. Stage the time again under another executionId.", id))
}

// CancelPayrollStaging removes the rows of a run from the ledger and releases its earnings, so that
// a later run stages both again. An exported run cannot be cancelled.
func (h *Handler) CancelPayrollStaging(ctx context.Context, req *timekeepingv1.GetPayrollStagingRequest) (*timekeepingv1.PayrollStagingStatus, error) {
	r, err := h.find(ctx, req.GetRequestId())
	if err != nil {
		return nil, err
	}
	visible, err := h.deps.Persons.Visible(ctx)
	if err != nil {
		return nil, err
	}
	if err := pg.InTx(ctx, h.deps.Pool, func(ctx context.Context, tx pgx.Tx) error {
		return cancel(ctx, tx, r.ID, visible)
	}); err != nil {
		return nil, err
	}
	return status(run{ID: r.ID, State: stateCancelled}), nil
}

const (
	lockBatches = `
SELECT FROM payroll_staging_batch WHERE tenant_id = $1 AND staging_id = $2 ORDER BY batch FOR UPDATE`

	// Workers treat these batches as staged.
	stopBatches = `
UPDATE payroll_staging_batch SET staged = true WHERE tenant_id = $1 AND staging_id = $2`

	readBatches = `
SELECT DISTINCT unnest(employee_ids) FROM payroll_staging_batch WHERE tenant_id = $1 AND staging_id = $2`

	lockHeads = `
SELECT FROM payroll_ledger_head h WHERE h.tenant_id = $1 AND EXISTS (
    SELECT FROM payroll_staged_employee e WHERE e.tenant_id = $1 AND e.staging_id = $2 AND e.employee_id = h.employee_id)
ORDER BY h.employee_id FOR UPDATE`

	moveHeads = `
UPDATE payroll_ledger_head h SET version = version + 1 WHERE h.tenant_id = $1 AND EXISTS (
    SELECT FROM payroll_staged_employee e WHERE e.tenant_id = $1 AND e.staging_id = $2 AND e.employee_id = h.employee_id)`

	readPaidDays = `
SELECT employee_id, min(paid_day), max(paid_day) + 1 FROM payroll_staged_row WHERE tenant_id = $1 AND staging_id = $2 AND kind <> 'EARNING' GROUP BY employee_id`
)

// removals delete the rows of a run.
var removals = []string{
	`UPDATE payroll_earning SET staging_id = NULL WHERE tenant_id = $1 AND staging_id = $2`,
	`DELETE FROM payroll_staged_row WHERE tenant_id = $1 AND staging_id = $2`,
	`DELETE FROM payroll_staged_employee WHERE tenant_id = $1 AND staging_id = $2`,
	`UPDATE payroll_staging SET state = '` + stateCancelled + `', batches_left = 0, finished_at = coalesce(finished_at, clock_timestamp())
	 WHERE tenant_id = $1 AND id = $2`,
}

// cancel waits for workers that are staging a batch. It locks in the same order as they do: the
// batches, the ledgers, the run.
func cancel(ctx context.Context, tx pgx.Tx, id uuid.UUID, visible rowvisibility.Set) error {
	tenantID := tenant.Of(ctx)
	for _, sql := range []string{lockBatches, stopBatches, lockHeads} {
		if _, err := tx.Exec(ctx, sql, tenantID, id); err != nil {
			return fmt.Errorf("lock run: %w", err)
		}
	}
	var state string
	var exported bool
	err := tx.QueryRow(ctx, `SELECT state, exported_at IS NOT NULL FROM payroll_staging WHERE tenant_id = $1 AND id = $2 AND state <> 'expired' FOR UPDATE`,
		tenantID, id).Scan(&state, &exported)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return unknownRun(id.String())
	case err != nil:
		return fmt.Errorf("lock run: %w", err)
	case state == stateCancelled:
		return nil
	case exported:
		return fault.Conflict(CodeExported, fmt.Sprintf("The run %s was exported. Stage again: the new run stages by how much the time differs.", id))
	}
	if err := requireAllVisible(ctx, tx, id, visible); err != nil {
		return err
	}
	rows, err := tx.Query(ctx, readPaidDays, tenantID, id)
	if err != nil {
		return fmt.Errorf("read staged days: %w", err)
	}
	days, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (d payledger.Days, err error) {
		return d, row.Scan(&d.EmployeeID, &d.From, &d.To)
	})
	if err != nil {
		return fmt.Errorf("read staged days: %w", err)
	}
	if err := payledger.Note(ctx, tx, days); err != nil {
		return err
	}
	for _, sql := range append([]string{moveHeads}, removals...) {
		if _, err := tx.Exec(ctx, sql, tenantID, id); err != nil {
			return fmt.Errorf("cancel run: %w", err)
		}
	}
	return nil
}

func requireAllVisible(ctx context.Context, tx pgx.Tx, id uuid.UUID, visible rowvisibility.Set) error {
	if visible.All() {
		return nil
	}
	rows, err := tx.Query(ctx, readBatches, tenant.Of(ctx), id)
	if err != nil {
		return fmt.Errorf("read employees of a run: %w", err)
	}
	employees, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return fmt.Errorf("read employees of a run: %w", err)
	}
	for _, employee := range employees {
		if !visible.Has(employee) {
			return fault.New(CodeHiddenEmployees, http.StatusForbidden,
				fmt.Sprintf("The run %s has employees whom you may not see. Ask a user who sees all of them to cancel it.", id))
		}
	}
	return nil
}
