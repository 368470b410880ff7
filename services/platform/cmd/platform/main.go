// Command platform runs the platform service as a separate program.
package main

import (
	"context"

	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/boot"
	"github.com/rotaloom/rotaloom/pkg/domain/targets"
	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/pkg/sizes"
	_ "github.com/rotaloom/rotaloom/proto/contracts" // Every limit.
	"github.com/rotaloom/rotaloom/services/platform"
)

type settings struct {
	serve.Settings
	serve.Tokens
	serve.Commands
	platform.Config `envprefix:"ROTALOOM_"`

	// Body must have the same value as in the edge. It is shown to callers.
	sizes.Body

	targets.Commons
	targets.Timekeeping
	targets.Scheduling
	targets.Recruiting
}

func main() {
	s := &settings{}
	s.Migrate.Configure(&s.Database, platform.Migrations)
	boot.Main("platform", "The platform service of Rotaloom.", s, s.start)
}

func (s *settings) start(ctx context.Context, app *boot.App) error {
	program, err := serve.NewProgram(app, &s.Settings, "platform")
	if err != nil {
		return err
	}
	backends, err := program.Backends(ctx, platform.Migrations)
	if err != nil {
		return err
	}
	s.BodyBytes = s.BodyLimit
	deps := platform.Deps{Backends: backends}
	for _, to := range []struct {
		target string
		conn   *grpc.ClientConnInterface
	}{
		{s.AuthTarget, &deps.Auth},
		{s.CommonsTarget, &deps.Commons},
		{s.TimekeepingTarget, &deps.Timekeeping},
		{s.SchedulingTarget, &deps.Scheduling},
		{s.RecruitingTarget, &deps.Recruiting},
	} {
		conn, err := program.Dial(to.target)
		if err != nil {
			return err
		}
		*to.conn = conn
	}
	service, err := platform.New(ctx, s.Config, deps)
	if err != nil {
		return err
	}
	return program.Serve(service, s.Tokens, backends.NATS)
}
