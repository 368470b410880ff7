package serve

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
)

// Backfill is the command that requests all states of a service's copies again, while the service
// runs.
type Backfill struct {
	replica.BackfillCommand `embed:""`

	Force bool `help:"Also request the states of a tenant without data in the database, for example after the database was lost."`

	database *pg.Config                             `kong:"-"`
	copies   func(pool *pg.Pool) []*replica.Replica `kong:"-"`
}

// Configure sets the database and the copies. Call it before the settings are read.
func (b *Backfill) Configure(database *pg.Config, copies func(pool *pg.Pool) []*replica.Replica) {
	b.database, b.copies = database, copies
}

// Do runs the command.
func (b *Backfill) Do(ctx context.Context, log *slog.Logger, out io.Writer) error {
	if !b.Force {
		if err := RequireTenantData(ctx, *b.database, b.Tenant, log); err != nil {
			return fmt.Errorf("%w, and --force requests its states regardless", err)
		}
	}
	return b.BackfillCommand.Do(ctx, *b.database, b.copies(nil), log, out)
}
