package propagator

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg/advisory"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
)

// Locks of a tenant, which are acquired after the locks of its employees.
const (
	// lockWindow is acquired last, so that workers and planners hold it only while they commit.
	lockWindow = propagation.LockWindow
	// lockPlanning is held by the process that plans for the tenant.
	lockPlanning advisory.Lock = "propagation planning"
)

const (
	// As many batches as the window has room for, in order of their turns.
	selectNext = `
SELECT propagation_id, batch, cardinality(employee_ids) FROM propagation_batch WHERE tenant_id = $1 AND state = 'WAITING'
ORDER BY turn, propagation_id, batch
LIMIT greatest($2 - (SELECT count(*) FROM propagation_batch WHERE tenant_id = $1 AND state = 'REQUESTED'), 0)`

	markRequested = `
UPDATE propagation_batch b SET state = 'REQUESTED' FROM unnest($2::bigint[], $3::int[]) AS u (propagation_id, batch)
WHERE b.tenant_id = $1 AND b.propagation_id = u.propagation_id AND b.batch = u.batch`
)

type batchKey struct {
	PropagationID int64
	Batch         int32
}

// nextBatch is a requested batch with its number of employees.
type nextBatch struct {
	PropagationID    int64
	Batch, Employees int32
}

// fewEmployees is the largest number of employees in a small batch.
const fewEmployees = 100

// event returns the event that requests the batch. Small batches have their own workers: they take
// milliseconds, and should not wait for large ones.
func (t *nextBatch) event() proto.Message {
	if t.Employees <= fewEmployees {
		return &schedulingv1.PropagationSmallBatchRequested{PropagationId: t.PropagationID, Batch: t.Batch}
	}
	return &schedulingv1.PropagationBatchRequested{PropagationId: t.PropagationID, Batch: t.Batch}
}

// request requests waiting batches of the tenant up to the size of the window. Each transaction
// that adds, completes or abandons batches calls it at its end, so that at least one batch is
// requested while any are waiting.
func (p *Propagator) request(ctx context.Context, tx pgx.Tx) error {
	tenantID := tenant.Of(ctx)
	var next []nextBatch
	batch := &pgx.Batch{}
	lockWindow.Queue(batch, tenantID)
	p.queueNext(batch, tenantID, &next)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("propagation: find the next batches: %w", err)
	}
	return requestBatches(ctx, tx, next)
}

// queueNext reads the waiting batches that fit into the window. The caller holds the window lock.
func (p *Propagator) queueNext(batch *pgx.Batch, tenantID int64, next *[]nextBatch) {
	batch.Queue(selectNext, tenantID, p.cfg.Window).Query(func(rows pgx.Rows) (err error) {
		*next, err = pgx.CollectRows(rows, pgx.RowToStructByPos[nextBatch])
		return err
	})
}

// requestBatches publishes the requests for batches.
func requestBatches(ctx context.Context, tx pgx.Tx, turns []nextBatch) error {
	if len(turns) == 0 {
		return nil
	}
	events := make([]proto.Message, len(turns))
	ids, numbers := make([]int64, len(turns)), make([]int32, len(turns))
	for i := range turns {
		events[i], ids[i], numbers[i] = turns[i].event(), turns[i].PropagationID, turns[i].Batch
	}
	batch := &pgx.Batch{}
	batch.Queue(markRequested, tenant.Of(ctx), ids, numbers)
	if err := outbox.Queue(ctx, tx, batch, events...); err != nil {
		return fmt.Errorf("propagation: request batches: %w", err)
	}
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("propagation: request batches: %w", err)
	}
	return nil
}
