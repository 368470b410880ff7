package revoked

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/rotaloom/rotaloom/pkg/pg"
)

// ownPrefix is what the family of a client's own tokens begins with, and no other
// does.
const ownPrefix = "c-"

// ownFor is for how long the tokens of a client's own work stay revoked: for as long
// as tokens can live at most, whatever the setting was when they were issued.
const ownFor = 46 * 24 * time.Hour

// IsClientCredentials reports whether tokens of a family are of a client's own work. Those that
// an older version issued have no family.
func IsClientCredentials(sid string) bool { return sid == "" || strings.HasPrefix(sid, ownPrefix) }

// ClientWork revokes the tokens of a client's own work, in the transaction that
// takes something away from it. The caller calls Published when it has committed.
func ClientWork(ctx context.Context, tx pg.Querier, tenantID int64, clientID string, now time.Time) error {
	return endOwn(ctx, tx, tenantID, now, `client_id = $4`, clientID)
}

// Tenant revokes all tokens of a tenant whose row is locked, but for those of
// identity providers, which end after a minute.
func Tenant(ctx context.Context, tx pg.Querier, tenantID int64, now time.Time) error {
	if _, err := tx.Exec(ctx, endFamilies+` WHERE tenant_id = $1`+endedRows, tenantID, now); err != nil {
		return fmt.Errorf("revoke tokens of a tenant: %w", err)
	}
	return endOwn(ctx, tx, tenantID, now, `true`)
}

// endOwn gives the clients that a condition chooses another family. A token is
// issued with the family that the client has when it is asked for, so one that is
// issued meanwhile is revoked, too.
func endOwn(ctx context.Context, tx pg.Querier, tenantID int64, now time.Time, condition string, args ...any) error {
	_, err := tx.Exec(ctx, `WITH old AS (
			SELECT client_id, own_sid FROM client WHERE tenant_id = $1 AND `+condition+` ORDER BY client_id FOR UPDATE),
		ended AS (
			UPDATE client c SET own_sid = DEFAULT FROM old
			WHERE c.tenant_id = $1 AND c.client_id = old.client_id RETURNING old.own_sid)
		INSERT INTO revocation (tenant_id, key, created_at, expires_at)
		SELECT $1, 's.' || own_sid, $2, $3 FROM ended ON CONFLICT DO NOTHING`,
		append([]any{tenantID, now, now.Add(ownFor)}, args...)...)
	if err != nil {
		return fmt.Errorf("revoke tokens of clients' own work: %w", err)
	}
	return nil
}
