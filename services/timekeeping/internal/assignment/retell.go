package assignment

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/outbox"
)

// personsAtOnce is how many persons a page of memberships tells of, each with
// all of theirs.
const personsAtOnce = 100

// Topic tells who is on which term anew, by ascending id of the person.
func Topic() outbox.Topic {
	return outbox.Topic{Name: "memberships", Page: func(ctx context.Context, tx pgx.Tx, tenantID, after int64) (int64, bool, error) {
		rows, err := tx.Query(ctx, `SELECT person_id FROM membership_head WHERE tenant_id = $1 AND person_id > $2 ORDER BY person_id LIMIT $3`,
			tenantID, after, personsAtOnce)
		if err != nil {
			return 0, false, err
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil || len(ids) == 0 {
			return 0, false, err
		}
		now, err := lock(ctx, tx, tenantID, ids)
		if err != nil {
			return 0, false, err
		}
		return ids[len(ids)-1], len(ids) == personsAtOnce, outbox.Append(ctx, tx, tenantID, changedEvent(now))
	}}
}
