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

// SnapshotOptions are the options of a read-only transaction whose statements all see the data that
// was committed before the first of them. Use it for statements that depend on earlier results. For
// statements that are known beforehand use a [Snapshot], which takes one round trip.
var SnapshotOptions = pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}

// InSnapshot runs fn in a transaction with [SnapshotOptions]. As with InTx, fn must be safe to run
// more than once.
func InSnapshot(ctx context.Context, pool *Pool, fn func(ctx context.Context, tx pgx.Tx) error) error {
	return InTxWith(ctx, pool, SnapshotOptions, fn)
}

// Snapshot reads several statements as of one moment, in one round trip. Outside of it, and in a
// pgx.Batch as well, each statement sees the data that was committed before it began: rows that
// move between tables or keys may be found twice or not at all.
//
// The zero Snapshot is empty and ready to use. It is read once.
type Snapshot struct {
	statements []statement
}

// statement holds the arguments of [pgx.Batch.Queue], and the function that reads the rows.
type statement struct {
	sql  string
	args []any
	scan func(pgx.Rows) error
}

// Queue adds a statement and the function that reads its rows. The rows are closed after scan.
func (s *Snapshot) Queue(scan func(pgx.Rows) error, sql string, args ...any) {
	s.statements = append(s.statements, statement{sql: sql, args: args, scan: scan})
}

// Len returns the number of statements.
func (s *Snapshot) Len() int { return len(s.statements) }

// Read executes the statements in the order of Queue, and calls their scan functions. After an
// error, some of these were not called. If db is a transaction, its isolation level and its locks
// determine which rows the statements see.
func (s *Snapshot) Read(ctx context.Context, db Querier) error {
	pool, ok := db.(*Pool)
	// A single statement is consistent anyway.
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

// readOn reads the statements in their own transaction on conn.
func (s *Snapshot) readOn(ctx context.Context, pool *Pool, conn *pgxpool.Conn) error {
	if err := s.read(ctx, conn, pool.snapshotBatch(ctx), endSnapshot); err != nil {
		return errors.Join(err, rollback(ctx, conn))
	}
	return nil
}

// snapshotBatch returns a batch that begins a snapshot.
func (p *Pool) snapshotBatch(ctx context.Context) *pgx.Batch {
	batch := &pgx.Batch{}
	batch.Queue(beginSnapshot)
	p.queueTenant(ctx, batch)
	return batch
}

// read adds the statements to a batch, and the statement after, and executes the batch in one round
// trip.
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

// rollback ends a failed transaction, if the connection still has one. If the rollback fails as
// well, the pool closes the connection.
func rollback(ctx context.Context, conn *pgxpool.Conn) error {
	if conn.Conn().IsClosed() || conn.Conn().PgConn().TxStatus() == 'I' {
		return nil
	}
	_, err := conn.Exec(ctx, "ROLLBACK")
	return err
}
