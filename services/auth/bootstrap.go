package auth

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/audit"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/auth/internal/password"
	"github.com/rotaloom/rotaloom/services/auth/internal/username"
)

// AdministratorProfile is the access profile that permits everything.
const AdministratorProfile = "Administrator"

// Bootstrap contains the first accounts of an empty installation.
type Bootstrap struct {
	TenantName string
	// TenantHost is the host name of the tenant's users, or "" for all names.
	TenantHost string
	// Username and Password of the first administrator.
	Username string
	Password obs.Secret
	// ClientID and ClientSecret of the first client. The secret is long and random.
	ClientID     string
	ClientSecret obs.Secret
}

// EnsureBootstrap creates the default tenant with an administrator and a client. It changes no existing rows,
// so it can be repeated.
func (s *Service) EnsureBootstrap(ctx context.Context, b Bootstrap) error {
	ctx = tenant.With(ctx, tenant.Default)
	known, err := s.userExists(ctx, b.Username)
	if err != nil {
		return fmt.Errorf("bootstrap: %w", err)
	}
	hash := ""
	if !known {
		if refused := password.Check(b.Password.Reveal(), b.Username, true); refused != nil {
			return fmt.Errorf("bootstrap: the first administrator: %w", refused)
		}
		if hash, err = s.hasher.Hash(ctx, b.Password.Reveal()); err != nil {
			return fmt.Errorf("bootstrap: %w", err)
		}
	}
	secret := sha256.Sum256([]byte(b.ClientSecret.Reveal()))
	err = pg.InTx(ctx, s.pool, func(ctx context.Context, tx pgx.Tx) error {
		batch := &pgx.Batch{}
		batch.Queue(`INSERT INTO tenant (id, name, host) VALUES ($1, $2, nullif($3, ''))
			ON CONFLICT DO NOTHING`, tenant.Default, b.TenantName, b.TenantHost)
		batch.Queue(`INSERT INTO access_profile (tenant_id, name, permissions) VALUES ($1, $2, '{*}')
			ON CONFLICT DO NOTHING`, tenant.Default, AdministratorProfile)
		batch.Queue(`INSERT INTO client (tenant_id, client_id, secret_hash) VALUES ($1, $2, $3)
			ON CONFLICT DO NOTHING`, tenant.Default, b.ClientID, secret[:])
		if !known {
			batch.Queue(`INSERT INTO app_user (tenant_id, username, username_key, password_hash, long_password, access_profile)
				VALUES ($1, $2, $3, $4, true, $5) ON CONFLICT DO NOTHING`,
				tenant.Default, b.Username, username.LookupKey(b.Username), hash, AdministratorProfile)
		}
		if err := tx.SendBatch(ctx, batch).Close(); err != nil || known {
			return err
		}
		return audit.Operated(ctx, tx, tenant.Default, s.clock.Now(), "bootstrap", b.Username)
	})
	if err != nil {
		return fmt.Errorf("bootstrap: %w", err)
	}
	return nil
}

func (s *Service) userExists(ctx context.Context, name string) (bool, error) {
	var known bool
	err := s.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM app_user
		WHERE tenant_id = $1 AND username_key = $2)`, tenant.Default, username.LookupKey(name)).Scan(&known)
	return known, err
}
