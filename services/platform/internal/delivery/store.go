package delivery

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

// attempts marks writes that a process makes on its own.
const attempts pg.Unaudited = "the log of deliveries contains the attempts, and the audit log the request"

const (
	// maxPending is the largest number of pending deliveries of a tenant, and maxAtWebhook of one webhook.
	maxPending   = 100_000
	maxAtWebhook = 10_000
	// busy is the Retry-After for a tenant that has reached the limit.
	busy = time.Minute
	// maxError is the largest part of the other side's response that is stored, in bytes.
	maxError = 500
)

// Append stores deliveries within a transaction, and sets their ids and states. It suppresses deliveries that
// would send the same message to a recipient again. It limits the pending deliveries of a tenant: 429.
func Append(ctx context.Context, tx pgx.Tx, now time.Time, list []*Delivery) error {
	tenantID := tenant.Of(ctx)
	if err := checkPending(ctx, tx, len(list)); err != nil {
		return err
	}
	if err := suppress(ctx, tx, clock.OfTenant(ctx, now), list); err != nil {
		return err
	}
	if err := boundWebhooks(ctx, tx, list); err != nil {
		return err
	}
	batch := &pgx.Batch{}
	for _, d := range list {
		content, err := proto.Marshal(d.Content)
		if err != nil {
			return fmt.Errorf("encode a delivery: %w", err)
		}
		if d.State != Pending {
			d.SettledAt = &now
		}
		if d.Fingerprint == nil {
			d.Fingerprint = []byte{}
		}
		d.Tenant, d.CreatedAt = tenantID, now
		batch.Queue(`INSERT INTO notification_delivery (tenant_id, delivery_id, message_id, notification_id, notification_name, channel, state,
				person_id, person_number, webhook_id, address, content, fingerprint, next_attempt_at, give_up_at, error, created_at, settled_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $14, $17) RETURNING id`,
			tenantID, d.UID, d.Message, d.NotificationID, d.NotificationName, d.Channel, d.State,
			d.PersonID, d.PersonNumber, d.WebhookID, d.Address, content, d.Fingerprint, now, d.GiveUpAt, d.Error, d.SettledAt).
			QueryRow(func(row pgx.Row) error { return row.Scan(&d.ID) })
	}
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("store deliveries: %w", err)
	}
	return nil
}

// checkPending refuses more pending deliveries than permitted for a tenant: 429.
func checkPending(ctx context.Context, tx pgx.Tx, more int) error {
	var pending int
	if err := tx.QueryRow(ctx, `SELECT count(*) FROM (SELECT FROM notification_delivery
		WHERE tenant_id = $1 AND state = 'PENDING' LIMIT $2) AS waiting`, tenant.Of(ctx), maxPending).Scan(&pending); err != nil {
		return fmt.Errorf("count deliveries: %w", err)
	}
	if pending+more > maxPending {
		return fault.TooMany(fmt.Sprintf("%d deliveries are pending already; the limit is %d. Try again later.", pending, maxPending), busy)
	}
	return nil
}

// boundWebhooks marks deliveries as failed if too many are pending for their webhook, so that a webhook that
// does not respond leaves space for others.
func boundWebhooks(ctx context.Context, tx pgx.Tx, list []*Delivery) error {
	tenantID := tenant.Of(ctx)
	waiting := map[int64]int{}
	for _, d := range list {
		if d.WebhookID == 0 || d.State != Pending {
			continue
		}
		n, counted := waiting[d.WebhookID]
		if !counted {
			if err := tx.QueryRow(ctx, `SELECT count(*) FROM (SELECT FROM notification_delivery
				WHERE tenant_id = $1 AND webhook_id = $2 AND state = 'PENDING' LIMIT $3) AS waiting`, tenantID, d.WebhookID, maxAtWebhook).Scan(&n); err != nil {
				return fmt.Errorf("count deliveries of a webhook: %w", err)
			}
		}
		if waiting[d.WebhookID] = n + 1; n >= maxAtWebhook {
			d.State = Failed
			d.Error = fmt.Sprintf("%d deliveries are pending for the webhook, which is the limit. Replay this one when the webhook responds again.", maxAtWebhook)
		}
	}
	return nil
}

// suppress marks deliveries that repeat a recent one. If two messages are sent at the same time, the second one
// waits for the row and becomes the repetition.
func suppress(ctx context.Context, tx pgx.Tx, now time.Time, list []*Delivery) error {
	tenantID := tenant.Of(ctx)
	// A fixed order prevents deadlocks between messages.
	for _, d := range slices.SortedFunc(slices.Values(list), func(a, b *Delivery) int { return bytes.Compare(a.Fingerprint, b.Fingerprint) }) {
		if d.State != Pending || d.Until.IsZero() {
			continue
		}
		done, err := tx.Exec(ctx, `
			INSERT INTO notification_repetition AS r (tenant_id, fingerprint, delivery_id, until) VALUES ($1, $2, $3, $4)
			ON CONFLICT (tenant_id, fingerprint) DO UPDATE SET delivery_id = excluded.delivery_id, until = excluded.until
			WHERE r.until <= $5`, tenantID, d.Fingerprint, d.UID, d.Until, now)
		if err != nil {
			return fmt.Errorf("note a message: %w", err)
		}
		if done.RowsAffected() == 0 {
			d.State, d.Error = Suppressed, "The recipient got the same message recently."
		}
	}
	return nil
}

const columns = `tenant_id, id, delivery_id, message_id, notification_id, notification_name, channel, state, person_id, person_number,
	webhook_id, address, content, fingerprint, attempts, next_attempt_at, give_up_at, error, created_at, settled_at`

func scan(row pgx.CollectableRow) (*Delivery, error) {
	d, content := &Delivery{Content: &platformv1.DeliveryContent{}}, []byte(nil)
	err := row.Scan(&d.Tenant, &d.ID, &d.UID, &d.Message, &d.NotificationID, &d.NotificationName, &d.Channel, &d.State, &d.PersonID, &d.PersonNumber,
		&d.WebhookID, &d.Address, &content, &d.Fingerprint, &d.Attempts, &d.NextAttemptAt, &d.GiveUpAt, &d.Error, &d.CreatedAt, &d.SettledAt)
	if err != nil {
		return nil, err
	}
	return d, proto.Unmarshal(content, d.Content)
}

// claim begins attempts of due deliveries: at most as many as there are slots for in the process ($2), in each
// tenant and in each channel of a tenant ($3 to $5 for idle ones, $8 to $11 for the others), and at each
// webhook ($6, and $12 to $14). Concurrent claims get different deliveries. If an attempt is not settled by the
// end of its lease, another one follows.
const claim = `
WITH RECURSIVE waiting AS (
    (SELECT tenant_id, webhook_id FROM notification_delivery WHERE state = 'PENDING' ORDER BY tenant_id, webhook_id LIMIT 1)
    UNION ALL
    SELECT n.tenant_id, n.webhook_id FROM waiting w CROSS JOIN LATERAL (
        SELECT d.tenant_id, d.webhook_id FROM notification_delivery d
        WHERE d.state = 'PENDING' AND (d.tenant_id, d.webhook_id) > (w.tenant_id, w.webhook_id) ORDER BY d.tenant_id, d.webhook_id LIMIT 1
    ) AS n
), room AS (
    SELECT w.tenant_id, w.webhook_id, coalesce(t.free, $3) AS tenant,
        CASE WHEN w.webhook_id = 0 THEN coalesce(t.mail, $4) ELSE coalesce(t.webhooks, $5) END AS channel,
        CASE WHEN w.webhook_id = 0 THEN coalesce(t.mail, $4) ELSE coalesce(e.free, $6) END AS endpoint
    FROM waiting w
    LEFT JOIN unnest($8::bigint[], $9::int[], $10::int[], $11::int[]) AS t (tenant_id, free, mail, webhooks) ON t.tenant_id = w.tenant_id
    LEFT JOIN unnest($12::bigint[], $13::bigint[], $14::int[]) AS e (tenant_id, webhook_id, free)
        ON e.tenant_id = w.tenant_id AND e.webhook_id = w.webhook_id
), candidate AS MATERIALIZED (
    SELECT r.tenant_id, r.webhook_id, r.tenant, r.channel, d.id FROM room r CROSS JOIN LATERAL (
        SELECT id FROM notification_delivery
        WHERE tenant_id = r.tenant_id AND webhook_id = r.webhook_id AND state = 'PENDING' AND next_attempt_at <= $1
        ORDER BY next_attempt_at LIMIT least(r.tenant, r.channel, r.endpoint) FOR UPDATE SKIP LOCKED
    ) AS d
), ranked AS (
    SELECT *, row_number() OVER (PARTITION BY tenant_id ORDER BY random()) AS of_tenant,
        row_number() OVER (PARTITION BY tenant_id, webhook_id = 0 ORDER BY random()) AS of_channel
    FROM candidate
), due AS MATERIALIZED (
    SELECT tenant_id, id FROM ranked WHERE of_tenant <= tenant AND of_channel <= channel ORDER BY random() LIMIT $2
)
UPDATE notification_delivery n SET attempts = n.attempts + 1, next_attempt_at = $7
FROM due WHERE n.tenant_id = due.tenant_id AND n.id = due.id
RETURNING n.tenant_id, n.id, n.delivery_id, n.message_id, n.notification_id, n.notification_name, n.channel, n.state, n.person_id, n.person_number,
    n.webhook_id, n.address, n.content, n.fingerprint, n.attempts, n.next_attempt_at, n.give_up_at, n.error, n.created_at, n.settled_at`

func claimDue(ctx context.Context, pool *pg.Pool, now time.Time, lease time.Duration, by shares, free room) ([]*Delivery, error) {
	rows, err := attempts.Query(ctx, pool, claim, now, free.total, by.tenant, by.mail, by.webhooks, by.webhook, now.Add(lease),
		free.tenants, free.free, free.freeMail, free.freeWebhooks, free.endpointTenants, free.endpointHook, free.endpointFree)
	if err != nil {
		return nil, fmt.Errorf("claim deliveries: %w", err)
	}
	list, err := pgx.CollectRows(rows, scan)
	if err != nil {
		return nil, fmt.Errorf("claim deliveries: %w", err)
	}
	return list, nil
}

// outcome is the result of an attempt.
type outcome struct {
	started, ended time.Time
	state, result  string
	// next is the time of the next attempt if the delivery stays pending.
	next time.Time
	// conceal is how long after the beginning the outcome is stored.
	conceal time.Duration
}

// settle stores the outcome of an attempt, unless another attempt has begun since.
func settle(ctx context.Context, pool *pg.Pool, d *Delivery, o outcome) error {
	problem, settled := o.result, &o.ended
	if o.state == Delivered {
		problem = ""
	}
	if o.state == Pending {
		settled = nil
	}
	return attempts.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
		done, err := tx.Exec(ctx, `UPDATE notification_delivery SET state = $4, next_attempt_at = $5, error = $6, settled_at = $7
			WHERE tenant_id = $1 AND id = $2 AND attempts = $3 AND state = 'PENDING'`,
			d.Tenant, d.ID, d.Attempts, o.state, o.next, problem, settled)
		if err != nil || done.RowsAffected() == 0 {
			return err
		}
		batch := &pgx.Batch{}
		batch.Queue(`INSERT INTO notification_attempt (tenant_id, delivery_id, number, started_at, ended_at, delivered, result)
			VALUES ($1, $2, $3, $4, $5, $6, $7)`, d.Tenant, d.ID, d.Attempts, o.started, o.ended, o.state == Delivered, o.result)
		batch.Queue(`DELETE FROM notification_attempt WHERE tenant_id = $1 AND delivery_id = $2 AND started_at < (
			SELECT started_at FROM notification_attempt WHERE tenant_id = $1 AND delivery_id = $2 ORDER BY started_at DESC OFFSET 99 LIMIT 1)`, d.Tenant, d.ID)
		if o.state == Failed {
			// Nothing was sent, so the next message is not a repetition.
			batch.Queue(`DELETE FROM notification_repetition WHERE tenant_id = $1 AND fingerprint = $2 AND delivery_id = $3`, d.Tenant, d.Fingerprint, d.UID)
		}
		return tx.SendBatch(ctx, batch).Close()
	})
}

// sweep removes at most limit deliveries that were settled before a time, and returns their number.
func sweep(ctx context.Context, pool *pg.Pool, before, now time.Time, limit int) (int64, error) {
	done, err := attempts.Exec(ctx, pool, `DELETE FROM notification_delivery WHERE (tenant_id, id) IN (
		SELECT tenant_id, id FROM notification_delivery WHERE settled_at < $1 LIMIT $2)`, before, limit)
	if err != nil {
		return 0, fmt.Errorf("forget deliveries: %w", err)
	}
	ended, err := attempts.Exec(ctx, pool, `DELETE FROM notification_repetition WHERE (tenant_id, fingerprint) IN (
		SELECT tenant_id, fingerprint FROM notification_repetition WHERE until <= $1 LIMIT $2)`, now, limit)
	if err != nil {
		return 0, fmt.Errorf("forget repetitions: %w", err)
	}
	return max(done.RowsAffected(), ended.RowsAffected()), nil
}

// NewUID returns an id for a message or delivery. Ids sort by time.
func NewUID() (uuid.UUID, error) { return uuid.NewV7() }
