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

// Pool is the connections of a process to one database. Each statement and each
// transaction on it sees the rows of the tenant in its context.
//
// A connection is a session, and remembers its tenant until it is handed out for
// another one. With [Config.DirectURL] it leads to a pooler, and each transaction may
// get another session: then the tenant goes with the transaction, in the same round
// trip, and a statement by itself is a transaction with its tenant before it.
type Pool struct {
	conns *pgxpool.Pool
	cfg   Config
	// check looks at each new connection, once there is one.
	check *atomic.Pointer[ConnCheck]

	listening sync.RWMutex
	listeners []listener
}

// ConnCheck looks at a new connection before anybody else uses it. When it returns an error
// the connection is closed, and whoever waits for it gets the error. It must not use the pool.
type ConnCheck func(ctx context.Context, conn *pgx.Conn) error

// CheckConns has a check look at each connection that is made from now on.
func (p *Pool) CheckConns(check ConnCheck) { p.check.Store(&check) }

// NewPool returns a pool that has not connected yet. It does so when it is used.
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

// Traced returns another pool on the same database, whose statements tracer sees.
func (p *Pool) Traced(ctx context.Context, tracer pgx.QueryTracer) (*Pool, error) {
	return newPool(ctx, p.cfg, tracer)
}

// Config returns what the pool was made of.
func (p *Pool) Config() Config { return p.cfg }

// Database returns the name of the database.
func (p *Pool) Database() string { return p.conns.Config().ConnConfig.Database }

// Stat says how busy the pool is.
func (p *Pool) Stat() *pgxpool.Stat { return p.conns.Stat() }

// Ping returns nil when the database responds.
func (p *Pool) Ping(ctx context.Context) error { return p.conns.Ping(ctx) }

// closeTimeout is for how long Close waits. The driver waits for fifteen seconds until the
// server has closed a connection whose statement was cancelled, which it does not when only
// a part of the statement came, or when nobody reaches it any more.
const closeTimeout = 3 * time.Second

// Close closes the connections, once those that are in use have been given back. It returns
// after some seconds also when the server does not close its side: the rest of the work
// goes on without the caller.
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

// Session takes a connection out of the pool for good. It is the caller's, who closes
// it, and belongs to the tenant of ctx. It is for what lasts longer than a transaction,
// such as a lock, and leads past a pooler.
func (p *Pool) Session(ctx context.Context) (*pgx.Conn, error) {
	if !p.cfg.pooled() {
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
		_ = conn.Close(ctx) // The error that matters is the first.
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

// Exec executes a statement in a transaction of its own.
func (p *Pool) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	if !p.cfg.pooled() {
		return p.conns.Exec(ctx, sql, args...)
	}
	rows, err := p.execWithTenant(ctx, sql, args)
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	rows.Close()
	return rows.CommandTag(), rows.Err()
}

// Query executes a statement in a transaction of its own and returns its rows, which
// the caller closes.
func (p *Pool) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if !p.cfg.pooled() {
		return p.conns.Query(ctx, sql, args...)
	}
	return p.execWithTenant(ctx, sql, args)
}

// QueryRow executes a statement in a transaction of its own and returns its first row.
func (p *Pool) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	if !p.cfg.pooled() {
		return p.conns.QueryRow(ctx, sql, args...)
	}
	rows, _ := p.execWithTenant(ctx, sql, args) // The rows have the error, too.
	return closingRow{rows}
}

// SendBatch executes the statements of a batch, all or none, in one round trip.
func (p *Pool) SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults {
	if !p.cfg.pooled() {
		return p.conns.SendBatch(ctx, batch)
	}
	return p.sendBatchWithTenant(ctx, batch)
}

// CopyFrom copies rows into a table, all or none.
func (p *Pool) CopyFrom(ctx context.Context, table pgx.Identifier, columns []string, rows pgx.CopyFromSource) (n int64, err error) {
	if !p.cfg.pooled() {
		return p.conns.CopyFrom(ctx, table, columns, rows)
	}
	err = pgx.BeginFunc(ctx, p, func(tx pgx.Tx) error {
		n, err = tx.CopyFrom(ctx, table, columns, rows)
		return err
	})
	return n, err
}

// Collect executes a query and returns what scan makes of its rows; an empty list when there
// are none.
func Collect[T any](ctx context.Context, db Querier, scan pgx.RowToFunc[T], sql string, args ...any) ([]T, error) {
	rows, err := db.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scan)
}

// CollectOne executes a query and returns what scan makes of its only row. When there is none,
// the error is pgx.ErrNoRows; when there are several, pgx.ErrTooManyRows.
func CollectOne[T any](ctx context.Context, db Querier, scan pgx.RowToFunc[T], sql string, args ...any) (T, error) {
	rows, err := db.Query(ctx, sql, args...)
	if err != nil {
		var none T
		return none, err
	}
	return pgx.CollectExactlyOneRow(rows, scan)
}

// ForEach executes a query, and calls fn for each row after it has been read into the places. An
// error of fn ends it.
func ForEach(ctx context.Context, db Querier, places []any, fn func() error, sql string, args ...any) error {
	rows, err := db.Query(ctx, sql, args...)
	if err != nil {
		return err
	}
	_, err = pgx.ForEachRow(rows, places, fn)
	return err
}
