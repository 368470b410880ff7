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
	lockTidy = `SELECT pg_try_advisory_xact_lock(hashtextextended('rotaloom propagation tidy', 0))`

	// Who reads the past must not wait long behind a partition that goes or comes.
	lockTimeout = `SET LOCAL lock_timeout = '2s'`

	makeMonth = `SELECT make_span_past_month($1, $2)`

	selectMonths = `
SELECT c.relname::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = 'span_past_block'::regclass AND c.relname ~ '^span_past_block_[0-9]{6}$'`

	deleteOldBlocks = `DELETE FROM span_past_block WHERE believed_until < $1`

	// Assignments keep the propagation that applied them in their history; without
	// it they show as applied.
	deleteOldPropagations = `
DELETE FROM propagation WHERE (tenant_id, id) IN (
    SELECT tenant_id, id FROM propagation WHERE state = 'FINISHED' AND finished_at < $1 ORDER BY finished_at LIMIT $2)`

	// mostForgotten bounds the propagations that one statement takes away.
	mostForgotten = 10_000
)

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
// propagations and spans that ended more than Config.KeepHistory before now. While
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
		err := p.tidy(ctx, func(ctx context.Context, tx pgx.Tx) error {
			_, err := tx.Exec(ctx, makeMonth, month.Year(), int(month.Month()))
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
	return nil
}

// dropMonths drops the partitions of which everything ended before a time.
func (p *Propagator) dropMonths(ctx context.Context, before time.Time) error {
	err := p.tidy(ctx, func(ctx context.Context, tx pgx.Tx) error {
		rows, err := tx.Query(ctx, selectMonths)
		if err != nil {
			return err
		}
		names, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return err
		}
		for _, name := range names {
			month, err := time.Parse("span_past_block_200601", name)
			if err != nil || month.AddDate(0, 1, 0).After(before) {
				continue // It is young, or no month that was made for this.
			}
			if _, err := tx.Exec(ctx, "DROP TABLE "+pgx.Identifier{name}.Sanitize()); err != nil {
				return err
			}
			p.log.InfoContext(ctx, "the past of spans was dropped", "partition", name)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("propagation: drop old months: %w", err)
	}
	return nil
}

// forget deletes what ended before a time and lies in no month of its own, and
// the propagations that finished before it.
func (p *Propagator) forget(ctx context.Context, before time.Time) error {
	err := p.tidy(ctx, func(ctx context.Context, tx pgx.Tx) error {
		// In the oldest month, and what no month was made for.
		_, err := tx.Exec(ctx, deleteOldBlocks, before)
		return err
	})
	for err == nil {
		forgotten := int64(0)
		err = p.tidy(ctx, func(ctx context.Context, tx pgx.Tx) error {
			tag, err := tx.Exec(ctx, deleteOldPropagations, before, mostForgotten)
			forgotten = tag.RowsAffected()
			return err
		})
		if forgotten < mostForgotten {
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
		var mine bool
		if err := tx.QueryRow(ctx, lockTidy).Scan(&mine); err != nil || !mine {
			return err
		}
		if _, err := tx.Exec(ctx, lockTimeout); err != nil {
			return err
		}
		return fn(ctx, tx)
	})
}
