package standalone

import (
	"context"
	"io"
	"log/slog"
	"path/filepath"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/services/auth"
	"github.com/rotaloom/rotaloom/services/standalone/internal/privatepg"
)

// Tenants are the commands of operators. They work on the database of a process
// that serves.
type Tenants struct {
	Create  task[auth.CreateTenantCommand, *auth.CreateTenantCommand]   `cmd:"" help:"Make a tenant with an administrator and a client, and print their secrets, which nothing shows again."`
	List    task[auth.ListTenantsCommand, *auth.ListTenantsCommand]     `cmd:"" help:"List the tenants."`
	Disable task[auth.DisableTenantCommand, *auth.DisableTenantCommand] `cmd:"" help:"Let nobody of a tenant log in, and end its tokens. Its data stays."`
	Enable  task[auth.EnableTenantCommand, *auth.EnableTenantCommand]   `cmd:"" help:"Let the users of a tenant log in again."`
}

// Users are the commands of operators over the users of a tenant, on the database of a
// process that serves: they work also when no administrator can log in.
type Users struct {
	List   task[auth.ListUsersCommand, *auth.ListUsersCommand]         `cmd:"" help:"List the users of a tenant."`
	Unlock task[auth.UnlockUserCommand, *auth.UnlockUserCommand]       `cmd:"" help:"Let a user name log in again that wrong passwords keep out."`
	Reset  task[auth.ResetPasswordCommand, *auth.ResetPasswordCommand] `cmd:"" name:"reset-password" help:"Give a user a new password, print it, and end their tokens."`
}

// SigningKeys are the commands of operators for the keys that sign tokens.
type SigningKeys struct {
	Rotate task[auth.RotateSigningKeysCommand, *auth.RotateSigningKeysCommand] `cmd:"" help:"Replace the signing keys before their time. No token is refused because of it."`
}

// task is one of them.
type task[C any, P interface {
	*C
	auth.Operation
}] struct {
	Command  C                `embed:""`
	StateDir string           `default:".state" type:"path" help:"State folder of the process that serves."`
	Database privatepg.Config `embed:"" prefix:"database-" envprefix:"ROTALOOM_DATABASE_"`
	Auth     auth.Config      `embed:"" envprefix:"ROTALOOM_"`
}

// Do does what the command says.
func (t *task[C, P]) Do(ctx context.Context, log *slog.Logger, out io.Writer) error {
	url, err := privatepg.Running(ctx, t.Database, filepath.Join(t.StateDir, "postgresql"), log, "auth")
	if err != nil {
		return err
	}
	return auth.Do(ctx, pg.Config{URL: url, AllowInsecure: t.Database.AllowInsecure}, t.Auth, P(&t.Command), log, out)
}
