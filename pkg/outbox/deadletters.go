package outbox

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/pg"
)

// DeadLetters stores the dead letters of a service's consumers in its database. It implements
// bus.DeadLetters.
type DeadLetters struct{ db pg.Querier }

// NewDeadLetters returns the dead letters in the database of a pool.
func NewDeadLetters(db pg.Querier) *DeadLetters { return &DeadLetters{db: db} }

// Put stores a letter. It replaces a letter for the same consumer and event.
func (l *DeadLetters) Put(ctx context.Context, letter bus.DeadLetter) error {
	m := letter.Message
	_, err := l.db.Exec(ctx, `
		INSERT INTO dead_letter (tenant_id, consumer, event_id, subject, event, payload, request_id, traceparent, delivery, published_at, reason)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
		ON CONFLICT (tenant_id, consumer, event_id) DO UPDATE SET reason = excluded.reason, delivery = excluded.delivery, replay_at = NULL`,
		m.Tenant, letter.Consumer, m.ID, m.Subject, m.Event, m.Payload, m.Request.ID, m.Request.Traceparent,
		m.Delivery, m.Published, letter.Reason)
	if err != nil {
		return fmt.Errorf("outbox: put dead letter: %w", err)
	}
	return nil
}

// deadLetterColumns are the columns of a letter, in the order of scanDeadLetter.
const deadLetterColumns = `id, consumer, reason, tenant_id, event_id, subject, event, payload, request_id, traceparent, delivery, published_at`

func scanDeadLetter(row pgx.CollectableRow) (letter bus.DeadLetter, err error) {
	m := &letter.Message
	err = row.Scan(&letter.ID, &letter.Consumer, &letter.Reason, &m.Tenant, &m.ID, &m.Subject, &m.Event, &m.Payload,
		&m.Request.ID, &m.Request.Traceparent, &m.Delivery, &m.Published)
	return letter, err
}

// ReplayRequested returns letters of the consumers with a requested replay, in order, at most limit
// of them. It returns only letters that the context's tenant may see.
func (l *DeadLetters) ReplayRequested(ctx context.Context, consumers []string, limit int) ([]bus.DeadLetter, error) {
	return l.list(ctx, `WHERE replay_at IS NOT NULL AND consumer = ANY($1) ORDER BY id LIMIT $2`, consumers, limit)
}

// List returns the letters with an id above after, in order, at most limit of them. It returns only
// letters that the context's tenant may see.
func (l *DeadLetters) List(ctx context.Context, after int64, limit int) ([]bus.DeadLetter, error) {
	return l.list(ctx, `WHERE id > $1 ORDER BY id LIMIT $2`, after, limit)
}

func (l *DeadLetters) list(ctx context.Context, condition string, args ...any) ([]bus.DeadLetter, error) {
	rows, err := l.db.Query(ctx, `SELECT `+deadLetterColumns+` FROM dead_letter `+condition, args...)
	if err != nil {
		return nil, fmt.Errorf("outbox: list dead letters: %w", err)
	}
	letters, err := pgx.CollectRows(rows, scanDeadLetter)
	if err != nil {
		return nil, fmt.Errorf("outbox: list dead letters: %w", err)
	}
	return letters, nil
}

// RequestReplay asks the running service to replay the letters with the ids, or all letters that
// the context's tenant may see if ids is empty. It returns the ids of the letters that exist.
func (l *DeadLetters) RequestReplay(ctx context.Context, ids []int64) ([]int64, error) {
	rows, err := l.db.Query(ctx, `UPDATE dead_letter SET replay_at = clock_timestamp()
		WHERE cardinality($1::bigint[]) = 0 OR id = ANY($1) RETURNING id`, ids)
	if err != nil {
		return nil, fmt.Errorf("outbox: request a replay: %w", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("outbox: request a replay: %w", err)
	}
	return found, nil
}

// Tenants returns the tenants with dead letters that the context may see.
func (l *DeadLetters) Tenants(ctx context.Context) ([]int64, error) {
	rows, err := l.db.Query(ctx, `SELECT DISTINCT tenant_id FROM dead_letter ORDER BY tenant_id`)
	if err != nil {
		return nil, fmt.Errorf("outbox: tenants of dead letters: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}

// ReplayFailed stores the new reason of a letter whose replay failed.
func (l *DeadLetters) ReplayFailed(ctx context.Context, letter bus.DeadLetter) error {
	_, err := l.db.Exec(ctx, `UPDATE dead_letter SET replay_at = NULL, reason = $3 WHERE tenant_id = $1 AND id = $2`,
		letter.Message.Tenant, letter.ID, letter.Reason)
	if err != nil {
		return fmt.Errorf("outbox: keep dead letter: %w", err)
	}
	return nil
}

// BeginAttempt returns how often a message failed and how often handling it began. If count is set,
// it counts one more beginning.
func (l *DeadLetters) BeginAttempt(ctx context.Context, consumer string, m bus.Message, count bool) (failed, begun int, err error) {
	sql := `SELECT failed, begun FROM delivery_attempt WHERE tenant_id = $1 AND consumer = $2 AND event_id = $3`
	if count {
		sql = `INSERT INTO delivery_attempt AS a (tenant_id, consumer, event_id, begun) VALUES ($1, $2, $3, 1)
			ON CONFLICT (tenant_id, consumer, event_id) DO UPDATE SET begun = a.begun + 1, updated_at = clock_timestamp()
			RETURNING failed, begun`
	}
	err = l.db.QueryRow(ctx, sql, m.Tenant, consumer, m.ID).Scan(&failed, &begun)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return 0, 0, fmt.Errorf("outbox: read attempts: %w", err)
	}
	return failed, begun, nil
}

// FailAttempt records a failure of a message, and returns the number of its failures.
func (l *DeadLetters) FailAttempt(ctx context.Context, consumer string, m bus.Message) (failed int, err error) {
	err = l.db.QueryRow(ctx, `INSERT INTO delivery_attempt AS a (tenant_id, consumer, event_id, failed) VALUES ($1, $2, $3, 1)
		ON CONFLICT (tenant_id, consumer, event_id) DO UPDATE SET failed = a.failed + 1, begun = 0, updated_at = clock_timestamp()
		RETURNING failed`, m.Tenant, consumer, m.ID).Scan(&failed)
	if err != nil {
		return 0, fmt.Errorf("outbox: record failure: %w", err)
	}
	return failed, nil
}

// ClearAttempts removes the records of BeginAttempt and FailAttempt.
func (l *DeadLetters) ClearAttempts(ctx context.Context, consumer string, m bus.Message) error {
	_, err := l.db.Exec(ctx, `DELETE FROM delivery_attempt WHERE tenant_id = $1 AND consumer = $2 AND event_id = $3`, m.Tenant, consumer, m.ID)
	if err != nil {
		return fmt.Errorf("outbox: remove failures: %w", err)
	}
	return nil
}

// Remove deletes a letter, if it exists.
func (l *DeadLetters) Remove(ctx context.Context, letter bus.DeadLetter) error {
	_, err := l.db.Exec(ctx, "DELETE FROM dead_letter WHERE tenant_id = $1 AND id = $2", letter.Message.Tenant, letter.ID)
	if err != nil {
		return fmt.Errorf("outbox: remove dead letter: %w", err)
	}
	return nil
}
