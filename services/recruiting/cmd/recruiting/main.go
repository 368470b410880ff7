// Command recruiting runs the recruiting service as a separate program.
package main

import (
	"context"

	"google.golang.org/grpc"

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
	targets.Scheduling
	targets.Timekeeping
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
	deps := recruiting.Deps{Backends: backends}
	for _, to := range []struct {
		target string
		conn   *grpc.ClientConnInterface
	}{{s.CommonsTarget, &deps.Commons}, {s.SchedulingTarget, &deps.Scheduling}, {s.TimekeepingTarget, &deps.Timekeeping}} {
		if *to.conn, err = program.Dial(to.target); err != nil {
			return err
		}
	}
	service, err := recruiting.New(ctx, s.Config, deps)
	if err != nil {
		return err
	}
	return program.Serve(service, s.Tokens, backends.NATS)
}
