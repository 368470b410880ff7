package revoked

import (
	"context"
	"fmt"
	"time"

	"github.com/rotaloom/rotaloom/pkg/pg"
)

// These end families in the transaction that takes something away from whoever
// has them. The caller calls Published when it has committed. A log-in locks the
// rows that it goes by until its family is there (see insertFamily of the package
// token). So whoever changes one of them locks it first and ends the families then.
// Those of identity providers end by themselves, after a minute.

// Profile revokes all tokens of the users, and of the clients' own work, that have
// an access profile. Its row is locked.
func Profile(ctx context.Context, tx pg.Querier, tenantID int64, name string, now time.Time) error {
	_, err := tx.Exec(ctx, endFamilies+` WHERE tenant_id = $1 AND user_id IN
		(SELECT id FROM app_user WHERE tenant_id = $1 AND access_profile = $3)`+endedRows, tenantID, now, name)
	if err != nil {
		return fmt.Errorf("revoke tokens of an access profile: %w", err)
	}
	return endOwn(ctx, tx, tenantID, now, `access_profile = $4`, name)
}

// OtherProfiles revokes the tokens of those persons' users who have another
// access profile than the one at their position.
func OtherProfiles(ctx context.Context, tx pg.Querier, tenantID int64, persons []int64, profiles []string, now time.Time) error {
	if err := lockUsers(ctx, tx, tenantID, persons); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, endFamilies+` WHERE tenant_id = $1 AND user_id IN
		(SELECT u.id FROM unnest($3::bigint[], $4::text[]) AS q (person, profile)
		 JOIN app_user u ON u.tenant_id = $1 AND u.person_id = q.person AND u.access_profile <> q.profile)`+endedRows,
		tenantID, now, persons, profiles)
	if err != nil {
		return fmt.Errorf("revoke tokens of users with a new access profile: %w", err)
	}
	return nil
}

// Passwords revokes the tokens of those persons' users who get another password, but
// for those of the family keep.
func Passwords(ctx context.Context, tx pg.Querier, tenantID int64, persons []int64, keep string, now time.Time) error {
	if len(persons) == 0 {
		return nil
	}
	if err := lockUsers(ctx, tx, tenantID, persons); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, endFamilies+` WHERE tenant_id = $1 AND sid <> $4 AND user_id IN
		(SELECT id FROM app_user WHERE tenant_id = $1 AND person_id = ANY($3))`+endedRows, tenantID, now, persons, keep)
	if err != nil {
		return fmt.Errorf("revoke tokens of users with a new password: %w", err)
	}
	return nil
}

// lockUsers waits for the log-ins of persons' users that are under way, and makes
// others wait.
func lockUsers(ctx context.Context, tx pg.Querier, tenantID int64, persons []int64) error {
	_, err := tx.Exec(ctx, `SELECT FROM app_user WHERE tenant_id = $1 AND person_id = ANY($2) ORDER BY id FOR UPDATE`, tenantID, persons)
	if err != nil {
		return fmt.Errorf("lock users: %w", err)
	}
	return nil
}

// User revokes all tokens that were issued to a user. Their row is locked.
func User(ctx context.Context, tx pg.Querier, tenantID, userID int64, now time.Time) error {
	_, err := tx.Exec(ctx, endFamilies+` WHERE tenant_id = $1 AND user_id = $3`+endedRows, tenantID, now, userID)
	if err != nil {
		return fmt.Errorf("revoke tokens of a user: %w", err)
	}
	return nil
}

// Client revokes all tokens that users got by a client, and those of its own work.
// Its row is locked.
func Client(ctx context.Context, tx pg.Querier, tenantID int64, clientID string, now time.Time) error {
	_, err := tx.Exec(ctx, endFamilies+` WHERE tenant_id = $1 AND client_id = $3`+endedRows, tenantID, now, clientID)
	if err != nil {
		return fmt.Errorf("revoke tokens of a client: %w", err)
	}
	return ClientWork(ctx, tx, tenantID, clientID, now)
}
