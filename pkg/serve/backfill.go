package serve

import (
	"context"
	"io"
	"log/slog"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
)

// Backfill is the command that requests all states of a service's copies again, while the service
// runs.
type Backfill struct {
	replica.BackfillCommand `embed:""`

	database *pg.Config                             `kong:"-"`
	copies   func(pool *pg.Pool) []*replica.Replica `kong:"-"`
}

// Configure sets the database and the copies. Call it before the settings are read.
func (b *Backfill) Configure(database *pg.Config, copies func(pool *pg.Pool) []*replica.Replica) {
	b.database, b.copies = database, copies
}

// Do runs the command.
func (b *Backfill) Do(ctx context.Context, log *slog.Logger, out io.Writer) error {
	return b.BackfillCommand.Do(ctx, *b.database, b.copies(nil), log, out)
}
