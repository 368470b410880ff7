// Command propagator applies changes of rotations to schedules. Several replicas share the work.
// Two commands are for operators: verify compares the stored schedules with the rules, and replay
// restarts a failed propagation.
package main

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/boot"
	"github.com/rotaloom/rotaloom/pkg/bus/natsconn"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/services/scheduling"
)

type settings struct {
	boot.Common
	scheduling.Config `envprefix:"ROTALOOM_"`

	Database pg.Config       `embed:"" prefix:"database-" envprefix:"ROTALOOM_DATABASE_"`
	NATS     natsconn.Config `embed:"" prefix:"nats-" envprefix:"ROTALOOM_NATS_"`

	serve.Commands
	Deadletter serve.DeadLetters `cmd:"" help:"List and replay dead-lettered events."`
	Verify     verify            `cmd:"" help:"Compare the stored schedules with the rules without changing them."`
	Replay     replay            `cmd:"" help:"Restart a failed propagation."`
}

func main() {
	s := &settings{}
	s.Migrate.Configure(&s.Database, scheduling.Migrations)
	s.Deadletter.Configure(&s.Database)
	s.Verify.broker = &s.NATS
	s.Verify.database, s.Replay.database = &s.Database, &s.Database
	boot.Main("propagator", "The propagation worker of Rotaloom.", s, s.start)
}

func (s *settings) start(ctx context.Context, app *boot.App) error {
	registry := obs.ForService(app.Registry, "propagator")
	sets, err := scheduling.Migrations()
	if err != nil {
		return err
	}
	if err := natsconn.Probe(s.NATS); err != nil {
		return err
	}
	pool, err := serve.Database(ctx, app, s.Database, registry, app.Log, sets...)
	if err != nil {
		return err
	}
	broker, err := serve.Broker(app, s.NATS, "propagator", app.Log)
	if err != nil {
		return err
	}
	guard, err := serve.Guard(app, "scheduling", pool, broker, registry, app.Log)
	if err != nil {
		return err
	}
	propagator, err := scheduling.NewPropagator(s.Config, serve.Backends{
		Pool: pool, NATS: broker, Guard: guard, Clock: app.Clock, Log: app.Log, Registry: registry,
	})
	if err != nil {
		return err
	}
	serve.Add(app, "propagator", propagator, guard)
	return nil
}
