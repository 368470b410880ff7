package commons

import (
	"context"
	"io"
	"log/slog"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
	"github.com/rotaloom/rotaloom/services/commons/internal/search"
)

// copies are what commons keeps of other domains.
func copies(pool *pg.Pool) []*replica.Replica {
	return search.Replicas(pool, store.DeleteTermRequests)
}

// BackfillCommand is how an operator fills what is kept here of other services
// again, after it was lost.
type BackfillCommand struct {
	replica.BackfillCommand `embed:""`
}

// Do notes on the service's database what is wanted; whoever serves asks for it
// within seconds. A topic that does not exist is an error.
func (c *BackfillCommand) Do(ctx context.Context, database pg.Config, log *slog.Logger, out io.Writer) error {
	return c.BackfillCommand.Do(ctx, database, copies(nil), log, out)
}
