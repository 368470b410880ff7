package audit

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/defaults"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

const (
	sweepEvery = 10 * time.Minute
	sweepBatch = 50_000
)

// Config sets how long events are kept. Its zero value means the default.
type Config struct {
	Retention time.Duration `name:"audit-retention" default:"9600h" help:"How long audit events are kept."`
}

// Sweeper removes old events.
type Sweeper struct {
	retention time.Duration
	pool      *pg.Pool
	clock     clock.Clock
	log       *slog.Logger
}

// NewSweeper returns a Sweeper.
func NewSweeper(cfg Config, pool *pg.Pool, clk clock.Clock, log *slog.Logger) *Sweeper {
	return &Sweeper{retention: defaults.Fill(cfg).Retention, pool: pool, clock: clk, log: log}
}

// Run sweeps at intervals until ctx ends.
func (s *Sweeper) Run(ctx context.Context) error {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		if err := s.sweep(ctx, sweepBatch); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "old audit events could not be removed", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// sweep removes all events that are older than the retention, one batch at a time: one statement
// should not remove all events that expired since the last sweep.
func (s *Sweeper) sweep(ctx context.Context, batch int) error {
	before := s.clock.Now().Add(-s.retention)
	for {
		n, err := sweep(ctx, s.pool, before, batch)
		if err != nil || n < int64(batch) {
			return err
		}
	}
}

// sweep removes at most limit events from before a time, of all tenants.
func sweep(ctx context.Context, db pg.Querier, before time.Time, limit int) (int64, error) {
	done, err := db.Exec(tenant.All(ctx), `DELETE FROM audit_event WHERE (tenant_id, occurred_at, id) IN (
		SELECT tenant_id, occurred_at, id FROM audit_event WHERE occurred_at < $1 LIMIT $2)`, before, limit)
	if err != nil {
		return 0, fmt.Errorf("remove old audit events: %w", err)
	}
	return done.RowsAffected(), nil
}
