// Command commons is the commons service as a program of its own. Refill is for
// operators.
package main

import (
	"context"
	"io"
	"log/slog"

	"github.com/rotaloom/rotaloom/pkg/boot"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/services/commons"
)

type settings struct {
	serve.Settings
	serve.Tokens
	commons.Config `envprefix:"ROTALOOM_"`

	serve.Commands
	Refill refill `cmd:"" help:"Fill what is kept here of other services again, beside the programs that serve."`
}

// refill is the command of that name.
type refill struct {
	Command commons.RefillCommand `embed:""`

	settings *settings `kong:"-"`
}

// Do does what the command says.
func (r *refill) Do(ctx context.Context, log *slog.Logger, out io.Writer) error {
	return r.Command.Do(ctx, r.settings.Database, log, out)
}

func main() {
	s := &settings{}
	s.Refill.settings = s
	s.Migrate.Of(&s.Database, commons.Migrations)
	boot.Main("commons", "The commons service of Rotaloom.", s, s.start)
}

func (s *settings) start(ctx context.Context, app *boot.App) error {
	program, err := serve.NewProgram(app, &s.Settings, "commons")
	if err != nil {
		return err
	}
	sets, err := commons.Migrations()
	if err != nil {
		return err
	}
	engines, err := program.Engines(ctx, sets...)
	if err != nil {
		return err
	}
	auth, err := program.Dial(s.AuthTarget)
	if err != nil {
		return err
	}
	service, err := commons.New(ctx, s.Config, commons.Deps{Engines: engines, Auth: auth, Clock: clock.System{}})
	if err != nil {
		return err
	}
	return program.Serve(service, s.Tokens, engines.NATS)
}
