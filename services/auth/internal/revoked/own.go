package revoked

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// ownPrefix is the prefix of the families of clients' own tokens. No other family has it.
const ownPrefix = "c-"

// ownLife is how long a client's own tokens stay revoked: the longest possible life of a token under any
// setting.
const ownLife = 46 * 24 * time.Hour

// IsClientCredentials reports whether a family contains a client's own tokens. Tokens from an older version
// have no family.
func IsClientCredentials(sid string) bool { return sid == "" || strings.HasPrefix(sid, ownPrefix) }

// ClientWork revokes a client's own tokens, in the transaction that removes rights from it. The caller calls
// WakePublisher after the commit.
func ClientWork(ctx context.Context, tx pg.Querier, clientID string, now time.Time) error {
	return endOwn(ctx, tx, now, `client_id = $4`, clientID)
}

// Tenant revokes all tokens of a tenant, whose row is locked. Tokens of identity providers expire after a
// minute and are not revoked.
func Tenant(ctx context.Context, tx pg.Querier, now time.Time) error {
	if _, err := tx.Exec(ctx, endFamilies+` WHERE tenant_id = $1`+endedRows, tenant.Of(ctx), now); err != nil {
		return fmt.Errorf("revoke tokens of a tenant: %w", err)
	}
	return endOwn(ctx, tx, now, `true`)
}

// endOwn gives a new family to the clients that match a condition. Tokens get the family that their client has
// when they are requested, so a token that is issued at the same time is revoked too.
func endOwn(ctx context.Context, tx pg.Querier, now time.Time, condition string, args ...any) error {
	_, err := tx.Exec(ctx, `WITH old AS (
			SELECT client_id, own_sid FROM client WHERE tenant_id = $1 AND `+condition+` ORDER BY client_id FOR UPDATE),
		ended AS (
			UPDATE client c SET own_sid = DEFAULT FROM old
			WHERE c.tenant_id = $1 AND c.client_id = old.client_id RETURNING old.own_sid)
		INSERT INTO revocation (tenant_id, key, created_at, expires_at)
		SELECT $1, 's.' || own_sid, $2, $3 FROM ended ON CONFLICT DO NOTHING`,
		append([]any{tenant.Of(ctx), now, now.Add(ownLife)}, args...)...)
	if err != nil {
		return fmt.Errorf("revoke tokens of clients' own work: %w", err)
	}
	return nil
}
