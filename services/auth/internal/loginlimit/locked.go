package loginlimit

import (
	"context"
	"fmt"
	"time"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// Locked reports whether a user name is locked, for users who are authenticated elsewhere.
func (l *Limiter) Locked(ctx context.Context, name string) (bool, error) {
	var locked bool
	err := l.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM login_failure
		WHERE tenant_id = $1 AND key = $2 AND locked_until > $3)`, tenant.Of(ctx), userKey(name), l.clock.Now()).Scan(&locked)
	if err != nil {
		return false, fmt.Errorf("look for a locked name: %w", err)
	}
	return locked, nil
}

// LockedUntil returns the end of the lock or of the failure window of each user name that cannot log in now.
func (l *Limiter) LockedUntil(ctx context.Context, names []string) (map[string]time.Time, error) {
	keys, nameByKey := make([][]byte, len(names)), make(map[string]string, len(names))
	for i, name := range names {
		keys[i] = userKey(name)
		nameByKey[string(keys[i])] = name
	}
	locked := map[string]time.Time{}
	var key []byte
	var until time.Time
	err := pg.ForEach(ctx, l.pool, []any{&key, &until}, func() error {
		locked[nameByKey[string(key)]] = until
		return nil
	}, `SELECT key, until FROM (
			SELECT key, greatest(locked_until, CASE WHEN failures >= $4 THEN window_ends END) AS until
			FROM login_failure WHERE tenant_id = $1 AND key = ANY($2)) AS failure
		WHERE until > $3`, tenant.Of(ctx), keys, l.clock.Now(), l.limit(true))
	if err != nil {
		return nil, fmt.Errorf("look for locked names: %w", err)
	}
	return locked, nil
}

// Unlock resets the failures of a user name, so that it can log in again. Failures of addresses remain.
func (l *Limiter) Unlock(ctx context.Context, tx pg.Querier, name string) error {
	_, err := tx.Exec(ctx, `DELETE FROM login_failure WHERE tenant_id = $1 AND key = $2`, tenant.Of(ctx), userKey(name))
	if err != nil {
		return fmt.Errorf("unlock a name: %w", err)
	}
	return nil
}
