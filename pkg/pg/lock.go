package pg

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Locks are advisory and belong to a session: a holder that dies, however it
// dies, has given its lock back.
const (
	tryLock = "SELECT pg_try_advisory_lock(hashtextextended($1, 0))"
	unlock  = "SELECT pg_advisory_unlock(hashtextextended($1, 0))"
)

// TryLock takes the named lock of this database for the session of conn, and
// answers false when another session has it. The lock lasts until the
// connection is closed.
func TryLock(ctx context.Context, conn *pgx.Conn, name string) (bool, error) {
	var got bool
	if err := conn.QueryRow(ctx, tryLock, name).Scan(&got); err != nil {
		return false, fmt.Errorf("pg: take lock %q: %w", name, err)
	}
	return got, nil
}
