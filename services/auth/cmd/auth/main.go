// Command auth runs the auth service as a separate program. The commands bootstrap, tenant, user and
// signing-keys are for operators.
package main

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/boot"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/serve"
	_ "github.com/rotaloom/rotaloom/proto/contracts" // Every permission.
	"github.com/rotaloom/rotaloom/services/auth"
)

type settings struct {
	serve.Settings
	auth.Config `envprefix:"ROTALOOM_"`

	serve.Commands
	Bootstrap   bootstrap   `cmd:"" help:"Create the first tenant with its administrator and client, as soon as auth has created the schema. Existing accounts do not change."`
	Tenant      tenants     `cmd:"" help:"Create, list, disable and enable tenants."`
	User        users       `cmd:"" help:"List users, unlock user names, and reset passwords."`
	SigningKeys signingKeys `cmd:"" help:"Replace the keys that sign tokens."`
}

func main() {
	s := &settings{}
	s.Bootstrap.settings = s
	s.Tenant.use(s)
	s.User.use(s)
	s.SigningKeys.Rotate.settings = s
	s.Migrate.Configure(&s.Database, auth.Migrations)
	boot.Main("auth", "The auth service of Rotaloom.", s, s.start)
}

func (s *settings) start(ctx context.Context, app *boot.App) error {
	if err := s.CheckKeyEncryption(); err != nil {
		return err
	}
	program, err := serve.NewProgram(app, &s.Settings, "auth")
	if err != nil {
		return err
	}
	backends, err := program.Backends(ctx, auth.Migrations)
	if err != nil {
		return err
	}
	service, err := auth.New(ctx, s.Config, auth.Deps{
		Backends: backends, Permissions: policy.NewTable(nil).Permissions(), OwnRecordActions: policy.NewTable(nil).OwnRecordActions(),
	})
	if err != nil {
		return err
	}
	if err := service.UpdateAccessProfiles(ctx); err != nil {
		return err
	}
	return program.ServeWith(service, authn.Config{Issuer: s.Issuer, Audience: s.Audience, Exchange: service.Exchange}, service, service, service.Clocks())
}
