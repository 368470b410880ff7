package propagation

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/outbox"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// Advisory locks of a tenant, in the place of buckets of employees, which are
// not negative. They are taken after these.
const (
	lockOfPlanning int32 = -2
	lockOfWindow   int32 = -1
)

const (
	// All workers and the planner of a tenant meet here: it comes last, so that
	// they hold it only while they commit.
	lockWindow = `SELECT pg_advisory_xact_lock($1, $2)`

	// As many as the window has room for, by their turns.
	selectNext = `
SELECT propagation_id, batch FROM propagation_batch WHERE tenant_id = $1 AND state = 'WAITING'
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

// request asks the workers for batches of the tenant, so that not more than a
// window of them are asked for and not done. Whoever adds, ends or gives up
// batches calls it at the end of the transaction: while there are batches that
// wait, one is always asked for.
func (p *Propagator) request(ctx context.Context, tx pgx.Tx, tenantID int64) error {
	var next []batchKey
	batch := &pgx.Batch{}
	batch.Queue(lockWindow, int32(tenantID), lockOfWindow)
	p.queueNext(batch, tenantID, &next)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("propagation: find the next batches: %w", err)
	}
	return requestBatches(ctx, tx, tenantID, next)
}

// queueNext reads the keys of the batches that the window has room for. The
// window must be locked.
func (p *Propagator) queueNext(batch *pgx.Batch, tenantID int64, next *[]batchKey) {
	batch.Queue(selectNext, tenantID, p.cfg.Window).Query(func(rows pgx.Rows) (err error) {
		*next, err = pgx.CollectRows(rows, pgx.RowToStructByPos[batchKey])
		return err
	})
}

// requestBatches asks the workers for these batches.
func requestBatches(ctx context.Context, tx pgx.Tx, tenantID int64, keys []batchKey) error {
	if len(keys) == 0 {
		return nil
	}
	events := make([]proto.Message, len(keys))
	ids, numbers := make([]int64, len(keys)), make([]int32, len(keys))
	for i, key := range keys {
		events[i] = &schedulingv1.PropagationBatchRequested{PropagationId: key.PropagationID, Batch: key.Batch}
		ids[i], numbers[i] = key.PropagationID, key.Batch
	}
	batch := &pgx.Batch{}
	batch.Queue(markRequested, tenantID, ids, numbers)
	if err := outbox.Queue(ctx, batch, tenantID, events...); err != nil {
		return fmt.Errorf("propagation: request batches: %w", err)
	}
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("propagation: request batches: %w", err)
	}
	return nil
}
