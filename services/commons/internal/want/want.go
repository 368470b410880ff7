// Package want asks other services to tell anew what is kept of them here: when
// a copy begins later than the broker remembers, or was lost.
package want

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// Topics are what can be wanted; see rotaloom.commons.v1.ProjectionWanted.
func Topics() []string {
	return []string{"employment_terms", "memberships", "schedule_patterns", "schedules"}
}

// Note notes topics of a tenant, that of the context, as wanted. One that is noted
// already is asked for once.
func Note(ctx context.Context, pool *pgxpool.Pool, tenantID int64, topics []string) error {
	for _, topic := range topics {
		if !slices.Contains(Topics(), topic) {
			return fmt.Errorf("there is no topic %q, but %s", topic, strings.Join(Topics(), ", "))
		}
	}
	_, err := pool.Exec(ctx, `INSERT INTO projection_want (tenant_id, topic) SELECT $1, unnest($2::text[]) ON CONFLICT DO NOTHING`, tenantID, topics)
	if err != nil {
		return fmt.Errorf("want: note: %w", err)
	}
	return nil
}

// every is the pause between two looks, after a failure too.
const every = time.Minute

// Run asks for what is wanted, now and then, until ctx ends. It calls wake after
// each request.
func Run(ctx context.Context, pool *pgxpool.Pool, wake func(), log *slog.Logger) error {
	for {
		more, err := ask(ctx, pool)
		if err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "what is wanted of other services could not be asked for", "error", err)
		}
		if more && err == nil {
			wake()
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(every):
		}
	}
}

// ask asks for one of the topics that are wanted, and reports whether there may
// be more.
func ask(ctx context.Context, pool *pgxpool.Pool) (bool, error) {
	var tenantID int64
	var topic string
	err := pool.QueryRow(tenant.All(ctx), `SELECT tenant_id, topic FROM projection_want ORDER BY tenant_id, topic LIMIT 1`).Scan(&tenantID, &topic)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("want: look: %w", err)
	}
	err = pg.InTx(tenant.With(ctx, tenantID), pool, func(ctx context.Context, tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `DELETE FROM projection_want WHERE tenant_id = $1 AND topic = $2`, tenantID, topic)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		return outbox.Append(ctx, tx, tenantID, &commonsv1.ProjectionWanted{Topic: topic})
	})
	if err != nil {
		return false, fmt.Errorf("want: ask: %w", err)
	}
	return true, nil
}
