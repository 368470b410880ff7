package main

import (
	"context"
	"io"
	"log/slog"

	"github.com/rotaloom/rotaloom/services/auth"
)

// tenants are the commands of operators.
type tenants struct {
	Create  task[auth.CreateTenantCommand, *auth.CreateTenantCommand]   `cmd:"" help:"Make a tenant with an administrator and a client, and print their secrets, which nothing shows again."`
	List    task[auth.ListTenantsCommand, *auth.ListTenantsCommand]     `cmd:"" help:"List the tenants."`
	Disable task[auth.DisableTenantCommand, *auth.DisableTenantCommand] `cmd:"" help:"Let nobody of a tenant log in, and end its tokens. Its data stays."`
	Enable  task[auth.EnableTenantCommand, *auth.EnableTenantCommand]   `cmd:"" help:"Let the users of a tenant log in again."`
}

// users are the commands of operators over the users of a tenant.
type users struct {
	List   task[auth.ListUsersCommand, *auth.ListUsersCommand]         `cmd:"" help:"List the users of a tenant."`
	Unlock task[auth.UnlockUserCommand, *auth.UnlockUserCommand]       `cmd:"" help:"Let a user name log in again that wrong passwords keep out."`
	Reset  task[auth.ResetPasswordCommand, *auth.ResetPasswordCommand] `cmd:"" name:"reset-password" help:"Give a user a new password, print it, and end their tokens."`
}

// signingKeys are the commands of operators for them.
type signingKeys struct {
	Rotate task[auth.RotateSigningKeysCommand, *auth.RotateSigningKeysCommand] `cmd:"" help:"Replace the signing keys before their time. No token is refused because of it."`
}

// of gives the commands the settings of the program.
func (t *tenants) of(s *settings) {
	t.Create.settings, t.List.settings, t.Disable.settings, t.Enable.settings = s, s, s, s
}

// of gives the commands the settings of the program.
func (u *users) of(s *settings) {
	u.List.settings, u.Unlock.settings, u.Reset.settings = s, s, s
}

// task is a command that works on the service's database, beside the programs that
// serve.
type task[C any, P interface {
	*C
	auth.Operation
}] struct {
	Command C `embed:""`

	settings *settings `kong:"-"`
}

// Do does what the command says.
func (t *task[C, P]) Do(ctx context.Context, log *slog.Logger, out io.Writer) error {
	return auth.Do(ctx, t.settings.Database, t.settings.Config, P(&t.Command), log, out)
}
