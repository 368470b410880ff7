package payrollstaging

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

const (
	sweepEvery = 15 * time.Second
	// stillFor is the time without progress after which the batches of a run are requested again.
	stillFor = 30 * time.Second
	// retention is the time after the end of a run before it is deleted.
	retention = 30 * 24 * time.Hour
	// sweepRuns is the maximum number of runs of one sweep. The next sweep continues.
	sweepRuns = 100
)

// Run requests batches again whose events the broker lost, and removes old runs, until ctx ends.
// Several processes may run it at the same time.
func (w *Worker) Run(ctx context.Context, log *slog.Logger) error {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		if err := w.sweep(ctx); err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "sweep of payroll staging failed and will be repeated", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

type sweepRun struct {
	Tenant int64
	ID     uuid.UUID
	Ended  bool
}

// sweep requests the batches of runs without progress again. A time in the future was written while
// a clock was ahead; it counts as old.
func (w *Worker) sweep(ctx context.Context) error {
	rows, err := w.deps.Pool.Query(tenant.All(ctx), `(SELECT tenant_id, id, false FROM payroll_staging
			WHERE finished_at IS NULL AND (moved_at < clock_timestamp() - make_interval(secs => $1) OR moved_at > clock_timestamp())
			ORDER BY moved_at LIMIT $3)
		UNION ALL (SELECT tenant_id, id, true FROM payroll_staging
			WHERE finished_at < clock_timestamp() - make_interval(secs => $2) AND state <> 'expired' ORDER BY finished_at LIMIT $3)`,
		stillFor.Seconds(), retention.Seconds(), sweepRuns)
	if err != nil {
		return fmt.Errorf("find runs: %w", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[sweepRun])
	if err != nil {
		return fmt.Errorf("find runs: %w", err)
	}
	for _, r := range found {
		err := work.InTx(tenant.With(ctx, r.Tenant), w.deps.Pool, func(ctx context.Context, tx pgx.Tx) error {
			if r.Ended {
				return expire(ctx, tx, r)
			}
			return requeueBatches(ctx, tx, r)
		})
		if err != nil {
			return err
		}
	}
	return w.count(ctx)
}

// expire removes the status, the batches and the exports of a run. It keeps the rows: they are the
// ledger that later runs compare with.
func expire(ctx context.Context, tx pgx.Tx, r sweepRun) error {
	for _, sql := range []string{
		`DELETE FROM payroll_export WHERE tenant_id = $1 AND staging_id = $2`,
		`DELETE FROM payroll_staging_batch WHERE tenant_id = $1 AND staging_id = $2`,
		`UPDATE payroll_staging SET state = 'expired', execution_id = 'expired ' || id WHERE tenant_id = $1 AND id = $2`,
	} {
		if _, err := tx.Exec(ctx, sql, r.Tenant, r.ID); err != nil {
			return fmt.Errorf("expire a run: %w", err)
		}
	}
	return nil
}

// count sets the metrics of unfinished runs.
func (w *Worker) count(ctx context.Context) error {
	rows, err := w.deps.Pool.Query(tenant.All(ctx), `SELECT state, count(*) FROM payroll_staging WHERE finished_at IS NULL GROUP BY state`)
	if err != nil {
		return fmt.Errorf("count runs: %w", err)
	}
	open := map[string]float64{}
	var state string
	var n float64
	if _, err := pgx.ForEachRow(rows, []any{&state, &n}, func() error {
		open[state] = n
		return nil
	}); err != nil {
		return fmt.Errorf("count runs: %w", err)
	}
	for _, state := range openStates {
		w.metrics.runs.WithLabelValues(state).Set(open[state])
	}
	return nil
}

// requeueBatches requests the batches of a run that are not staged, unless another process has done
// so in the meantime.
func requeueBatches(ctx context.Context, tx pgx.Tx, r sweepRun) error {
	done, err := tx.Exec(ctx, `UPDATE payroll_staging SET moved_at = clock_timestamp() WHERE tenant_id = $1 AND id = $2
		AND finished_at IS NULL AND (moved_at < clock_timestamp() - make_interval(secs => $3) OR moved_at > clock_timestamp())`, r.Tenant, r.ID, stillFor.Seconds())
	if err != nil || done.RowsAffected() == 0 {
		return err
	}
	rows, err := tx.Query(ctx, `SELECT batch FROM payroll_staging_batch WHERE tenant_id = $1 AND staging_id = $2 AND NOT staged ORDER BY batch`, r.Tenant, r.ID)
	if err != nil {
		return err
	}
	batches, err := pgx.CollectRows(rows, pgx.RowTo[int32])
	if err != nil {
		return err
	}
	var events []proto.Message
	for _, b := range batches {
		events = append(events, &timekeepingv1.PayrollStagingBatchRequested{RequestId: r.ID.String(), Batch: b})
	}
	return outbox.Append(ctx, tx, events...)
}
