// Package advisory uses the advisory locks of PostgreSQL: locks by name, held by a transaction or a
// session.
package advisory

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// Lock is the name of an advisory lock. Locks are declared as constants with unique names
// (tests/architecture). A lock belongs to one database, so locks of different services are
// independent.
//
// The database locks a 64-bit key that is derived from the name, the tenant and the member.
type Lock string

// lockKey is the key of a tenant's lock; tenant 0 means all tenants.
const lockKey = "hashint8extended($2::bigint, hashtextextended($1::text, 0))"

const (
	lockOne       = "SELECT pg_advisory_xact_lock(" + lockKey + ")"
	tryOne        = "SELECT pg_try_advisory_xact_lock(" + lockKey + ")"
	trySession    = "SELECT pg_try_advisory_lock(hashtextextended($1::text, hashtextextended($2::text, 0)))"
	unlockSession = "SELECT pg_advisory_unlock(hashtextextended($1::text, hashtextextended($2::text, 0)))"
	lockText      = "SELECT pg_advisory_xact_lock(hashtextextended($1::text, hashtextextended($2::text, 0)))"

	// The keys are locked in ascending order: two transactions that need the same keys meet at the
	// first one, and cannot wait for each other in a circle.
	lockEach = `SELECT pg_advisory_xact_lock(key) FROM (
    SELECT DISTINCT hashint8extended(member, ` + lockKey + `) AS key FROM unnest($3::bigint[]) AS member ORDER BY key OFFSET 0) AS keys`
)

// Wait waits until no other transaction holds the tenant's lock, and holds it until tx ends.
func (l Lock) Wait(ctx context.Context, tx pgx.Tx) error {
	return l.exec(ctx, tx, lockOne, string(l), tenant.Of(ctx))
}

// Queue adds Wait as the next statement of a batch.
func (l Lock) Queue(batch *pgx.Batch, tenantID int64) *pgx.QueuedQuery {
	return batch.Queue(lockOne, string(l), tenantID)
}

// WaitEach is Wait for several members of the lock, in one statement.
func (l Lock) WaitEach(ctx context.Context, tx pgx.Tx, members []int64) error {
	return l.exec(ctx, tx, lockEach, string(l), tenant.Of(ctx), members)
}

// QueueEach adds WaitEach as the next statement of a batch.
func (l Lock) QueueEach(batch *pgx.Batch, tenantID int64, members []int64) *pgx.QueuedQuery {
	return batch.Queue(lockEach, string(l), tenantID, members)
}

// WaitText is Wait for a member with a name, across the whole database.
func (l Lock) WaitText(ctx context.Context, tx pgx.Tx, member string) error {
	return l.exec(ctx, tx, lockText, member, string(l))
}

// Try acquires the tenant's lock until tx ends, or returns false if another transaction holds it.
func (l Lock) Try(ctx context.Context, tx pgx.Tx) (bool, error) {
	return l.try(ctx, tx, tryOne, string(l), tenant.Of(ctx))
}

// TrySession acquires a member of the lock ("" for the lock itself) for the session of conn, or
// returns false if another session holds it. The server releases it when the connection ends, even
// if the process dies.
func (l Lock) TrySession(ctx context.Context, conn *pgx.Conn, member string) (bool, error) {
	return l.try(ctx, conn, trySession, member, string(l))
}

// TrySQL is TrySession for the lock itself, on a connection of database/sql.
func (l Lock) TrySQL(ctx context.Context, conn *sql.Conn) (got bool, err error) {
	if err := conn.QueryRowContext(ctx, trySession, "", string(l)).Scan(&got); err != nil {
		return false, fmt.Errorf("pg: acquire lock %q: %w", string(l), err)
	}
	return got, nil
}

// UnlockSQL releases a lock of TrySQL.
func (l Lock) UnlockSQL(ctx context.Context, conn *sql.Conn) error {
	_, err := conn.ExecContext(ctx, unlockSession, "", string(l))
	return err
}

func (l Lock) exec(ctx context.Context, tx pgx.Tx, sql string, args ...any) error {
	if _, err := tx.Exec(ctx, sql, args...); err != nil {
		return fmt.Errorf("pg: wait for lock %q: %w", string(l), err)
	}
	return nil
}

func (l Lock) try(ctx context.Context, db interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}, sql string, args ...any,
) (got bool, err error) {
	if err := db.QueryRow(ctx, sql, args...).Scan(&got); err != nil {
		return false, fmt.Errorf("pg: acquire lock %q: %w", string(l), err)
	}
	return got, nil
}
