package person

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

const (
	// layoutBatch is how many persons are written anew in one transaction.
	layoutBatch = 500
	// layoutEvery is the pause between two looks, after a failure too.
	layoutEvery = 5 * time.Minute
)

// layouts writes persons anew who were written before there were columns and
// tables for what they are searched by.
type layouts struct {
	pool *pgxpool.Pool
	log  *slog.Logger
}

// run works through all tenants now and then, until ctx ends.
func (l layouts) run(ctx context.Context) error {
	for {
		more, err := l.round(ctx)
		if err != nil && ctx.Err() == nil {
			l.log.WarnContext(ctx, "persons of an old layout could not be written anew", "error", err)
		}
		wait := layoutEvery
		if more && err == nil {
			wait = 0
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

// round writes one batch anew and reports whether there may be more.
func (l layouts) round(ctx context.Context) (bool, error) {
	var tenantID int64
	var ids []int64
	err := l.pool.QueryRow(tenant.All(ctx), `SELECT tenant_id, array_agg(person_id) FROM (
			SELECT tenant_id, person_id FROM old_layout WHERE tenant_id = (SELECT min(tenant_id) FROM old_layout) LIMIT $1) old
		GROUP BY tenant_id`, layoutBatch).Scan(&tenantID, &ids)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	ctx = tenant.With(ctx, tenantID)
	old, err := load(ctx, l.pool, tenantID, ids)
	if err != nil {
		return false, err
	}
	persons := make([]newPerson, 0, len(old))
	for _, p := range old {
		if p.layout == layout {
			continue // Somebody changed them.
		}
		persons = append(persons, newPerson{draft: &draft{record: p.record, zone: p.zone}, id: p.id, old: p})
	}
	err = pg.InTx(ctx, l.pool, func(ctx context.Context, tx pgx.Tx) error {
		if len(persons) > 0 {
			if err := write(ctx, tx, tenantID, persons); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, `DELETE FROM old_layout WHERE tenant_id = $1 AND person_id = ANY($2)`, tenantID, ids)
		return err
	})
	return err == nil, err
}
