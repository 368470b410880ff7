package revoked

import (
	"context"
	"fmt"
	"time"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// These functions revoke token families in the transaction that removes rights from their owners. The caller
// calls WakePublisher after the commit. A log-in locks the rows that it depends on until its family is stored
// (see insertFamily of the package token). Therefore a change must first lock its row and then revoke the
// families. Tokens of identity providers expire after a minute and need no revocation.

// Profile revokes all tokens of users and clients with an access profile. The caller has locked the profile's
// row.
func Profile(ctx context.Context, tx pg.Querier, name string, now time.Time) error {
	_, err := tx.Exec(ctx, endFamilies+` WHERE tenant_id = $1 AND user_id IN
		(SELECT id FROM app_user WHERE tenant_id = $1 AND access_profile = $3)`+endedRows, tenant.Of(ctx), now, name)
	if err != nil {
		return fmt.Errorf("revoke tokens of an access profile: %w", err)
	}
	return endOwn(ctx, tx, now, `access_profile = $4`, name)
}

// OtherProfiles revokes the tokens of the persons' users whose access profile differs from the new one at the
// same index.
func OtherProfiles(ctx context.Context, tx pg.Querier, persons []int64, profiles []string, now time.Time) error {
	if err := lockUsers(ctx, tx, persons); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, endFamilies+` WHERE tenant_id = $1 AND user_id IN
		(SELECT u.id FROM unnest($3::bigint[], $4::text[]) AS q (person, profile)
		 JOIN app_user u ON u.tenant_id = $1 AND u.person_id = q.person AND u.access_profile <> q.profile)`+endedRows,
		tenant.Of(ctx), now, persons, profiles)
	if err != nil {
		return fmt.Errorf("revoke tokens of users with a new access profile: %w", err)
	}
	return nil
}

// Passwords revokes the tokens of the persons' users, whose passwords change, except those in the family keep.
func Passwords(ctx context.Context, tx pg.Querier, persons []int64, keep string, now time.Time) error {
	if len(persons) == 0 {
		return nil
	}
	if err := lockUsers(ctx, tx, persons); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, endFamilies+` WHERE tenant_id = $1 AND sid <> $4 AND user_id IN
		(SELECT id FROM app_user WHERE tenant_id = $1 AND person_id = ANY($3))`+endedRows, tenant.Of(ctx), now, persons, keep)
	if err != nil {
		return fmt.Errorf("revoke tokens of users with a new password: %w", err)
	}
	return nil
}

// lockUsers locks the persons' users: it waits for log-ins in progress, and blocks new ones.
func lockUsers(ctx context.Context, tx pg.Querier, persons []int64) error {
	_, err := tx.Exec(ctx, `SELECT FROM app_user WHERE tenant_id = $1 AND person_id = ANY($2) ORDER BY id FOR UPDATE`, tenant.Of(ctx), persons)
	if err != nil {
		return fmt.Errorf("lock users: %w", err)
	}
	return nil
}

// User revokes all tokens of a user. The caller has locked the user's row.
func User(ctx context.Context, tx pg.Querier, userID int64, now time.Time) error {
	_, err := tx.Exec(ctx, endFamilies+` WHERE tenant_id = $1 AND user_id = $3`+endedRows, tenant.Of(ctx), now, userID)
	if err != nil {
		return fmt.Errorf("revoke tokens of a user: %w", err)
	}
	return nil
}

// Client revokes all tokens that users got through a client, and the client's own tokens. The caller has locked
// the client's row.
func Client(ctx context.Context, tx pg.Querier, clientID string, now time.Time) error {
	_, err := tx.Exec(ctx, endFamilies+` WHERE tenant_id = $1 AND client_id = $3`+endedRows, tenant.Of(ctx), now, clientID)
	if err != nil {
		return fmt.Errorf("revoke tokens of a client: %w", err)
	}
	return ClientWork(ctx, tx, clientID, now)
}
