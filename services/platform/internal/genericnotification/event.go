package genericnotification

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// storeEvent stores the event of a generic notification in columns, for lookups.
func storeEvent(ctx context.Context, tx pgx.Tx, stored *notification) error {
	if _, err := tx.Exec(ctx, `UPDATE generic_notification SET domain = lower($3), event = lower($4) WHERE tenant_id = $1 AND id = $2`,
		tenant.Of(ctx), stored.GetId(), stored.GetDomain(), stored.GetEvent()); err != nil {
		return fmt.Errorf("store the event of a generic notification: %w", err)
	}
	return nil
}

// OfEvent returns at most a number of generic notifications of an event, sorted by name. Domain and event are
// compared without case.
func OfEvent(ctx context.Context, db pg.Querier, domain, event string, most int) ([]*notification, error) {
	ids, err := pg.Collect(ctx, db, pgx.RowTo[int64], `SELECT id FROM generic_notification
		WHERE tenant_id = $1 AND domain = lower($2) AND event = lower($3) AND event <> '' ORDER BY lower(name) LIMIT $4`, tenant.Of(ctx), domain, event, most)
	if err != nil {
		return nil, fmt.Errorf("find the generic notifications of an event: %w", err)
	}
	if len(ids) == 0 {
		return nil, nil
	}
	list, err := Kind().Find(ctx, db, ids, nil)
	slices.SortFunc(list, func(a, b *notification) int {
		return strings.Compare(strings.ToLower(a.GetName()), strings.ToLower(b.GetName()))
	})
	return list, err
}
