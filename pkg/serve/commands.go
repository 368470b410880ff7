package serve

import (
	"context"
	"io"
	"log/slog"

	"github.com/rotaloom/rotaloom/pkg/boot"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
)

// Commands are the commands that every program of a service has.
type Commands struct {
	Serve   struct{} `cmd:"" default:"1" help:"Serve. This is the default command."`
	Migrate Migrate  `cmd:"" help:"Bring the database to the schema of this program, and end. Serve does that too."`

	boot.Commands
}

// ConsumerCommands are the commands of a program that consumes events and keeps copies of the
// states of other services.
type ConsumerCommands struct {
	Commands
	Deadletter DeadLetters `cmd:"" help:"List and replay the events that consumers gave up."`
	Backfill   Backfill    `cmd:"" help:"Request all states of the copies of other services again, while the service runs."`
}

// Configure sets the database, schema and copies of the commands. Call it before the settings are
// read.
func (c *ConsumerCommands) Configure(database *pg.Config, sets func() ([]pg.Migrations, error), copies func(pool *pg.Pool) []*replica.Replica) {
	c.Migrate.Configure(database, sets)
	c.Deadletter.Configure(database)
	c.Backfill.Configure(database, copies)
}

// Migrate is the command migrate.
type Migrate struct {
	boot.Output

	database *pg.Config                      `kong:"-"`
	sets     func() ([]pg.Migrations, error) `kong:"-"`
}

// Configure sets the database and its schema. Call it before the settings are read.
func (m *Migrate) Configure(database *pg.Config, sets func() ([]pg.Migrations, error)) {
	m.database, m.sets = database, sets
}

// Do migrates the database, and prints a message when it is done.
func (m *Migrate) Do(ctx context.Context, log *slog.Logger, out io.Writer) error {
	sets, err := m.sets()
	if err != nil {
		return err
	}
	if err := pg.Migrate(ctx, *m.database, log, sets...); err != nil {
		return err
	}
	return m.PrintLine(out, map[string]any{"migrated": true}, "the database has the schema of this program")
}
