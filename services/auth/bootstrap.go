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
	"github.com/rotaloom/rotaloom/services/auth/internal/profile"
	"github.com/rotaloom/rotaloom/services/auth/internal/username"
)

// AdministratorProfile is the access profile that permits everything.
const AdministratorProfile = profile.Administrator

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
		if _, err := tx.Exec(ctx, `INSERT INTO tenant (id, name, host) VALUES ($1, $2, nullif($3, ''))
			ON CONFLICT DO NOTHING`, tenant.Default, b.TenantName, b.TenantHost); err != nil {
			return err
		}
		changed, err := profile.ApplyDefaults(ctx, tx)
		if err != nil {
			return err
		}
		batch := &pgx.Batch{}
		batch.Queue(`INSERT INTO client (tenant_id, client_id, secret_hash) VALUES ($1, $2, $3)
			ON CONFLICT DO NOTHING`, tenant.Default, b.ClientID, secret[:])
		if !known {
			batch.Queue(`INSERT INTO app_user (tenant_id, username, username_key, password_hash, long_password, access_profile)
				VALUES ($1, $2, $3, $4, true, $5) ON CONFLICT DO NOTHING`,
				tenant.Default, b.Username, username.LookupKey(b.Username), hash, AdministratorProfile)
		}
		if err := tx.SendBatch(ctx, batch).Close(); err != nil {
			return err
		}
		if known {
			return s.auditProfiles(ctx, tx, changed)
		}
		return audit.Operated(ctx, tx, s.clock.Now(), "bootstrap", b.Username)
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

// UpdateAccessProfiles gives all tenants the default access profiles and permissions that are new in this version
// of the program. Call it before the service serves.
func (s *Service) UpdateAccessProfiles(ctx context.Context) error {
	tenants, err := s.ListTenants(ctx)
	if err != nil {
		return err
	}
	for _, t := range tenants {
		err := pg.InTx(tenant.With(ctx, t.ID), s.pool, func(ctx context.Context, tx pgx.Tx) error {
			changed, err := profile.ApplyDefaults(ctx, tx)
			if err != nil {
				return err
			}
			return s.auditProfiles(ctx, tx, changed)
		})
		if err != nil {
			return fmt.Errorf("update access profiles of tenant %d: %w", t.ID, err)
		}
	}
	return nil
}

// auditProfiles writes the changed access profiles of a tenant into the audit log.
func (s *Service) auditProfiles(ctx context.Context, tx pgx.Tx, changed []string) error {
	if len(changed) == 0 {
		return nil
	}
	return audit.Operated(ctx, tx, s.clock.Now(), "access-profiles update", changed...)
}
