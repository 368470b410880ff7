package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/audit"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/auth/internal/profile"
	"github.com/rotaloom/rotaloom/services/auth/internal/revoked"
	"github.com/rotaloom/rotaloom/services/auth/internal/username"
)

// Tenant is a customer of an installation.
type Tenant struct {
	ID   int64
	Name string
	// Host is the host name that the tenant's users call; "" means all other names.
	Host string
	// Sandbox means that the tenant is for tests, and that its clock can be advanced. It never changes.
	Sandbox bool
	// ClockAhead is how far the clock of a sandbox is ahead of the real time.
	ClockAhead time.Duration
	// DisabledAt is when the tenant was disabled, or nil.
	DisabledAt *time.Time
}

// NewTenant describes a tenant to create.
type NewTenant struct {
	Name, Host string
	// Sandbox creates a tenant for tests, whose clock can be advanced.
	Sandbox bool
	// Username is the name of the first administrator, and ClientID the id of the first client.
	Username, ClientID string
}

// CreatedTenant is a new tenant with its secrets, which cannot be read again.
type CreatedTenant struct {
	Tenant
	Username, ClientID     string
	Password, ClientSecret obs.Secret
}

const (
	// maxTenantName is the longest name of a tenant, in bytes.
	maxTenantName = 200
	// maxUsername is the longest name of its administrator, in bytes.
	maxUsername = 200
)

var (
	hostForm     = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$`)
	clientIDForm = regexp.MustCompile(`^[A-Za-z0-9._~-]{1,100}$`)
)

func (n NewTenant) check() error {
	switch {
	case !printable(n.Name, maxTenantName):
		return errors.New("a tenant needs a name of 1 to 200 characters, without spaces around it")
	case len(n.Host) > 253 || !hostForm.MatchString(n.Host):
		return errors.New("a tenant needs a host name of its own, without a port, such as example.org")
	case !printable(n.Username, maxUsername):
		return errors.New("the administrator needs a name of 1 to 200 characters, without spaces around it")
	case username.LookupKey(n.Username) == "":
		return errors.New("the administrator's name contains characters that are not permitted in user names")
	case !clientIDForm.MatchString(n.ClientID):
		return errors.New("the client id must have 1 to 100 characters out of letters, digits and -._~")
	}
	return nil
}

func printable(text string, limit int) bool {
	return text != "" && len(text) <= limit && strings.TrimSpace(text) == text &&
		strings.ToValidUTF8(text, "") == text && !strings.ContainsFunc(text, unicode.IsControl)
}

// CreateTenant creates a tenant with an administrator and a client, and generates their secrets. It is for
// operators and not reachable over the network.
func (s *Service) CreateTenant(ctx context.Context, n NewTenant) (CreatedTenant, error) {
	n.Host = strings.ToLower(n.Host)
	created := CreatedTenant{
		Tenant: Tenant{Name: n.Name, Host: n.Host, Sandbox: n.Sandbox}, Username: n.Username, ClientID: n.ClientID,
		Password: obs.Secret(rand.Text()), ClientSecret: obs.Secret(rand.Text() + rand.Text()),
	}
	if err := n.check(); err != nil {
		return created, err
	}
	hash, err := s.hasher.Hash(ctx, created.Password.Reveal())
	if err != nil {
		return created, fmt.Errorf("create tenant: %w", err)
	}
	// Row-level security requires the number of a tenant before its row is written.
	err = s.pool.QueryRow(ctx, `SELECT nextval(pg_get_serial_sequence('tenant', 'id'))`).Scan(&created.ID)
	if err != nil {
		return created, fmt.Errorf("create tenant: %w", err)
	}
	secret := sha256.Sum256([]byte(created.ClientSecret.Reveal()))
	err = pg.InTx(tenant.With(ctx, created.ID), s.pool, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `INSERT INTO tenant (id, name, host, sandbox) VALUES ($1, $2, $3, $4)`, created.ID, n.Name, n.Host, n.Sandbox); err != nil {
			return err
		}
		if _, err := profile.ApplyDefaults(ctx, tx); err != nil {
			return err
		}
		batch := &pgx.Batch{}
		batch.Queue(`INSERT INTO client (tenant_id, client_id, secret_hash) VALUES ($1, $2, $3)`, created.ID, n.ClientID, secret[:])
		batch.Queue(`INSERT INTO app_user (tenant_id, username, username_key, password_hash, long_password, access_profile)
			VALUES ($1, $2, $3, $4, true, $5)`, created.ID, n.Username, username.LookupKey(n.Username), hash, AdministratorProfile)
		if err := tx.SendBatch(ctx, batch).Close(); err != nil {
			return err
		}
		return audit.Operated(ctx, tx, s.clock.Now(), "tenant create", n.Name)
	})
	if pgerr.IsUnique(err, "tenant_host") {
		return created, fmt.Errorf("another tenant has the host name %s", n.Host)
	}
	if err != nil {
		return created, fmt.Errorf("create tenant: %w", err)
	}
	return created, nil
}

// ListTenants returns all tenants, sorted by number.
func (s *Service) ListTenants(ctx context.Context) ([]Tenant, error) {
	found, err := pg.Collect(tenant.All(ctx), s.pool, pgx.RowToStructByPos[Tenant], `SELECT id, name, coalesce(host, ''), sandbox, clock_ahead, disabled_at FROM tenant ORDER BY id`)
	if err != nil {
		return nil, fmt.Errorf("list tenants: %w", err)
	}
	return found, nil
}

// DisableTenant prevents all users of a tenant from logging in, and revokes their tokens. The data stays.
func (s *Service) DisableTenant(ctx context.Context, id int64) error {
	now := s.clock.Now()
	err := s.switchTenant(ctx, id, &now, func(ctx context.Context, tx pgx.Tx) error {
		if err := revoked.Tenant(ctx, tx, now); err != nil {
			return err
		}
		return audit.Operated(ctx, tx, now, "tenant disable", strconv.FormatInt(id, 10))
	})
	if err == nil {
		s.revoked.WakePublisher()
	}
	return err
}

// EnableTenant enables a tenant. Its users must log in again.
func (s *Service) EnableTenant(ctx context.Context, id int64) error {
	return s.switchTenant(ctx, id, nil, func(ctx context.Context, tx pgx.Tx) error {
		return audit.Operated(ctx, tx, s.clock.Now(), "tenant enable", strconv.FormatInt(id, 10))
	})
}

func (s *Service) switchTenant(ctx context.Context, id int64, disabledAt *time.Time, then func(context.Context, pgx.Tx) error) error {
	err := pg.InTx(tenant.With(ctx, id), s.pool, func(ctx context.Context, tx pgx.Tx) error {
		done, err := tx.Exec(ctx, `UPDATE tenant SET disabled_at = $2 WHERE id = $1`, id, disabledAt)
		if err != nil {
			return err
		}
		if done.RowsAffected() == 0 {
			return errNoTenant
		}
		return then(ctx, tx)
	})
	if err != nil {
		return fmt.Errorf("tenant %d: %w", id, err)
	}
	return nil
}

// UnlockUser resets the failed log-ins of a user of a tenant. It returns an error if the tenant or the user does not exist.
func (s *Service) UnlockUser(ctx context.Context, name string) error {
	if err := s.requireTenant(ctx); err != nil {
		return err
	}
	tenantID := tenant.Of(ctx)
	err := pg.InTx(ctx, s.pool, func(ctx context.Context, tx pgx.Tx) error {
		var known bool
		err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM app_user WHERE tenant_id = $1 AND username_key = $2)`, tenantID, username.LookupKey(name)).Scan(&known)
		if err == nil && !known {
			err = errNoUser
		}
		if err != nil {
			return err
		}
		if err := s.loginLimit.Unlock(ctx, tx, name); err != nil {
			return err
		}
		return audit.Operated(ctx, tx, s.clock.Now(), "user unlock", name)
	})
	if err != nil {
		return fmt.Errorf("tenant %d: %w", tenantID, err)
	}
	return nil
}
