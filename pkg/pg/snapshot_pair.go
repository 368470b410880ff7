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

// secondConnTimeout is how long ReadPair waits for its second connection. Longer waits while
// holding the first one could end in a deadlock with other pairs.
const secondConnTimeout = 5 * time.Millisecond

// ReadPair reads two snapshots of the same moment at the same time, each over its own connection.
// It costs two extra round trips, so it is for large reads. If no second connection is available,
// it reads both over one.
func ReadPair(ctx context.Context, pool *Pool, first, second *Snapshot) error {
	// Holding one session of a pooler while waiting for another could deadlock.
	if first.Len() == 0 || second.Len() == 0 || pool.cfg.behindPooler() {
		return first.concat(second).Read(ctx, pool)
	}
	one, err := pool.conns.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("pg: read snapshots: %w", err)
	}
	defer one.Release()
	other := acquireSoon(ctx, pool)
	if other == nil {
		return first.concat(second).readOn(ctx, pool, one)
	}
	defer other.Release()
	// Releasing a connection with an open transaction closes it.
	name, err := exportSnapshot(ctx, one)
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

// concat returns a snapshot with the statements of both.
func (s *Snapshot) concat(other *Snapshot) *Snapshot {
	return &Snapshot{statements: append(s.statements[:len(s.statements):len(s.statements)], other.statements...)}
}

func acquireSoon(ctx context.Context, pool *Pool) *pgxpool.Conn {
	ctx, cancel := context.WithTimeout(ctx, secondConnTimeout)
	defer cancel()
	conn, err := pool.conns.Acquire(ctx)
	if err != nil {
		return nil // If the database has a problem, the first connection reports it.
	}
	return conn
}

// exportSnapshot begins a snapshot and returns the name by which other transactions can join it.
func exportSnapshot(ctx context.Context, conn *pgxpool.Conn) (name string, err error) {
	batch := &pgx.Batch{}
	batch.Queue(beginSnapshot)
	batch.Queue("SELECT pg_export_snapshot()").QueryRow(func(row pgx.Row) error { return row.Scan(&name) })
	return name, conn.SendBatch(ctx, batch).Close()
}
