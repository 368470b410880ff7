package pg

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rotaloom/rotaloom/pkg/defaults"
)

// Pool holds the connections of a process to one database. Each statement and each transaction sees
// the rows of the tenant in its context.
//
// A connection is a session, and keeps its tenant until it is handed out for another one. With
// [Config.DirectURL] it leads to a pooler, where each transaction may get another session. Then
// each transaction sets its tenant, in the same round trip, and a single statement runs in a
// transaction that sets the tenant first.
type Pool struct {
	conns *pgxpool.Pool
	cfg   Config
	// check checks each new connection, if it is set.
	check *atomic.Pointer[ConnCheck]

	listening sync.RWMutex
	listeners []listener
}

// ConnCheck checks a new connection before its first use. If it returns an error, the pool closes
// the connection, and the caller that waits for it gets the error. It must not use the pool.
type ConnCheck func(ctx context.Context, conn *pgx.Conn) error

// CheckConns sets the check for each connection that the pool opens from now on.
func (p *Pool) CheckConns(check ConnCheck) { p.check.Store(&check) }

// NewPool returns a pool that connects on first use.
func NewPool(ctx context.Context, cfg Config) (*Pool, error) {
	return newPool(ctx, cfg, nil)
}

func newPool(ctx context.Context, cfg Config, tracer pgx.QueryTracer) (*Pool, error) {
	cfg = defaults.Fill(cfg)
	pc, err := cfg.poolConfig()
	if err != nil {
		return nil, err
	}
	if tracer != nil {
		pc.ConnConfig.Tracer = tracer
	}
	check, prepare := &atomic.Pointer[ConnCheck]{}, pc.AfterConnect
	pc.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		if err := prepare(ctx, conn); err != nil {
			return err
		}
		if c := check.Load(); c != nil {
			return (*c)(ctx, conn)
		}
		return nil
	}
	conns, err := pgxpool.NewWithConfig(ctx, pc)
	if err != nil {
		return nil, fmt.Errorf("pg: open pool: %w", err)
	}
	return &Pool{conns: conns, cfg: cfg, check: check}, nil
}

// Traced returns another pool on the same database; its statements go through tracer.
func (p *Pool) Traced(ctx context.Context, tracer pgx.QueryTracer) (*Pool, error) {
	return newPool(ctx, p.cfg, tracer)
}

// Config returns the configuration of the pool.
func (p *Pool) Config() Config { return p.cfg }

// Database returns the name of the database.
func (p *Pool) Database() string { return p.conns.Config().ConnConfig.Database }

// Stat returns the load of the pool.
func (p *Pool) Stat() *pgxpool.Stat { return p.conns.Stat() }

// Ping returns nil if the database responds.
func (p *Pool) Ping(ctx context.Context) error { return p.conns.Ping(ctx) }

// closeTimeout is how long Close waits. The driver waits fifteen seconds for the server to close a
// connection with a cancelled statement. The server does not close it if it received only a part of
// the statement, or if it is unreachable.
const closeTimeout = 3 * time.Second

// Close closes the connections once their users return them. It returns after some seconds even if
// the server does not close its side: closing continues in the background.
func (p *Pool) Close() {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		p.conns.Close()
	}()
	select {
	case <-closed:
	case <-time.After(closeTimeout):
	}
}

// Session takes a connection out of the pool permanently, past a pooler. It has the tenant of ctx,
// and the caller must close it. Use it for anything that outlives a transaction, such as a lock.
func (p *Pool) Session(ctx context.Context) (*pgx.Conn, error) {
	if !p.cfg.behindPooler() {
		conn, err := p.conns.Acquire(ctx)
		if err != nil {
			return nil, err
		}
		return conn.Hijack(), nil
	}
	cc, err := p.cfg.sessionConfig()
	if err != nil {
		return nil, err
	}
	conn, err := pgx.ConnectConfig(ctx, cc)
	if err != nil {
		return nil, err
	}
	if _, err := setTenant(ctx, conn); err != nil {
		_ = conn.Close(ctx) // The first error is the one that matters.
		return nil, err
	}
	return conn, nil
}

// Begin begins a transaction of the default isolation level.
func (p *Pool) Begin(ctx context.Context) (pgx.Tx, error) { return p.BeginTx(ctx, pgx.TxOptions{}) }

// BeginTx begins a transaction.
func (p *Pool) BeginTx(ctx context.Context, opts pgx.TxOptions) (pgx.Tx, error) {
	tx, err := p.conns.BeginTx(ctx, p.withTenant(ctx, opts))
	if err != nil {
		return nil, err
	}
	return &poolTx{Tx: tx, pool: p}, nil
}

// Exec executes a statement in its own transaction.
func (p *Pool) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	if !p.cfg.behindPooler() {
		return p.conns.Exec(ctx, sql, args...)
	}
	rows, err := p.execWithTenant(ctx, sql, args)
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	rows.Close()
	return rows.CommandTag(), rows.Err()
}

// Query executes a statement in its own transaction and returns its rows, which the caller must
// close.
func (p *Pool) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if !p.cfg.behindPooler() {
		return p.conns.Query(ctx, sql, args...)
	}
	return p.execWithTenant(ctx, sql, args)
}

// QueryRow executes a statement in its own transaction and returns its first row.
func (p *Pool) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	if !p.cfg.behindPooler() {
		return p.conns.QueryRow(ctx, sql, args...)
	}
	rows, _ := p.execWithTenant(ctx, sql, args) // The rows carry the error too.
	return closingRow{rows}
}

// SendBatch executes the statements of a batch, all or none, in one round trip.
func (p *Pool) SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults {
	if !p.cfg.behindPooler() {
		return p.conns.SendBatch(ctx, batch)
	}
	return p.sendBatchWithTenant(ctx, batch)
}

// CopyFrom copies rows into a table, all or none.
func (p *Pool) CopyFrom(ctx context.Context, table pgx.Identifier, columns []string, rows pgx.CopyFromSource) (n int64, err error) {
	if !p.cfg.behindPooler() {
		return p.conns.CopyFrom(ctx, table, columns, rows)
	}
	err = pgx.BeginFunc(ctx, p, func(tx pgx.Tx) error {
		n, err = tx.CopyFrom(ctx, table, columns, rows)
		return err
	})
	return n, err
}

// Collect executes a query and returns its rows, converted by scan; an empty list if there are no
// rows.
func Collect[T any](ctx context.Context, db Querier, scan pgx.RowToFunc[T], sql string, args ...any) ([]T, error) {
	rows, err := db.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scan)
}

// CollectOne executes a query and returns its only row, converted by scan. The error is
// pgx.ErrNoRows for no rows, and pgx.ErrTooManyRows for several.
func CollectOne[T any](ctx context.Context, db Querier, scan pgx.RowToFunc[T], sql string, args ...any) (T, error) {
	rows, err := db.Query(ctx, sql, args...)
	if err != nil {
		var zero T
		return zero, err
	}
	return pgx.CollectExactlyOneRow(rows, scan)
}

// ForEach executes a query, reads each row into places and calls fn. An error of fn ends it.
func ForEach(ctx context.Context, db Querier, places []any, fn func() error, sql string, args ...any) error {
	rows, err := db.Query(ctx, sql, args...)
	if err != nil {
		return err
	}
	_, err = pgx.ForEachRow(rows, places, fn)
	return err
}
