package auth

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/audit"
	"github.com/rotaloom/rotaloom/pkg/boot"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/auth/internal/revoked"
	"github.com/rotaloom/rotaloom/services/auth/internal/username"
)

// UnlockUserCommand unlocks a user name that was locked after wrong passwords.
type UnlockUserCommand struct {
	boot.Output
	ID   int64  `arg:"" name:"tenant" help:"Number of the tenant, as tenant list shows it."`
	Name string `arg:"" help:"Name of the user."`
}

// Operate unlocks the name and reports success.
func (c *UnlockUserCommand) Operate(ctx context.Context, s *Service, out io.Writer) error {
	if err := s.UnlockUser(tenant.With(ctx, c.ID), c.Name); err != nil {
		return err
	}
	return c.PrintLine(out, operatedUser{c.ID, c.Name, ""}, "%q of tenant %d can log in again", c.Name, c.ID)
}

// operatedUser is the JSON output of a command for one user.
type operatedUser struct {
	Tenant   int64  `json:"tenant"`
	Username string `json:"username"`
	Password string `json:"password,omitempty"`
}

// ListUsersCommand lists the users of a tenant, or of all tenants.
type ListUsersCommand struct {
	boot.Output
	ID int64 `arg:"" optional:"" name:"tenant" help:"Number of the tenant, as tenant list shows it; the default is all tenants."`
}

// ListedUser is the output for a user.
type ListedUser struct {
	Tenant   int64  `json:"tenant"`
	Username string `json:"username"`
	// PersonID is nil for users without a person.
	PersonID      *int64 `json:"personId,omitempty"`
	AccessProfile string `json:"accessProfile"`
	// LockedOut means that the person cannot log in now.
	LockedOut bool `json:"lockedOut"`
	// LockedUntil is the end of the lock after wrong passwords; nil without a lock.
	LockedUntil *time.Time `json:"lockedUntil,omitempty"`
}

// Operate prints one line for each user.
func (c *ListUsersCommand) Operate(ctx context.Context, s *Service, out io.Writer) error {
	tenants := []Tenant{{ID: c.ID}}
	if c.ID == 0 {
		var err error
		if tenants, err = s.ListTenants(ctx); err != nil {
			return err
		}
	}
	users := []ListedUser{}
	for _, t := range tenants {
		found, err := s.ListUsers(tenant.With(ctx, t.ID))
		if err != nil {
			return err
		}
		users = append(users, found...)
	}
	return c.Print(out, users, func(table io.Writer) {
		fmt.Fprintln(table, "tenant\tuser\tperson\taccess profile\tstate")
		for _, u := range users {
			person, state := "", "may log in"
			if u.PersonID != nil {
				person = fmt.Sprint(*u.PersonID)
			}
			switch {
			case u.LockedOut:
				state = "may not log in now"
			case u.LockedUntil != nil:
				state = "wrong passwords, locked until " + u.LockedUntil.UTC().Format(time.RFC3339)
			}
			fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\n", u.Tenant, u.Username, person, u.AccessProfile, state)
		}
	})
}

// listedAtOnce is the number of users that are read at a time.
const listedAtOnce = 1000

// ListUsers returns the users of a tenant, sorted by the key of the name.
func (s *Service) ListUsers(ctx context.Context) ([]ListedUser, error) {
	if err := s.requireTenant(ctx); err != nil {
		return nil, err
	}
	users := []ListedUser{}
	for after := ""; ; {
		page, last, err := s.usersAfter(ctx, after)
		if err != nil {
			return nil, fmt.Errorf("list users: %w", err)
		}
		users, after = append(users, page...), last
		if len(page) < listedAtOnce {
			return users, nil
		}
	}
}

// usersAfter returns the users after a key, and the key of the last one.
func (s *Service) usersAfter(ctx context.Context, after string) (users []ListedUser, last string, err error) {
	var names []string
	users, err = pg.Collect(ctx, s.pool, func(row pgx.CollectableRow) (u ListedUser, err error) {
		u.Tenant = tenant.Of(ctx)
		err = row.Scan(&u.Username, &last, &u.PersonID, &u.AccessProfile, &u.LockedOut)
		names = append(names, u.Username)
		return u, err
	}, `SELECT username, username_key, person_id, access_profile, locked_out
		FROM app_user WHERE tenant_id = $1 AND username_key > $2 ORDER BY username_key LIMIT $3`, tenant.Of(ctx), after, listedAtOnce)
	if err != nil {
		return nil, "", err
	}
	locked, err := s.loginLimit.LockedUntil(ctx, names)
	for i := range users {
		if until, ok := locked[users[i].Username]; ok {
			users[i].LockedUntil = &until
		}
	}
	return users, last, err
}

// requireTenant returns an error if the tenant does not exist.
func (s *Service) requireTenant(ctx context.Context) error { return RequireTenant(ctx, s.pool) }

// RequireTenant returns an error if the tenant of ctx does not exist in the database of auth.
func RequireTenant(ctx context.Context, pool *pg.Pool) error {
	tenantID := tenant.Of(ctx)
	var known bool
	if err := pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM tenant WHERE id = $1)`, tenantID).Scan(&known); err != nil {
		return fmt.Errorf("tenant %d: %w", tenantID, err)
	}
	if !known {
		return fmt.Errorf("tenant %d: %w", tenantID, errNoTenant)
	}
	return nil
}

var (
	errNoTenant = errors.New("there is no such tenant; tenant list shows the tenants")
	errNoUser   = errors.New("there is no such user")
)

// ResetPasswordCommand sets a new password for a user, for example for an administrator who has lost the
// password.
type ResetPasswordCommand struct {
	boot.Output
	ID   int64  `arg:"" name:"tenant" help:"Number of the tenant, as tenant list shows it."`
	Name string `arg:"" help:"Name of the user."`
}

// Operate prints the password, once.
func (c *ResetPasswordCommand) Operate(ctx context.Context, s *Service, out io.Writer) error {
	password, err := s.ResetPassword(tenant.With(ctx, c.ID), c.Name)
	if err != nil {
		return err
	}
	return c.PrintLine(out, operatedUser{c.ID, c.Name, password.Reveal()}, "username: %s\npassword: %s", c.Name, password.Reveal())
}

// ResetPassword sets a random password for a user, revokes the user's tokens and resets the failed log-ins. It
// is for operators and not reachable over the network.
func (s *Service) ResetPassword(ctx context.Context, name string) (obs.Secret, error) {
	if err := s.requireTenant(ctx); err != nil {
		return "", err
	}
	tenantID := tenant.Of(ctx)
	password := obs.Secret(rand.Text())
	hash, err := s.hasher.Hash(ctx, password.Reveal())
	if err != nil {
		return "", fmt.Errorf("reset a password: %w", err)
	}
	err = pg.InTx(ctx, s.pool, func(ctx context.Context, tx pgx.Tx) error {
		var id int64
		err := tx.QueryRow(ctx, `UPDATE app_user SET password_hash = $3, long_password = true, updated_at = now()
			WHERE tenant_id = $1 AND username_key = $2 RETURNING id`, tenantID, username.LookupKey(name), hash).Scan(&id)
		if errors.Is(err, pgx.ErrNoRows) {
			return errNoUser
		}
		if err != nil {
			return err
		}
		now := s.clock.Now()
		if err := revoked.User(ctx, tx, id, now); err != nil {
			return err
		}
		if err := s.loginLimit.Unlock(ctx, tx, name); err != nil {
			return err
		}
		return audit.Operated(ctx, tx, now, "user reset-password", name)
	})
	if err != nil {
		return "", fmt.Errorf("tenant %d: user %q: %w", tenantID, name, err)
	}
	s.revoked.WakePublisher()
	return password, nil
}
