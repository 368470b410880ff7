package propagator

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg/advisory"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// Locks of a tenant. They are taken after those of its employees.
const (
	// lockWindow is where all workers and the planner of a tenant meet: it comes
	// last, so that they hold it only while they commit.
	lockWindow advisory.Lock = "propagation window"
	// lockPlanning has who plans for the tenant.
	lockPlanning advisory.Lock = "propagation planning"
)

const (
	// As many as the window has room for, by their turns.
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

// nextBatch is a batch that is asked for, and how many employees it has.
type nextBatch struct {
	PropagationID    int64
	Batch, Employees int32
}

// fewEmployees is how many employees a small batch has at most.
const fewEmployees = 100

// event asks for the batch. Small ones have workers of their own: they take
// milliseconds, and need not wait for a large one to end.
func (t *nextBatch) event() proto.Message {
	if t.Employees <= fewEmployees {
		return &schedulingv1.PropagationSmallBatchRequested{PropagationId: t.PropagationID, Batch: t.Batch}
	}
	return &schedulingv1.PropagationBatchRequested{PropagationId: t.PropagationID, Batch: t.Batch}
}

// request asks the workers for batches of the tenant, so that not more than a
// window of them are asked for and not done. Whoever adds, ends or gives up
// batches calls it at the end of the transaction: while there are batches that
// wait, one is always asked for.
func (p *Propagator) request(ctx context.Context, tx pgx.Tx, tenantID int64) error {
	var next []nextBatch
	batch := &pgx.Batch{}
	lockWindow.Queue(batch, tenantID)
	p.queueNext(batch, tenantID, &next)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("propagation: find the next batches: %w", err)
	}
	return requestBatches(ctx, tx, tenantID, next)
}

// queueNext reads the batches that the window has room for. The
// window must be locked.
func (p *Propagator) queueNext(batch *pgx.Batch, tenantID int64, next *[]nextBatch) {
	batch.Queue(selectNext, tenantID, p.cfg.Window).Query(func(rows pgx.Rows) (err error) {
		*next, err = pgx.CollectRows(rows, pgx.RowToStructByPos[nextBatch])
		return err
	})
}

// requestBatches asks the workers for these batches.
func requestBatches(ctx context.Context, tx pgx.Tx, tenantID int64, turns []nextBatch) error {
	if len(turns) == 0 {
		return nil
	}
	events := make([]proto.Message, len(turns))
	ids, numbers := make([]int64, len(turns)), make([]int32, len(turns))
	for i := range turns {
		events[i], ids[i], numbers[i] = turns[i].event(), turns[i].PropagationID, turns[i].Batch
	}
	batch := &pgx.Batch{}
	batch.Queue(markRequested, tenantID, ids, numbers)
	if err := outbox.Queue(ctx, tx, batch, tenantID, events...); err != nil {
		return fmt.Errorf("propagation: request batches: %w", err)
	}
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("propagation: request batches: %w", err)
	}
	return nil
}
