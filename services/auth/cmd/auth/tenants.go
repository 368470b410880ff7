package main

import (
	"context"
	"io"
	"log/slog"

	"github.com/rotaloom/rotaloom/services/auth"
)

// tenants are the operator commands for tenants.
type tenants struct {
	Create  task[auth.CreateTenantCommand, *auth.CreateTenantCommand]   `cmd:"" help:"Create a tenant with an administrator and a client, and print their secrets. The secrets cannot be shown again."`
	List    task[auth.ListTenantsCommand, *auth.ListTenantsCommand]     `cmd:"" help:"List the tenants."`
	Disable task[auth.DisableTenantCommand, *auth.DisableTenantCommand] `cmd:"" help:"Prevent all users of a tenant from logging in, and revoke their tokens. The data stays."`
	Enable  task[auth.EnableTenantCommand, *auth.EnableTenantCommand]   `cmd:"" help:"Let the users of a tenant log in again."`
}

// users are the operator commands for the users of a tenant.
type users struct {
	List   task[auth.ListUsersCommand, *auth.ListUsersCommand]         `cmd:"" help:"List the users of a tenant."`
	Unlock task[auth.UnlockUserCommand, *auth.UnlockUserCommand]       `cmd:"" help:"Unlock a user name that was locked after wrong passwords."`
	Reset  task[auth.ResetPasswordCommand, *auth.ResetPasswordCommand] `cmd:"" name:"reset-password" help:"Set a new random password for a user, print it, and revoke the user's tokens."`
}

// signingKeys are the operator commands for signing keys.
type signingKeys struct {
	Rotate task[auth.RotateSigningKeysCommand, *auth.RotateSigningKeysCommand] `cmd:"" help:"Replace the signing keys early. Existing tokens stay valid."`
}

// use passes the settings of the program to the commands.
func (t *tenants) use(s *settings) {
	t.Create.settings, t.List.settings, t.Disable.settings, t.Enable.settings = s, s, s, s
}

// use passes the settings of the program to the commands.
func (u *users) use(s *settings) {
	u.List.settings, u.Unlock.settings, u.Reset.settings = s, s, s
}

// task is a command that works on the service's database while other processes serve.
type task[C any, P interface {
	*C
	auth.Operation
}] struct {
	Command C `embed:""`

	settings *settings `kong:"-"`
}

// Do runs the command.
func (t *task[C, P]) Do(ctx context.Context, log *slog.Logger, out io.Writer) error {
	return auth.Do(ctx, t.settings.Database, t.settings.Config, P(&t.Command), log, out)
}
