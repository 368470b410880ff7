// Command scheduling runs the scheduling service as a separate process. The propagator runs inside
// it unless it is switched off.
package main

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/boot"
	"github.com/rotaloom/rotaloom/pkg/domain/targets"
	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/services/scheduling"
)

type settings struct {
	serve.Settings
	serve.Tokens
	serve.ConsumerCommands
	scheduling.Config `envprefix:"ROTALOOM_"`

	targets.Commons

	Propagate bool `default:"true" negatable:"" help:"Apply changes to schedules in this process."`
}

func main() {
	s := &settings{}
	s.ConsumerCommands.Configure(&s.Database, scheduling.Migrations, scheduling.Copies)
	boot.Main("scheduling", "The scheduling service of Rotaloom.", s, s.start)
}

func (s *settings) start(ctx context.Context, app *boot.App) error {
	program, err := serve.NewProgram(app, &s.Settings, "scheduling")
	if err != nil {
		return err
	}
	backends, err := program.Backends(ctx, scheduling.Migrations)
	if err != nil {
		return err
	}
	service, err := s.service(ctx, program, backends)
	if err != nil {
		return err
	}
	if s.Propagate {
		return program.Serve(service.WithPropagator(), s.Tokens, backends.NATS)
	}
	return program.Serve(service, s.Tokens, backends.NATS)
}

func (s *settings) service(ctx context.Context, program *serve.Program, backends serve.Backends) (*scheduling.Service, error) {
	commons, err := program.Dial(s.CommonsTarget)
	if err != nil {
		return nil, err
	}
	return scheduling.New(ctx, s.Config, scheduling.Deps{Backends: backends, Commons: commons})
}
