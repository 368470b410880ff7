// Command commons runs the commons service as a standalone program. The backfill command is
// for operators.
package main

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/boot"
	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/services/commons"
)

type settings struct {
	serve.Settings
	serve.Tokens
	commons.Config `envprefix:"ROTALOOM_"`

	serve.ConsumerCommands
}

func main() {
	s := &settings{}
	s.ConsumerCommands.Configure(&s.Database, commons.Migrations, commons.Copies)
	boot.Main("commons", "The commons service of Rotaloom.", s, s.start)
}

func (s *settings) start(ctx context.Context, app *boot.App) error {
	program, err := serve.NewProgram(app, &s.Settings, "commons")
	if err != nil {
		return err
	}
	backends, err := program.Backends(ctx, commons.Migrations)
	if err != nil {
		return err
	}
	auth, err := program.Dial(s.AuthTarget)
	if err != nil {
		return err
	}
	service, err := commons.New(ctx, s.Config, commons.Deps{Backends: backends, Auth: auth})
	if err != nil {
		return err
	}
	return program.Serve(service, s.Tokens, backends.NATS)
}
