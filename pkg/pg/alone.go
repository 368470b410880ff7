package pg

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
)

// setLocal sets, for the rest of a transaction, the values that a session would have. The next
// statement of the same round trip, if it starts no transaction, belongs to the same transaction:
// PostgreSQL ends that at the end of the round trip, and the pooler then gives the session to
// another client.
const setLocal = "SELECT set_config('" + tenantSetting + "', $1, true), set_config('statement_timeout', $2, true), " +
	"set_config('idle_in_transaction_session_timeout', $2, true)"

// queueTenant adds the statement that sets the tenant of ctx to a batch, behind a pooler.
func (p *Pool) queueTenant(ctx context.Context, batch *pgx.Batch) {
	if p.cfg.behindPooler() {
		batch.Queue(setLocal, tenantValue(ctx), p.cfg.statementTimeout())
	}
}

// withTenant returns transaction options that set the tenant at the start of the transaction,
// behind a pooler.
func (p *Pool) withTenant(ctx context.Context, opts pgx.TxOptions) pgx.TxOptions {
	if p.cfg.behindPooler() {
		// Neither value contains a character with a meaning in SQL.
		opts.BeginQuery = fmt.Sprintf("%s; SELECT set_config('"+tenantSetting+"', '%s', true), set_config('statement_timeout', '%[3]s', true), "+
			"set_config('idle_in_transaction_session_timeout', '%[3]s', true)", beginText(opts), tenantValue(ctx), p.cfg.statementTimeout())
	}
	return opts
}

// beginText returns the BEGIN statement for the options.
func beginText(opts pgx.TxOptions) string {
	text := "BEGIN"
	if opts.IsoLevel != "" {
		text += " ISOLATION LEVEL " + string(opts.IsoLevel)
	}
	if opts.AccessMode != "" {
		text += " " + string(opts.AccessMode)
	}
	if opts.DeferrableMode != "" {
		text += " " + string(opts.DeferrableMode)
	}
	return text
}

// execWithTenant sets the tenant and executes a statement, in one round trip. The returned rows
// carry the error, if any.
func (p *Pool) execWithTenant(ctx context.Context, sql string, args []any) (pgx.Rows, error) {
	batch := &pgx.Batch{}
	batch.Queue(sql, args...)
	results := p.sendBatchWithTenant(ctx, batch)
	rows, err := results.Query()
	alone := &closingRows{Rows: rows, results: results}
	if err != nil {
		alone.Close()
		return alone, alone.Err()
	}
	return alone, nil
}

// sendBatchWithTenant sets the tenant and executes the statements of a batch.
func (p *Pool) sendBatchWithTenant(ctx context.Context, batch *pgx.Batch) pgx.BatchResults {
	conn, err := p.conns.Acquire(ctx)
	if err != nil {
		return failedResults{err}
	}
	with := &pgx.Batch{}
	p.queueTenant(ctx, with)
	with.QueuedQueries = append(with.QueuedQueries, batch.QueuedQueries...)
	results := &releasingResults{BatchResults: conn.SendBatch(ctx, with), conn: conn}
	// If this fails, reading the next result fails too.
	_, _ = results.Exec()
	return results
}

// releasingResults returns its connection to the pool when it is closed.
type releasingResults struct {
	pgx.BatchResults
	conn *pgxpool.Conn
}

func (r *releasingResults) Close() error {
	err := r.BatchResults.Close()
	if r.conn != nil {
		r.conn.Release()
		r.conn = nil
	}
	return err
}

// closingRows closes the results that it belongs to.
type closingRows struct {
	pgx.Rows
	results pgx.BatchResults
	err     error
}

func (r *closingRows) Close() {
	r.Rows.Close()
	// Deferred constraints, which are checked at the end of a transaction, fail here.
	r.err = r.results.Close()
}

func (r *closingRows) Next() bool {
	if r.Rows.Next() {
		return true
	}
	r.Close()
	return false
}

func (r *closingRows) Err() error {
	if err := r.Rows.Err(); err != nil {
		return err
	}
	return r.err
}

// closingRow is the first row of rows.
type closingRow struct{ rows pgx.Rows }

func (r closingRow) Scan(dest ...any) error {
	defer r.rows.Close()
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return pgx.ErrNoRows
	}
	if err := r.rows.Scan(dest...); err != nil {
		return err
	}
	r.rows.Close()
	return r.rows.Err()
}

// failedResults are the results of a batch that was not sent.
type failedResults struct{ err error }

func (f failedResults) Exec() (pgconn.CommandTag, error) { return pgconn.CommandTag{}, f.err }
func (f failedResults) Query() (pgx.Rows, error)         { return failedRows(f), f.err }
func (f failedResults) QueryRow() pgx.Row                { return closingRow{failedRows(f)} }
func (f failedResults) Close() error                     { return f.err }
func (f failedResults) Tx() pgx.Tx                       { return nil }

// failedRows are the rows of a statement that was not sent.
type failedRows struct{ err error }

func (f failedRows) Close()                                       {}
func (f failedRows) Err() error                                   { return f.err }
func (f failedRows) CommandTag() pgconn.CommandTag                { return pgconn.CommandTag{} }
func (f failedRows) FieldDescriptions() []pgconn.FieldDescription { return nil }
func (f failedRows) Next() bool                                   { return false }
func (f failedRows) Scan(...any) error                            { return f.err }
func (f failedRows) Values() ([]any, error)                       { return nil, f.err }
func (f failedRows) RawValues() [][]byte                          { return nil }
func (f failedRows) Conn() *pgx.Conn                              { return nil }
func (f failedRows) TypeMap() *pgtype.Map                         { return nil }
