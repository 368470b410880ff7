package token

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/services/auth/internal/directory"
	secret "github.com/rotaloom/rotaloom/services/auth/internal/password"
	"github.com/rotaloom/rotaloom/services/auth/internal/username"
)

// userWith returns the user with a name and a password, of whom the stores of
// the chain are asked in their order: the built-in one, then the directory.
func (h *Handler) userWith(ctx context.Context, c *client, name, password string) (*user, error) {
	attempt, err := h.LoginLimit.Begin(ctx, c.tenantID, name, addressOf(ctx))
	if err != nil {
		return nil, err
	}
	u, err := h.checked(ctx, c.tenantID, name, password)
	if err != nil {
		return nil, err
	}
	if u == nil || u.lockedOut || attempt.Locked {
		if err := attempt.Failed(ctx); err != nil {
			return nil, err
		}
		return nil, invalidGrant()
	}
	admitted, err := attempt.Succeeded(ctx)
	if err == nil && !admitted {
		err = invalidGrant()
	}
	return u, err
}

// checked returns the user whose password it is, or nil. An unknown user costs
// as much time as a wrong password.
func (h *Handler) checked(ctx context.Context, tenantID int64, name, password string) (*user, error) {
	u, err := userNamed(ctx, h.Pool, tenantID, name)
	if err != nil {
		return nil, err
	}
	hash := ""
	if u != nil {
		hash = u.hash
	}
	right, err := h.Hasher.Matches(ctx, hash, password)
	switch {
	case err != nil:
		return nil, err
	case right:
		return u, h.renewHash(ctx, tenantID, u, password)
	case !h.Directory.Serves(tenantID):
		return nil, nil
	}
	ours := hash != ""
	if ours {
		// The directory has no say about our own users, and does not get to see
		// what they type. It is asked for the sake of the time.
		password = rand.Text()
	}
	found, err := h.Directory.Authenticate(ctx, name, password)
	if err != nil || found == nil || ours {
		return nil, err
	}
	return adopt(ctx, h.Pool, tenantID, found)
}

const rehashes pg.Unaudited = "the password stays what it was; the log-in has a row of its own"

// renewHash makes the hash of a password that has just been shown anew, when hashing
// is set otherwise than when it was made.
func (h *Handler) renewHash(ctx context.Context, tenantID int64, u *user, password string) error {
	if !h.Hasher.Outdated(u.hash) {
		return nil
	}
	hash, err := h.Hasher.Hash(ctx, password)
	if err != nil {
		return err
	}
	done, err := rehashes.Exec(ctx, h.Pool, `UPDATE app_user SET password_hash = $4, long_password = $5
		WHERE tenant_id = $1 AND id = $2 AND password_hash = $3`, tenantID, u.id, u.hash, hash, secret.Long(password))
	if err != nil {
		return fmt.Errorf("renew the hash of a password: %w", err)
	}
	if done.RowsAffected() == 0 {
		return errOutdated // Somebody else renewed it, or changed the password.
	}
	u.hash = hash
	return nil
}

// adopt returns the user of the built-in store who is a user of the directory,
// and makes one when there is none. It returns nil when the name is that of a
// user with a password of our own: such users are not the directory's.
func adopt(ctx context.Context, db pg.Querier, tenantID int64, found *directory.User) (*user, error) {
	key, err := username.Key(found.Name)
	if err != nil {
		return nil, nil // Nobody here can have the name.
	}
	_, err = db.Exec(ctx, `INSERT INTO app_user AS u (tenant_id, username, username_key, password_hash, access_profile)
		VALUES ($1, $2, $4, '', $3)
		ON CONFLICT (tenant_id, username_key) DO UPDATE SET access_profile = excluded.access_profile, updated_at = now()
		WHERE u.password_hash = '' AND excluded.access_profile NOT IN ('', u.access_profile)`,
		tenantID, found.Name, found.Profile, key)
	if err != nil {
		return nil, fmt.Errorf("store user of the directory: %w", err)
	}
	u, err := userNamed(ctx, db, tenantID, found.Name)
	if err != nil || u == nil || u.hash != "" {
		return nil, err
	}
	return u, nil
}
