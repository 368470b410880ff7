package pg

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
)

// setLocal sets for the rest of a transaction what a session would have. A statement
// that follows it in the same round trip, and has no transaction, is of the same
// transaction: PostgreSQL ends it at the end of the round trip, and a pooler gives the
// session to others then.
const setLocal = "SELECT set_config('" + tenantSetting + "', $1, true), set_config('statement_timeout', $2, true), " +
	"set_config('idle_in_transaction_session_timeout', $2, true)"

// queueTenant adds what sets the tenant of ctx to a batch, behind a pooler.
func (p *Pool) queueTenant(ctx context.Context, batch *pgx.Batch) {
	if p.cfg.pooled() {
		batch.Queue(setLocal, tenantValue(ctx), p.cfg.statementTimeout())
	}
}

// withTenant returns the options of a transaction that, behind a pooler, begins with
// setting its tenant.
func (p *Pool) withTenant(ctx context.Context, opts pgx.TxOptions) pgx.TxOptions {
	if p.cfg.pooled() {
		// Neither value has a character that means anything to SQL.
		opts.BeginQuery = fmt.Sprintf("%s; SELECT set_config('"+tenantSetting+"', '%s', true), set_config('statement_timeout', '%[3]s', true), "+
			"set_config('idle_in_transaction_session_timeout', '%[3]s', true)", beginText(opts), tenantValue(ctx), p.cfg.statementTimeout())
	}
	return opts
}

// beginText is the statement with which a transaction of these options begins.
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

// execWithTenant executes a statement with its tenant before it, in one round trip. The rows
// that it returns have the error, if there is one.
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

// sendBatchWithTenant is execWithTenant for the statements of a batch.
func (p *Pool) sendBatchWithTenant(ctx context.Context, batch *pgx.Batch) pgx.BatchResults {
	conn, err := p.conns.Acquire(ctx)
	if err != nil {
		return failedResults{err}
	}
	with := &pgx.Batch{}
	p.queueTenant(ctx, with)
	with.QueuedQueries = append(with.QueuedQueries, batch.QueuedQueries...)
	results := &releasingResults{BatchResults: conn.SendBatch(ctx, with), conn: conn}
	// When this fails, so does whatever is asked for next.
	_, _ = results.Exec()
	return results
}

// releasingResults give the connection back when they are closed.
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

// closingRows close the results that they are of.
type closingRows struct {
	pgx.Rows
	results pgx.BatchResults
	err     error
}

func (r *closingRows) Close() {
	r.Rows.Close()
	// What is checked at the end of a transaction fails here.
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

// closingRow is the first of some rows.
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

// failedResults are those of statements that were not sent.
type failedResults struct{ err error }

func (f failedResults) Exec() (pgconn.CommandTag, error) { return pgconn.CommandTag{}, f.err }
func (f failedResults) Query() (pgx.Rows, error)         { return failedRows(f), f.err }
func (f failedResults) QueryRow() pgx.Row                { return closingRow{failedRows(f)} }
func (f failedResults) Close() error                     { return f.err }
func (f failedResults) Tx() pgx.Tx                       { return nil }

// failedRows are those of a statement that was not sent.
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
