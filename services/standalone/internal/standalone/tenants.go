package standalone

import (
	"context"
	"io"
	"log/slog"
	"path/filepath"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/auth"
	"github.com/rotaloom/rotaloom/services/standalone/internal/privatepg"
)

// Tenants contains the operator commands for tenants. They work on the database of a serving process.
type Tenants struct {
	Create  task[auth.CreateTenantCommand, *auth.CreateTenantCommand]   `cmd:"" help:"Create a tenant with an administrator and a client, and print their secrets. The secrets cannot be shown again."`
	List    task[auth.ListTenantsCommand, *auth.ListTenantsCommand]     `cmd:"" help:"List the tenants."`
	Disable task[auth.DisableTenantCommand, *auth.DisableTenantCommand] `cmd:"" help:"Prevent all users of a tenant from logging in, and revoke their tokens. The data stays."`
	Enable  task[auth.EnableTenantCommand, *auth.EnableTenantCommand]   `cmd:"" help:"Let the users of a tenant log in again."`
}

// Users contains the operator commands for the users of a tenant. They work on the database of a serving
// process, also if no administrator can log in.
type Users struct {
	List   task[auth.ListUsersCommand, *auth.ListUsersCommand]         `cmd:"" help:"List the users of a tenant."`
	Unlock task[auth.UnlockUserCommand, *auth.UnlockUserCommand]       `cmd:"" help:"Unlock a user name that was locked after wrong passwords."`
	Reset  task[auth.ResetPasswordCommand, *auth.ResetPasswordCommand] `cmd:"" name:"reset-password" help:"Set a new random password for a user, print it, and revoke the user's tokens."`
}

// SigningKeys contains the operator commands for the keys that sign tokens.
type SigningKeys struct {
	Rotate task[auth.RotateSigningKeysCommand, *auth.RotateSigningKeysCommand] `cmd:"" help:"Replace the signing keys early. Existing tokens stay valid."`
}

// task is an operator command.
type task[C any, P interface {
	*C
	auth.Operation
}] struct {
	Command  C                `embed:""`
	StateDir string           `default:".state" type:"path" help:"State folder of the serving process."`
	Database privatepg.Config `embed:"" prefix:"database-" envprefix:"ROTALOOM_DATABASE_"`
	Auth     auth.Config      `embed:"" envprefix:"ROTALOOM_"`
}

// Do runs the command.
func (t *task[C, P]) Do(ctx context.Context, log *slog.Logger, out io.Writer) error {
	url, err := privatepg.Running(ctx, t.Database, filepath.Join(t.StateDir, "postgresql"), log, "auth")
	if err != nil {
		return err
	}
	return auth.Do(ctx, pg.Config{URL: url, AllowInsecure: t.Database.AllowInsecure}, t.Auth, P(&t.Command), log, out)
}

// requireTenant returns an error if auth does not know the tenant of a command.
func requireTenant(ctx context.Context, server privatepg.Config, stateDir string, id int64, log *slog.Logger) error {
	url, err := privatepg.Running(ctx, server, filepath.Join(stateDir, "postgresql"), log, "auth")
	if err != nil {
		return err
	}
	pool, err := pg.Open(ctx, pg.Config{URL: url, AllowInsecure: server.AllowInsecure, MaxConns: 1}, log)
	if err != nil {
		return err
	}
	defer pool.Close()
	return auth.RequireTenant(tenant.With(ctx, id), pool)
}
