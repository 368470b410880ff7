package replica

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/pg"
)

// BackfillCommand is how an operator has copies of a service published once more,
// after they were lost.
type BackfillCommand struct {
	Topics []string `arg:"" optional:"" name:"topic" help:"What to backfill, as the service keeps it; everything unless one is named."`
	Tenant int64    `default:"1" help:"The tenant."`
}

// Do notes on the service's database that all of the topics is lacking; whoever
// serves asks the owners within seconds. The copies are those that the service
// keeps. A topic that is none of theirs is an error.
func (c *BackfillCommand) Do(ctx context.Context, database pg.Config, copies []*Replica, log *slog.Logger, out io.Writer) error {
	var known []string
	for _, r := range copies {
		known = append(known, r.contract.Topic)
	}
	topics := c.Topics
	if len(topics) == 0 {
		topics = known
	}
	for _, topic := range topics {
		if !slices.Contains(known, topic) {
			return fmt.Errorf("there is no topic %q, but %s", topic, strings.Join(known, ", "))
		}
	}
	pool, err := pg.Open(ctx, database, log)
	if err != nil {
		return err
	}
	defer pool.Close()
	for _, topic := range topics {
		if err := Backfill(ctx, pool, c.Tenant, topic); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(out, "tenant %d: %s will be asked for within seconds\n", c.Tenant, strings.Join(topics, ", "))
	return err
}
