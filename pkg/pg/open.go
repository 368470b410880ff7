package pg

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rotaloom/rotaloom/pkg/backoff"
	"github.com/rotaloom/rotaloom/pkg/outage"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// Querier is the database access that a store needs: a pool, one of its connections, or a
// transaction.
type Querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
	CopyFrom(ctx context.Context, table pgx.Identifier, columns []string, rows pgx.CopyFromSource) (int64, error)
}

// Open returns a pool on the configured database once it responds. It waits up to
// Config.StartupWait, or else CommandWait, for a database that is unavailable or still starting. Other errors (a wrong
// password, a missing database) fail at once.
//
// Each connection of the pool sees the rows of one tenant: the tenant of the context that acquired
// the connection or began the transaction.
func Open(ctx context.Context, cfg Config, log *slog.Logger) (*Pool, error) {
	if cfg.Outages == nil {
		cfg.Outages = outage.NewReporter(log)
	}
	pool, err := NewPool(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if err := await(ctx, cmp.Or(pool.cfg.StartupWait, CommandWait), pool.Ping); err != nil {
		pool.Close()
		return nil, fmt.Errorf("pg: connect: %w", err)
	}
	if err := pool.conns.AcquireFunc(ctx, func(conn *pgxpool.Conn) error {
		return checkServer(conn.Conn().PgConn().ParameterStatus("server_version"))
	}); err != nil {
		pool.Close()
		return nil, fmt.Errorf("pg: %w", err)
	}
	return pool, nil
}

// await calls try until it succeeds, fails for a reason that waiting cannot fix, or atMost has
// passed. The connections report the outage.
func await(ctx context.Context, atMost time.Duration, try func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, atMost)
	defer cancel()
	away := backoff.Backoff{First: 50 * time.Millisecond, Max: 2 * time.Second}
	for {
		err := try(ctx)
		if err == nil || !pgerr.Unavailable(err) {
			return err
		}
		if away.Wait(ctx) != nil {
			return err
		}
	}
}

// tenantSetting is the setting that row-level security policies read, and the key under which a
// connection remembers its last value.
const tenantSetting = "rotaloom.tenant_id"

// setTenant sets the tenant of a connection before the pool hands it out. The setting belongs to
// the session and is repeated only if it changes, so a service that works for one tenant pays
// nothing.
func setTenant(ctx context.Context, conn *pgx.Conn) (bool, error) {
	want := tenantValue(ctx)
	remembered := conn.PgConn().CustomData()
	if last, known := remembered[tenantSetting]; known && last == want {
		return true, nil
	}
	// Until the response arrives, the value in the session is unknown.
	delete(remembered, tenantSetting)
	_, err := conn.Exec(ctx, "SELECT set_config('"+tenantSetting+"', $1, false)", want)
	switch {
	case err == nil:
		remembered[tenantSetting] = want
		return true, nil
	case ctx.Err() == nil && conn.IsClosed():
		return false, nil // The connection was already dead: the pool takes another one.
	default:
		return false, fmt.Errorf("pg: set tenant: %w", err)
	}
}

// tenantValue returns the setting for a context: one tenant, "*" for all tenants, or "", which
// shows no rows, without a tenant.
func tenantValue(ctx context.Context) string {
	if id, ok := tenant.From(ctx); ok {
		return strconv.FormatInt(id, 10)
	}
	if tenant.IsAll(ctx) {
		return "*"
	}
	return ""
}
