package pg

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	beginSnapshot = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
	endSnapshot   = "COMMIT"
)

// SnapshotOptions are those of a transaction whose statements all see what was
// committed before the first of them, and which writes nothing. It is for
// statements that follow from what others returned; those that are known
// beforehand go into a [Snapshot], which takes one round trip.
var SnapshotOptions = pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}

// InSnapshot runs fn in a transaction with [SnapshotOptions]. Like that of InTx,
// fn must be safe to run more than once.
func InSnapshot(ctx context.Context, pool *Pool, fn func(ctx context.Context, tx pgx.Tx) error) error {
	return InTxWith(ctx, pool, SnapshotOptions, fn)
}

// Snapshot is a read of several statements that all see one moment of the
// database, in one round trip. Outside of it, and in a pgx.Batch as well, each
// statement sees what was committed before it began, so that what moves from one
// table or key to another meanwhile is found twice or not at all.
//
// The zero Snapshot is empty and ready to use. It is read once.
type Snapshot struct {
	statements []statement
}

// statement is what [pgx.Batch.Queue] is called with, and what takes its rows.
type statement struct {
	sql  string
	args []any
	scan func(pgx.Rows) error
}

// Queue adds a statement and what takes its rows, which are closed after scan.
func (s *Snapshot) Queue(scan func(pgx.Rows) error, sql string, args ...any) {
	s.statements = append(s.statements, statement{sql: sql, args: args, scan: scan})
}

// Len returns the number of statements.
func (s *Snapshot) Len() int { return len(s.statements) }

// Read executes the statements in the order in which they were queued and calls
// what takes their rows. After an error, some of these have not been called. When
// db is a transaction, what its statements see is a matter of that: of what it has
// locked, or of [SnapshotOptions].
func (s *Snapshot) Read(ctx context.Context, db Querier) error {
	pool, ok := db.(*Pool)
	// One statement sees one moment by itself.
	if !ok || len(s.statements) < 2 {
		return s.read(ctx, db, &pgx.Batch{}, "")
	}
	conn, err := pool.conns.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("pg: read snapshot: %w", err)
	}
	defer conn.Release()
	return s.readOn(ctx, pool, conn)
}

// readOn reads the statements in a transaction of their own.
func (s *Snapshot) readOn(ctx context.Context, pool *Pool, conn *pgxpool.Conn) error {
	if err := s.read(ctx, conn, pool.snapshotBatch(ctx), endSnapshot); err != nil {
		return errors.Join(err, rollback(ctx, conn))
	}
	return nil
}

// snapshotBatch begins a snapshot.
func (p *Pool) snapshotBatch(ctx context.Context) *pgx.Batch {
	batch := &pgx.Batch{}
	batch.Queue(beginSnapshot)
	p.queueTenant(ctx, batch)
	return batch
}

// read adds the statements to a batch, and another one after them, and executes it: all
// in one round trip.
func (s *Snapshot) read(ctx context.Context, db Querier, batch *pgx.Batch, after string) error {
	if len(s.statements) == 0 {
		return nil
	}
	for i := range s.statements {
		st := &s.statements[i]
		batch.Queue(st.sql, st.args...).Query(st.scan)
	}
	if after != "" {
		batch.Queue(after)
	}
	return db.SendBatch(ctx, batch).Close()
}

// rollback ends a transaction that failed, if the connection is still in one. When
// that fails as well, the pool closes the connection.
func rollback(ctx context.Context, conn *pgxpool.Conn) error {
	if conn.Conn().IsClosed() || conn.Conn().PgConn().TxStatus() == 'I' {
		return nil
	}
	_, err := conn.Exec(ctx, "ROLLBACK")
	return err
}
