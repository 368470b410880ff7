package outbox

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/pg"
)

// Letters keeps the dead letters of a service's consumers in its database. It
// is what bus.Options.DeadLetters asks for.
type Letters struct{ db pg.Querier }

// NewLetters returns the dead letters in the database of a pool.
func NewLetters(db pg.Querier) *Letters { return &Letters{db: db} }

// Put keeps a letter, in the place of one for the same consumer and event.
func (l *Letters) Put(ctx context.Context, letter bus.DeadLetter) error {
	m := letter.Message
	_, err := l.db.Exec(ctx, `
		INSERT INTO dead_letter (tenant_id, consumer, event_id, subject, event, payload, request_id, traceparent, delivery, published_at, reason)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
		ON CONFLICT (tenant_id, consumer, event_id) DO UPDATE SET reason = excluded.reason, delivery = excluded.delivery`,
		m.Tenant, letter.Consumer, m.ID, m.Subject, m.Event, m.Payload, m.Request.ID, m.Request.Traceparent,
		m.Delivery, m.Published, letter.Reason)
	if err != nil {
		return fmt.Errorf("outbox: put dead letter: %w", err)
	}
	return nil
}

// List returns the letters of a consumer with an ID above after, in order, at
// most limit of them, as far as the context's tenant may see them.
func (l *Letters) List(ctx context.Context, consumer string, after int64, limit int) ([]bus.DeadLetter, error) {
	rows, err := l.db.Query(ctx, `
		SELECT id, consumer, reason, tenant_id, event_id, subject, event, payload, request_id, traceparent, delivery, published_at
		FROM dead_letter WHERE consumer = $1 AND id > $2 ORDER BY id LIMIT $3`, consumer, after, limit)
	if err != nil {
		return nil, fmt.Errorf("outbox: list dead letters: %w", err)
	}
	letters, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (letter bus.DeadLetter, err error) {
		m := &letter.Message
		err = row.Scan(&letter.ID, &letter.Consumer, &letter.Reason, &m.Tenant, &m.ID, &m.Subject, &m.Event, &m.Payload,
			&m.Request.ID, &m.Request.Traceparent, &m.Delivery, &m.Published)
		return letter, err
	})
	if err != nil {
		return nil, fmt.Errorf("outbox: list dead letters: %w", err)
	}
	return letters, nil
}

// Remove forgets a letter. That it is gone already is no error.
func (l *Letters) Remove(ctx context.Context, letter bus.DeadLetter) error {
	_, err := l.db.Exec(ctx, "DELETE FROM dead_letter WHERE tenant_id = $1 AND id = $2", letter.Message.Tenant, letter.ID)
	if err != nil {
		return fmt.Errorf("outbox: remove dead letter: %w", err)
	}
	return nil
}
