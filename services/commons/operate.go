package commons

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/commons/internal/want"
)

// RefillCommand is how an operator fills what is kept here of other services
// again, after it was lost.
type RefillCommand struct {
	Topics []string `arg:"" optional:"" name:"topic" help:"What to fill: employment_terms, memberships, schedule_patterns or schedules; everything unless one is named."`
	Tenant int64    `default:"1" help:"The tenant."`
}

// Do notes on the service's database what is wanted; whoever serves asks for it
// within a minute. A topic that does not exist is an error.
func (c *RefillCommand) Do(ctx context.Context, database pg.Config, log *slog.Logger, out io.Writer) error {
	pool, err := pg.Open(ctx, database, log)
	if err != nil {
		return err
	}
	defer pool.Close()
	topics := c.Topics
	if len(topics) == 0 {
		topics = want.Topics()
	}
	if err := want.Note(tenant.With(ctx, c.Tenant), pool, c.Tenant, topics); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "tenant %d: %s will be asked for within a minute\n", c.Tenant, strings.Join(topics, ", "))
	return err
}
