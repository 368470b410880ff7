package pg

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"
)

// secondConnTimeout is how long a pair waits for its second connection. Whoever waited
// longer while holding the first could wait for others who do the same.
const secondConnTimeout = 5 * time.Millisecond

// ReadPair reads two snapshots at the same time, over a connection each. Both see
// the same moment. It is for reads of so much that what this costs, two round
// trips, does not matter. With no second connection to be had, one reads both.
func ReadPair(ctx context.Context, pool *Pool, first, second *Snapshot) error {
	// Who holds one session of a pooler must not wait for another: all could do so.
	if first.Len() == 0 || second.Len() == 0 || pool.cfg.pooled() {
		return first.and(second).Read(ctx, pool)
	}
	one, err := pool.conns.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("pg: read snapshots: %w", err)
	}
	defer one.Release()
	other := acquireSoon(ctx, pool)
	if other == nil {
		return first.and(second).readOn(ctx, pool, one)
	}
	defer other.Release()
	// A transaction that is left open closes its connection on release.
	name, err := export(ctx, one)
	if err != nil {
		return fmt.Errorf("pg: export snapshot: %w", err)
	}
	var reading errgroup.Group
	reading.Go(func() error { return first.read(ctx, one, &pgx.Batch{}, "") })
	reading.Go(func() error {
		if _, err := other.Exec(ctx, beginSnapshot+"; SET TRANSACTION SNAPSHOT '"+name+"'"); err != nil {
			return fmt.Errorf("pg: import snapshot: %w", err)
		}
		return second.read(ctx, other, &pgx.Batch{}, endSnapshot)
	})
	err = reading.Wait()
	if err != nil {
		return errors.Join(err, rollback(ctx, one), rollback(ctx, other))
	}
	_, err = one.Exec(ctx, endSnapshot)
	return err
}

// and returns a snapshot with the statements of both.
func (s *Snapshot) and(other *Snapshot) *Snapshot {
	return &Snapshot{statements: append(s.statements[:len(s.statements):len(s.statements)], other.statements...)}
}

func acquireSoon(ctx context.Context, pool *Pool) *pgxpool.Conn {
	ctx, cancel := context.WithTimeout(ctx, secondConnTimeout)
	defer cancel()
	conn, err := pool.conns.Acquire(ctx)
	if err != nil {
		return nil // Whatever is wrong, the first connection will say so.
	}
	return conn
}

// export begins a snapshot and returns the name under which others may join it.
func export(ctx context.Context, conn *pgxpool.Conn) (name string, err error) {
	batch := &pgx.Batch{}
	batch.Queue(beginSnapshot)
	batch.Queue("SELECT pg_export_snapshot()").QueryRow(func(row pgx.Row) error { return row.Scan(&name) })
	return name, conn.SendBatch(ctx, batch).Close()
}
