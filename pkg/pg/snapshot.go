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
func InSnapshot(ctx context.Context, pool *pgxpool.Pool, fn func(ctx context.Context, tx pgx.Tx) error) error {
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
// what takes their rows. After an error, some of these have not been called.
func (s *Snapshot) Read(ctx context.Context, pool *pgxpool.Pool) error {
	switch len(s.statements) {
	case 0:
		return nil
	case 1:
		// One statement sees one moment by itself.
		return s.ReadIn(ctx, pool)
	}
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("pg: read snapshot: %w", err)
	}
	defer conn.Release()
	batch := &pgx.Batch{}
	batch.Queue(beginSnapshot)
	s.queue(batch)
	batch.Queue(endSnapshot)
	err = conn.SendBatch(ctx, batch).Close()
	if err != nil && conn.Conn().PgConn().TxStatus() != 'I' && !conn.Conn().IsClosed() {
		// When this fails as well, the pool closes the connection.
		_, failed := conn.Exec(ctx, "ROLLBACK")
		err = errors.Join(err, failed)
	}
	return err
}

// ReadIn is Read for statements whose moment is another's matter: db is a
// transaction that holds locks on what they read, or one in a snapshot.
func (s *Snapshot) ReadIn(ctx context.Context, db Querier) error {
	batch := &pgx.Batch{}
	s.queue(batch)
	return db.SendBatch(ctx, batch).Close()
}

func (s *Snapshot) queue(batch *pgx.Batch) {
	for i := range s.statements {
		st := &s.statements[i]
		batch.Queue(st.sql, st.args...).Query(st.scan)
	}
}
