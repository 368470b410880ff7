// Command recruiting runs the recruiting service as a separate program.
package main

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/boot"
	"github.com/rotaloom/rotaloom/pkg/domain/targets"
	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/services/recruiting"
)

type settings struct {
	serve.Settings
	serve.Tokens
	serve.Commands
	recruiting.Config `envprefix:"ROTALOOM_"`

	targets.Commons
}

func main() {
	s := &settings{}
	s.Migrate.Configure(&s.Database, recruiting.Migrations)
	boot.Main("recruiting", "The recruiting service of Rotaloom.", s, s.start)
}

func (s *settings) start(ctx context.Context, app *boot.App) error {
	program, err := serve.NewProgram(app, &s.Settings, "recruiting")
	if err != nil {
		return err
	}
	backends, err := program.Backends(ctx, recruiting.Migrations)
	if err != nil {
		return err
	}
	commons, err := program.Dial(s.CommonsTarget)
	if err != nil {
		return err
	}
	service, err := recruiting.New(ctx, s.Config, recruiting.Deps{Backends: backends, Commons: commons})
	if err != nil {
		return err
	}
	return program.Serve(service, s.Tokens, backends.NATS)
}
