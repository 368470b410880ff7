package serve

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"github.com/rotaloom/rotaloom/pkg/boot"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
)

// Commands are those of every program of a service.
type Commands struct {
	Serve   struct{} `cmd:"" default:"1" help:"Serve. This is what happens without a command."`
	Migrate Migrate  `cmd:"" help:"Bring the database to the schema of this program, and end. Serve does so too."`

	boot.Commands
}

// ConsumerCommands are the commands of a program that consumes events and keeps copies
// of what other services have.
type ConsumerCommands struct {
	Commands
	Deadletter DeadLetters `cmd:"" help:"List and replay the events that consumers gave up."`
	Backfill   Backfill    `cmd:"" help:"Fill what is kept here of other services again, beside the programs that serve."`
}

// Of says on which database, with which schema and which copies, the commands work,
// before the settings are read.
func (c *ConsumerCommands) Of(database *pg.Config, sets func() ([]pg.Migrations, error), copies func(pool *pg.Pool) []*replica.Replica) {
	c.Migrate.Of(database, sets)
	c.Deadletter.Of(database)
	c.Backfill.Of(database, copies)
}

// Migrate is the command of that name.
type Migrate struct {
	database *pg.Config                      `kong:"-"`
	sets     func() ([]pg.Migrations, error) `kong:"-"`
}

// Of says which database is brought to which schema, before the settings are read.
func (m *Migrate) Of(database *pg.Config, sets func() ([]pg.Migrations, error)) {
	m.database, m.sets = database, sets
}

// Do migrates, and says so.
func (m *Migrate) Do(ctx context.Context, log *slog.Logger, out io.Writer) error {
	sets, err := m.sets()
	if err != nil {
		return err
	}
	if err := pg.Migrate(ctx, *m.database, log, sets...); err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, "the database has the schema of this program")
	return err
}
