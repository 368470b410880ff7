package serve

import (
	"context"
	"io"
	"log/slog"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
)

// Backfill is the command that fills again what a service keeps of others, beside the programs that serve.
type Backfill struct {
	replica.BackfillCommand `embed:""`

	database *pg.Config                             `kong:"-"`
	copies   func(pool *pg.Pool) []*replica.Replica `kong:"-"`
}

// Of says in which database the copies are, and which there are, before the settings are read.
func (b *Backfill) Of(database *pg.Config, copies func(pool *pg.Pool) []*replica.Replica) {
	b.database, b.copies = database, copies
}

// Do does what the command says.
func (b *Backfill) Do(ctx context.Context, log *slog.Logger, out io.Writer) error {
	return b.BackfillCommand.Do(ctx, *b.database, b.copies(nil), log, out)
}
