package propagation

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

const (
	claimPropagation = `
SELECT employment_term_ids, employee_ids FROM propagation
WHERE tenant_id = $1 AND id = $2 AND state = 'ACCEPTED' FOR UPDATE`

	// Whoever was on a term at any time, and whoever still has what it passed on.
	selectConcerned = `
SELECT employee_id FROM membership WHERE tenant_id = $1 AND employment_term_id = ANY($2)
UNION
SELECT employee_id FROM span WHERE tenant_id = $1 AND inherited AND assignment_id IN (
    SELECT id FROM pattern_assignment WHERE tenant_id = $1 AND employment_term_id = ANY($2))`

	insertBatch = `
INSERT INTO propagation_batch (tenant_id, propagation_id, batch, employee_ids) VALUES ($1, $2, $3, $4)`

	startPropagation = `
UPDATE propagation SET employees_total = $3, batches_total = $4, started_at = clock_timestamp(), moved_at = clock_timestamp(),
    reminders = 0, state = CASE WHEN $4 = 0 THEN 'FINISHED' ELSE 'RUNNING' END,
    finished_at = CASE WHEN $4 = 0 THEN clock_timestamp() END
WHERE tenant_id = $1 AND id = $2`
)

// plan divides the employees whom a propagation concerns into batches and asks
// for them. A propagation that is planned already is left alone.
func (p *Propagator) plan(ctx context.Context, id int64) error {
	tenantID, err := tenantOf(ctx)
	if err != nil {
		return err
	}
	defer p.wake()
	return pg.InTx(ctx, p.pool, func(ctx context.Context, tx pgx.Tx) error {
		var terms, employees []int64
		err := tx.QueryRow(ctx, claimPropagation, tenantID, id).Scan(&terms, &employees)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("propagation: claim: %w", err)
		}
		if employees, err = concerned(ctx, tx, tenantID, terms, employees); err != nil {
			return err
		}
		batches := cut(employees)
		if err := insertBatches(ctx, tx, tenantID, id, batches); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, startPropagation, tenantID, id, len(employees), len(batches)); err != nil {
			return fmt.Errorf("propagation: start: %w", err)
		}
		return nil
	})
}

// concerned returns the employees whom a change of terms concerns, together
// with those given, in ascending order.
func concerned(ctx context.Context, tx pgx.Tx, tenantID int64, terms, employees []int64) ([]int64, error) {
	if len(terms) > 0 {
		rows, err := tx.Query(ctx, selectConcerned, tenantID, terms)
		if err != nil {
			return nil, fmt.Errorf("propagation: select employees: %w", err)
		}
		if employees, err = pgx.AppendRows(employees, rows, pgx.RowTo[int64]); err != nil {
			return nil, fmt.Errorf("propagation: select employees: %w", err)
		}
	}
	slices.Sort(employees)
	return slices.Compact(employees), nil
}

func insertBatches(ctx context.Context, tx pgx.Tx, tenantID, id int64, batches [][]int64) error {
	if len(batches) == 0 {
		return nil
	}
	batch := &pgx.Batch{}
	numbers := make([]int32, len(batches))
	for i, employees := range batches {
		numbers[i] = int32(i)
		batch.Queue(insertBatch, tenantID, id, i, employees)
	}
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("propagation: insert batches: %w", err)
	}
	return requestBatches(ctx, tx, propagationKey{tenantID, id}, numbers)
}

// requestBatches asks the workers for batches of a propagation.
func requestBatches(ctx context.Context, tx pgx.Tx, key propagationKey, numbers []int32) error {
	events := make([]proto.Message, len(numbers))
	for i, number := range numbers {
		events[i] = &schedulingv1.PropagationBatchRequested{PropagationId: key.ID, Batch: number}
	}
	if err := outbox.Append(ctx, tx, key.TenantID, events...); err != nil {
		return fmt.Errorf("propagation: request batches: %w", err)
	}
	return nil
}
