package main

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/rotaloom/rotaloom/pkg/boot"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/auth"
)

// bootstrap is the command that creates the first tenant, administrator and client. It is separate from serve,
// so that no server knows the administrator's secrets.
type bootstrap struct {
	boot.Output
	Username     string        `required:"" env:"ROTALOOM_BOOTSTRAP_USERNAME" help:"Name of the first administrator."`
	Password     obs.Secret    `required:"" env:"ROTALOOM_BOOTSTRAP_PASSWORD" help:"Password of the first administrator."`
	ClientID     string        `required:"" env:"ROTALOOM_BOOTSTRAP_CLIENT_ID" help:"Id of the first client."`
	ClientSecret obs.Secret    `required:"" env:"ROTALOOM_BOOTSTRAP_CLIENT_SECRET" help:"Secret of the first client."`
	Wait         time.Duration `default:"5m" env:"ROTALOOM_BOOTSTRAP_WAIT" help:"How long to wait until auth has created the schema."`

	settings *settings `kong:"-"`
}

// Do waits for the schema, creates the accounts and reports success.
func (b *bootstrap) Do(ctx context.Context, log *slog.Logger, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, b.Wait)
	defer cancel()
	return auth.DoOnceMigrated(ctx, b.settings.Database, b.settings.Config, b, log, out)
}

// Operate creates the accounts in the service's database.
func (b *bootstrap) Operate(ctx context.Context, s *auth.Service, out io.Writer) error {
	err := s.EnsureBootstrap(ctx, auth.Bootstrap{
		TenantName: "default", Username: b.Username, Password: b.Password, ClientID: b.ClientID, ClientSecret: b.ClientSecret,
	})
	if err != nil {
		return err
	}
	return b.PrintLine(out, map[string]any{"tenant": tenant.Default, "username": b.Username, "client_id": b.ClientID},
		"the first administrator and client exist")
}
