package token

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/auth/internal/directory"
	secret "github.com/rotaloom/rotaloom/services/auth/internal/password"
	"github.com/rotaloom/rotaloom/services/auth/internal/username"
)

// authenticateUser returns the user with a name and a password. It checks the user stores in order: the
// built-in one, then the directory.
func (h *Handler) authenticateUser(ctx context.Context, name, password string) (*user, error) {
	attempt, err := h.LoginLimit.Begin(ctx, name, callerAddress(ctx))
	if err != nil {
		return nil, err
	}
	u, err := h.checkPassword(ctx, name, password)
	if err != nil {
		return nil, err
	}
	if u == nil || u.lockedOut || attempt.Locked {
		if err := attempt.RecordFailure(ctx); err != nil {
			return nil, err
		}
		return nil, invalidGrant()
	}
	admitted, err := attempt.RecordSuccess(ctx)
	if err == nil && !admitted {
		err = invalidGrant()
	}
	return u, err
}

// checkPassword returns the user with this password, or nil. An unknown user takes as long as a wrong password.
func (h *Handler) checkPassword(ctx context.Context, name, password string) (*user, error) {
	u, err := findUser(ctx, h.Pool, name)
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
		return u, h.renewHash(ctx, u, password)
	case !h.Directory.Serves(tenant.Of(ctx)):
		return nil, nil
	}
	builtIn := hash != ""
	if builtIn {
		// The directory cannot authenticate users of the built-in store and must not see their passwords.
		// Asking it only keeps the duration equal.
		password = rand.Text()
	}
	found, err := h.Directory.Authenticate(ctx, name, password)
	if err != nil || found == nil || builtIn {
		return nil, err
	}
	return adoptUser(ctx, h.Pool, found)
}

const rehashes pg.Unaudited = "the password does not change; the log-in has an audit row"

// renewHash replaces the hash of a verified password if it was made with other parameters than the current
// ones.
func (h *Handler) renewHash(ctx context.Context, u *user, password string) error {
	if !h.Hasher.Outdated(u.hash) {
		return nil
	}
	hash, err := h.Hasher.Hash(ctx, password)
	if err != nil {
		return err
	}
	done, err := rehashes.Exec(ctx, h.Pool, `UPDATE app_user SET password_hash = $4, long_password = $5
		WHERE tenant_id = $1 AND id = $2 AND password_hash = $3`, tenant.Of(ctx), u.id, u.hash, hash, secret.Long(password))
	if err != nil {
		return fmt.Errorf("renew the hash of a password: %w", err)
	}
	if done.RowsAffected() == 0 {
		return errOutdated // Another process renewed it, or the user changed the password.
	}
	u.hash = hash
	return nil
}

// adoptUser returns the built-in user for a user of the directory, and creates it if necessary. It returns nil if a
// built-in user with a password has the name, because the directory does not authenticate such users.
func adoptUser(ctx context.Context, db pg.Querier, found *directory.User) (*user, error) {
	key, err := username.Key(found.Name)
	if err != nil {
		return nil, nil // Invalid names cannot belong to a user.
	}
	_, err = db.Exec(ctx, `INSERT INTO app_user AS u (tenant_id, username, username_key, password_hash, access_profile)
		VALUES ($1, $2, $4, '', $3)
		ON CONFLICT (tenant_id, username_key) DO UPDATE SET access_profile = excluded.access_profile, updated_at = now()
		WHERE u.password_hash = '' AND excluded.access_profile NOT IN ('', u.access_profile)`,
		tenant.Of(ctx), found.Name, found.Profile, key)
	if err != nil {
		return nil, fmt.Errorf("store user of the directory: %w", err)
	}
	u, err := findUser(ctx, db, found.Name)
	if err != nil || u == nil || u.hash != "" {
		return nil, err
	}
	return u, nil
}
