package replica

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/audit"
	"github.com/rotaloom/rotaloom/pkg/boot"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// BackfillCommand lets an operator request all states of a copy again, after the copy was lost.
type BackfillCommand struct {
	boot.Output
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
	requested := requestedBackfill{Service: copies[0].Service(), Tenant: c.Tenant, Topics: topics}
	err = c.PrintLine(out, requested, "tenant %d: the service requests %s within seconds", c.Tenant, strings.Join(topics, ", "))
	if err != nil || !c.Follow {
		return err
	}
	return c.follow(ctx, pool, requested, out)
}

// followPause is the time between two counts of the missing keys.
const followPause = time.Second

// requestedBackfill is the JSON output for a request.
type requestedBackfill struct {
	Service string   `json:"service"`
	Tenant  int64    `json:"tenant"`
	Topics  []string `json:"topics"`
}

// missingKeys is the JSON output of --follow: one object for each change.
type missingKeys struct {
	Service string `json:"service"`
	Tenant  int64  `json:"tenant"`
	// Missing counts the missing keys by topic.
	Missing map[string]int64 `json:"missing"`
}

// text describes the missing keys.
func (m missingKeys) text() string {
	if len(m.Missing) == 0 {
		return fmt.Sprintf("tenant %d: nothing is missing", m.Tenant)
	}
	var left []string
	for _, topic := range slices.Sorted(maps.Keys(m.Missing)) {
		left = append(left, fmt.Sprintf("%s %d", topic, m.Missing[topic]))
	}
	return fmt.Sprintf("tenant %d: still missing: %s", m.Tenant, strings.Join(left, ", "))
}

// follow prints how many keys of each topic are missing, whenever that changes, until none are.
func (c *BackfillCommand) follow(ctx context.Context, pool *pg.Pool, requested requestedBackfill, out io.Writer) error {
	look := time.NewTicker(followPause)
	defer look.Stop()
	for last := ""; ; {
		left, err := countGaps(tenant.With(ctx, c.Tenant), pool, requested.Topics)
		if err != nil {
			return err
		}
		found := missingKeys{requested.Service, c.Tenant, left}
		if now := found.text(); now != last {
			last = now
			if err := c.PrintLine(out, found, "%s", now); err != nil {
				return err
			}
		}
		if len(left) == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-look.C:
		}
	}
}

// countGaps returns the number of missing keys of each topic that has gaps.
func countGaps(ctx context.Context, pool *pg.Pool, topics []string) (map[string]int64, error) {
	missing := map[string]int64{}
	var topic string
	var keys int64
	err := pg.ForEach(ctx, pool, []any{&topic, &keys}, func() error {
		missing[topic] = keys
		return nil
	}, `SELECT topic, count(*) FILTER (WHERE key <> 0) FROM replica_gap WHERE tenant_id = $1 AND topic = ANY($2) GROUP BY topic`, tenant.Of(ctx), topics)
	if err != nil {
		return nil, fmt.Errorf("replica: count gaps: %w", err)
	}
	return missing, nil
}
