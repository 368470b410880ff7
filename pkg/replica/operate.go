package replica

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/audit"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// BackfillCommand lets an operator request all states of a copy again, after the copy was lost.
type BackfillCommand struct {
	Topics []string `arg:"" optional:"" name:"topic" help:"Topics to backfill; the default is all copies of the service."`
	Tenant int64    `default:"1" help:"The tenant."`
	Follow bool     `help:"Show the number of missing keys until it is zero."`
}

// Topics returns the topics of the copies.
func Topics(copies []*Replica) []string {
	topics := make([]string, len(copies))
	for i, r := range copies {
		topics[i] = r.contract.Topic
	}
	return topics
}

// Do records in the service's database that all states of the topics are missing. The running
// service asks the owners for them within seconds. A topic that is not among the copies is an
// error.
func (c *BackfillCommand) Do(ctx context.Context, database pg.Config, copies []*Replica, log *slog.Logger, out io.Writer) error {
	known, topics := Topics(copies), c.Topics
	if len(topics) == 0 {
		topics = known
	}
	for _, topic := range topics {
		if !slices.Contains(known, topic) {
			return fmt.Errorf("there is no topic %q; the topics are %s", topic, strings.Join(known, ", "))
		}
	}
	pool, err := pg.Open(ctx, database, log)
	if err != nil {
		return err
	}
	defer pool.Close()
	err = pg.InTx(tenant.With(ctx, c.Tenant), pool, func(ctx context.Context, tx pgx.Tx) error {
		for _, topic := range topics {
			if err := requestBackfill(ctx, tx, topic); err != nil {
				return err
			}
		}
		return audit.Operated(ctx, tx, clock.System{}.Now(), "backfill", topics...)
	})
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "tenant %d: the service requests %s within seconds\n", c.Tenant, strings.Join(topics, ", ")); err != nil || !c.Follow {
		return err
	}
	return c.follow(ctx, pool, topics, out)
}

// followPause is the time between two counts of the missing keys.
const followPause = time.Second

// follow prints how many keys of each topic are missing, whenever that changes, until none are.
func (c *BackfillCommand) follow(ctx context.Context, pool *pg.Pool, topics []string, out io.Writer) error {
	look := time.NewTicker(followPause)
	defer look.Stop()
	for last := ""; ; {
		left, err := countGaps(tenant.With(ctx, c.Tenant), pool, topics)
		if err != nil {
			return err
		}
		if len(left) == 0 {
			_, err := fmt.Fprintf(out, "tenant %d: nothing is missing\n", c.Tenant)
			return err
		}
		if now := strings.Join(left, ", "); now != last {
			last = now
			if _, err := fmt.Fprintf(out, "tenant %d: still missing: %s\n", c.Tenant, now); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-look.C:
		}
	}
}

// countGaps returns the number of missing keys, as text, for each topic that has any.
func countGaps(ctx context.Context, pool *pg.Pool, topics []string) ([]string, error) {
	tenantID := tenant.Of(ctx)
	rows, err := pool.Query(ctx, `
SELECT topic, count(*) FILTER (WHERE key <> 0) FROM replica_gap WHERE tenant_id = $1 AND topic = ANY($2) GROUP BY topic ORDER BY topic`, tenantID, topics)
	if err != nil {
		return nil, fmt.Errorf("replica: count gaps: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
		var topic string
		var keys int64
		err := row.Scan(&topic, &keys)
		return fmt.Sprintf("%s %d", topic, keys), err
	})
}
