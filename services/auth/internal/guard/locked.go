package guard

import (
	"context"
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/pg"
)

// Locked reports whether a user name is locked, whoever says so otherwise: for
// users who log in elsewhere.
func (g *Guard) Locked(ctx context.Context, tenantID int64, name string) (bool, error) {
	var locked bool
	err := g.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM login_failure
		WHERE tenant_id = $1 AND key = $2 AND locked_until > $3)`, tenantID, userKey(name), g.clock.Now()).Scan(&locked)
	if err != nil {
		return false, fmt.Errorf("look for a locked name: %w", err)
	}
	return locked, nil
}

// Unlock forgets the failures of a user name, so that it can log in again. Those of
// addresses stay.
func (g *Guard) Unlock(ctx context.Context, tx pg.Querier, tenantID int64, name string) error {
	_, err := tx.Exec(ctx, `DELETE FROM login_failure WHERE tenant_id = $1 AND key = $2`, tenantID, userKey(name))
	if err != nil {
		return fmt.Errorf("unlock a name: %w", err)
	}
	return nil
}
