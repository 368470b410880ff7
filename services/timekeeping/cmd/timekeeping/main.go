// Command timekeeping runs the timekeeping service as a separate program.
package main

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/boot"
	"github.com/rotaloom/rotaloom/pkg/domain/targets"
	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/services/timekeeping"
)

type settings struct {
	serve.Settings
	serve.Tokens
	serve.ConsumerCommands
	timekeeping.Config `envprefix:"ROTALOOM_"`

	targets.Commons
	targets.Scheduling
}

func main() {
	s := &settings{}
	s.ConsumerCommands.Configure(&s.Database, timekeeping.Migrations, timekeeping.Copies)
	boot.Main("timekeeping", "The timekeeping service of Rotaloom.", s, s.start)
}

func (s *settings) start(ctx context.Context, app *boot.App) error {
	program, err := serve.NewProgram(app, &s.Settings, "timekeeping")
	if err != nil {
		return err
	}
	backends, err := program.Backends(ctx, timekeeping.Migrations)
	if err != nil {
		return err
	}
	auth, err := program.Dial(s.AuthTarget)
	if err != nil {
		return err
	}
	commons, err := program.Dial(s.CommonsTarget)
	if err != nil {
		return err
	}
	scheduling, err := program.Dial(s.SchedulingTarget)
	if err != nil {
		return err
	}
	service, err := timekeeping.New(ctx, s.Config, timekeeping.Deps{Backends: backends, Auth: auth, Commons: commons, Scheduling: scheduling})
	if err != nil {
		return err
	}
	return program.Serve(service, s.Tokens, backends.NATS)
}
