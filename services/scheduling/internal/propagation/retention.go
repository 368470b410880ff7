package propagation

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

const (
	// lockTidy has the process that tidies.
	lockTidy pg.Lock = "propagation tidy"

	// Who reads the past must not wait long behind a partition that goes or comes.
	lockTimeout = `SET LOCAL lock_timeout = '2s'`

	makeMonth = `SELECT make_past_month($1, $2, $3)`

	selectPartitions = `
SELECT c.relname::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = $1::text::regclass ORDER BY 1`

	// Assignments keep the propagation that applied them in their history; without
	// it they show as applied.
	deleteOldPropagations = `
DELETE FROM propagation WHERE (tenant_id, id) IN (
    SELECT tenant_id, id FROM propagation WHERE state = 'FINISHED' AND finished_at < $1 ORDER BY finished_at LIMIT $2)`

	// maxForgotten bounds the propagations that one statement takes away.
	maxForgotten = 10_000
)

// pasts are the tables of what held before. They have partitions by the month in
// which it ceased to hold.
var pasts = []string{"span_past_block", "schedule_item_past", "day_lock_past", "membership_past", "leave_edit_past"}

// tidyEvery is how often what is too old is looked for.
const tidyEvery = time.Hour

func (p *Propagator) runTidy(ctx context.Context) error {
	wait := time.NewTimer(0)
	defer wait.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-wait.C:
		}
		if err := p.Tidy(ctx, time.Now()); err != nil && ctx.Err() == nil {
			p.log.WarnContext(ctx, "tidying of propagations failed and will be repeated", "error", err)
		}
		wait.Reset(tidyEvery)
	}
}

// Tidy makes room for the past of this month and the next, and forgets
// propagations, and what else ended, more than Config.KeepHistory before now. While
// another process tidies, it does nothing.
func (p *Propagator) Tidy(ctx context.Context, now time.Time) error {
	if err := p.makeMonths(ctx, now.UTC()); err != nil {
		return err
	}
	if p.cfg.KeepHistory == KeepForEver {
		return nil
	}
	before := now.UTC().Add(-p.cfg.KeepHistory)
	if err := p.dropMonths(ctx, before); err != nil {
		return err
	}
	return p.forget(ctx, before)
}

// makeMonths makes the partitions of a time's month and of the next one.
func (p *Propagator) makeMonths(ctx context.Context, now time.Time) error {
	for ahead := range 2 {
		// The first of a month, so that a month later is the next one.
		month := time.Date(now.Year(), now.Month()+time.Month(ahead), 1, 0, 0, 0, 0, time.UTC)
		for _, past := range pasts {
			err := p.tidy(ctx, func(ctx context.Context, tx pgx.Tx) error {
				_, err := tx.Exec(ctx, makeMonth, past, month.Year(), int(month.Month()))
				return err
			})
			if pg.IsCheck(err, "") {
				// The month has begun without a partition, and what is past since lies in the
				// default one, as the rest of the month will.
				continue
			}
			if err != nil {
				return fmt.Errorf("propagation: make room for the past: %w", err)
			}
		}
	}
	return nil
}

// dropMonths drops the partitions of which everything ended before a time.
func (p *Propagator) dropMonths(ctx context.Context, before time.Time) error {
	for _, past := range pasts {
		err := p.tidy(ctx, func(ctx context.Context, tx pgx.Tx) error {
			rows, err := tx.Query(ctx, selectPartitions, past)
			if err != nil {
				return err
			}
			partitions, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if err != nil {
				return err
			}
			for _, name := range partitions {
				if !endedBefore(past, name, before) {
					continue
				}
				if _, err := tx.Exec(ctx, "DROP TABLE "+pgx.Identifier{name}.Sanitize()); err != nil {
					return err
				}
				p.log.InfoContext(ctx, "a month of the past was dropped", "partition", name)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("propagation: drop old months: %w", err)
		}
	}
	return nil
}

// endedBefore reports whether a partition of a past is a month that ended before a
// time, or with it. What is not named like a month was not made for one.
func endedBefore(past, partition string, before time.Time) bool {
	month, err := time.Parse(past+"_200601", partition)
	return err == nil && !month.AddDate(0, 1, 0).After(before)
}

// forget deletes what ended before a time and lies in no month of its own, and
// the propagations that finished before it.
func (p *Propagator) forget(ctx context.Context, before time.Time) error {
	err := p.tidy(ctx, func(ctx context.Context, tx pgx.Tx) error {
		batch := &pgx.Batch{}
		for _, past := range pasts {
			// In the oldest month, and what no month was made for.
			batch.Queue("DELETE FROM "+past+" WHERE believed_until < $1", before)
		}
		return tx.SendBatch(ctx, batch).Close()
	})
	for err == nil {
		forgotten := int64(0)
		err = p.tidy(ctx, func(ctx context.Context, tx pgx.Tx) error {
			tag, err := tx.Exec(ctx, deleteOldPropagations, before, maxForgotten)
			forgotten = tag.RowsAffected()
			return err
		})
		if forgotten < maxForgotten {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("propagation: forget what is old: %w", err)
	}
	return nil
}

// tidy runs fn in a transaction for all tenants, unless another process tidies.
func (p *Propagator) tidy(ctx context.Context, fn func(context.Context, pgx.Tx) error) error {
	return pg.InTx(tenant.All(ctx), p.pool, func(ctx context.Context, tx pgx.Tx) error {
		if mine, err := lockTidy.Try(ctx, tx, pg.OfDatabase); err != nil || !mine {
			return err
		}
		if _, err := tx.Exec(ctx, lockTimeout); err != nil {
			return err
		}
		return fn(ctx, tx)
	})
}
