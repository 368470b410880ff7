package delivery

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// Query selects deliveries of the log. Zero values select all.
type Query struct {
	IDs            []int64
	State          string
	Message        *uuid.UUID
	NotificationID *int64
	PersonNumber   *string
	// Before is the id of the last delivery of the preceding page.
	Before *int64
	Limit  int
	// Visible are the persons whose deliveries are returned. Deliveries that are not for a person are returned
	// only to callers who see all employees.
	Visible rowvisibility.Set
}

// Read returns a page of the log, the newest first.
func Read(ctx context.Context, db pg.Querier, q Query, lock bool) ([]*Delivery, error) {
	where, args := []string{"tenant_id = $1"}, []any{tenant.Of(ctx)}
	add := func(condition string, arg any) {
		args = append(args, arg)
		where = append(where, fmt.Sprintf(condition, len(args)))
	}
	if q.IDs != nil {
		add("id = ANY($%d)", q.IDs)
	}
	if q.State != "" {
		add("state = $%d", q.State)
	}
	if q.Message != nil {
		add("message_id = $%d", *q.Message)
	}
	if q.NotificationID != nil {
		add("notification_id = $%d", *q.NotificationID)
	}
	if q.PersonNumber != nil {
		add("person_number = $%d", *q.PersonNumber)
	}
	if q.Before != nil {
		add("id < $%d", *q.Before)
	}
	if !q.Visible.All() {
		add("person_id = ANY($%d)", q.Visible.IDs())
	}
	args = append(args, q.Limit)
	sql := fmt.Sprintf("SELECT %s FROM notification_delivery WHERE %s ORDER BY id DESC LIMIT $%d", columns, strings.Join(where, " AND "), len(args))
	if lock {
		sql += " FOR NO KEY UPDATE"
	}
	list, err := pg.Collect(ctx, db, scan, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("read deliveries: %w", err)
	}
	return list, nil
}

// Attempt is a finished attempt.
type Attempt struct {
	Number         int
	Started, Ended time.Time
	Delivered      bool
	Result         string
}

// Attempts returns the attempts of a delivery, the oldest first.
func Attempts(ctx context.Context, db pg.Querier, id int64) ([]Attempt, error) {
	list, err := pg.Collect(ctx, db, pgx.RowToStructByPos[Attempt], `SELECT number, started_at, ended_at, delivered, result FROM notification_attempt
		WHERE tenant_id = $1 AND delivery_id = $2 ORDER BY started_at, number`, tenant.Of(ctx), id)
	if err != nil {
		return nil, fmt.Errorf("read attempts: %w", err)
	}
	return list, nil
}

// Replay makes deliveries pending again under their existing ids, with the full retry time. It limits the
// pending deliveries of a tenant like Append: 429.
func Replay(ctx context.Context, tx pgx.Tx, ids []int64, now, giveUpAt time.Time) error {
	tenantID := tenant.Of(ctx)
	var settled int
	if err := tx.QueryRow(ctx, `SELECT count(*) FROM notification_delivery WHERE tenant_id = $1 AND id = ANY($2) AND state <> 'PENDING'`,
		tenantID, ids).Scan(&settled); err != nil {
		return fmt.Errorf("replay deliveries: %w", err)
	}
	if err := checkPending(ctx, tx, settled); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `UPDATE notification_delivery SET state = 'PENDING', attempts = 0, next_attempt_at = $3, give_up_at = $4, error = '', settled_at = NULL
		WHERE tenant_id = $1 AND id = ANY($2) AND state <> 'PENDING'`, tenantID, ids, now, giveUpAt)
	if err != nil {
		return fmt.Errorf("replay deliveries: %w", err)
	}
	return nil
}
