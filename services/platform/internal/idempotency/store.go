package idempotency

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/pg"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

type store struct{ pool *pg.Pool }

// claim is a request for a key.
type claim struct {
	key
	fingerprint []byte
	// visibility is the digest of the employees that the caller sees.
	visibility                 []byte
	attempt                    int64
	now, leaseUntil, expiresAt time.Time
}

// conflict is an existing key that conflicts with a claim.
type conflict struct {
	sameRequest bool
	// sameVisibility means that the caller sees the same employees as then.
	sameVisibility bool
	// response is nil while the request runs.
	response *platformv1.StoredResponse
}

// claimAttempts bounds the repetitions of a claim whose conflicting key disappears.
const claimAttempts = 3

const notes pg.Unaudited = "the service that carries out the request writes the audit row"

// claim assigns the key to a request, or returns the conflict. An expired key is free. A key whose request died
// is free for the same request.
func (s store) claim(ctx context.Context, c claim) (*conflict, error) {
	for range claimAttempts {
		tag, err := notes.Exec(ctx, s.pool, `
			INSERT INTO idempotency_key AS k (tenant_id, id, client_id, fingerprint, attempt, lease_until, expires_at, sight)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $9)
			ON CONFLICT (tenant_id, id) DO UPDATE SET
				fingerprint = excluded.fingerprint, sight = excluded.sight, attempt = excluded.attempt, lease_until = excluded.lease_until,
				expires_at = excluded.expires_at, status = NULL, content_location = '', body = '', body_omitted = false
			WHERE k.tenant_id = $1 AND (k.expires_at <= $8 OR
				k.status IS NULL AND k.lease_until <= $8 AND k.fingerprint = excluded.fingerprint)`,
			c.tenantID, c.id, c.client, c.fingerprint, c.attempt, c.leaseUntil, c.expiresAt, c.now, c.visibility)
		if err != nil {
			return nil, fmt.Errorf("claim an idempotency key: %w", err)
		}
		if tag.RowsAffected() == 1 {
			return nil, nil
		}
		found, err := s.find(ctx, c)
		if !errors.Is(err, pgx.ErrNoRows) {
			return found, err
		}
	}
	return &conflict{sameRequest: true}, nil
}

func (s store) find(ctx context.Context, c claim) (*conflict, error) {
	var (
		fingerprint, sight []byte
		status             *int32
		response           platformv1.StoredResponse
	)
	err := s.pool.QueryRow(ctx, `
		SELECT fingerprint, sight, status, content_location, body, body_omitted FROM idempotency_key
		WHERE tenant_id = $1 AND id = $2`, c.tenantID, c.id).
		Scan(&fingerprint, &sight, &status, &response.ContentLocation, &response.Body, &response.BodyOmitted)
	if err != nil {
		return nil, fmt.Errorf("find an idempotency key: %w", err)
	}
	found := &conflict{sameRequest: bytes.Equal(fingerprint, c.fingerprint), sameVisibility: bytes.Equal(sight, c.visibility)}
	if status != nil {
		response.Status = *status
		found.response = &response
	}
	return found, nil
}

// storeResponse stores the response to the request of a claim.
func (s store) storeResponse(ctx context.Context, k key, attempt int64, a *platformv1.StoredResponse, expiresAt time.Time) error {
	body := a.GetBody()
	if body == nil {
		body = []byte{}
	}
	_, err := notes.Exec(ctx, s.pool, `
		UPDATE idempotency_key SET status = $4, content_location = $5, body = $6, body_omitted = $7, expires_at = $8
		WHERE tenant_id = $1 AND id = $2 AND attempt = $3 AND status IS NULL`,
		k.tenantID, k.id, attempt, a.GetStatus(), a.GetContentLocation(), body, a.GetBodyOmitted(), expiresAt)
	if err != nil {
		return fmt.Errorf("store a response: %w", err)
	}
	return nil
}

// release removes the key of a claim.
func (s store) release(ctx context.Context, k key, attempt int64) error {
	_, err := notes.Exec(ctx, s.pool, `
		DELETE FROM idempotency_key WHERE tenant_id = $1 AND id = $2 AND attempt = $3 AND status IS NULL`,
		k.tenantID, k.id, attempt)
	if err != nil {
		return fmt.Errorf("release an idempotency key: %w", err)
	}
	return nil
}

// sweep removes at most limit expired keys of all tenants, and returns their number.
func (s store) sweep(ctx context.Context, now time.Time, limit int) (int64, error) {
	tag, err := notes.Exec(ctx, s.pool, `DELETE FROM idempotency_key WHERE (tenant_id, id) IN (
		SELECT tenant_id, id FROM idempotency_key WHERE expires_at <= $1 LIMIT $2)`, now, limit)
	if err != nil {
		return 0, fmt.Errorf("remove expired idempotency keys: %w", err)
	}
	return tag.RowsAffected(), nil
}

// trim removes the oldest responses of all clients that have more than limit keys. Running requests keep their
// keys.
func (s store) trim(ctx context.Context, limit int) error {
	_, err := notes.Exec(ctx, s.pool, `
		DELETE FROM idempotency_key d USING (
			SELECT tenant_id, client_id FROM idempotency_key GROUP BY tenant_id, client_id HAVING count(*) > $1
		) crowded CROSS JOIN LATERAL (
			SELECT id FROM idempotency_key k
			WHERE k.tenant_id = crowded.tenant_id AND k.client_id = crowded.client_id
			ORDER BY expires_at DESC OFFSET $1
		) old
		WHERE d.tenant_id = crowded.tenant_id AND d.id = old.id AND d.status IS NOT NULL`, limit)
	if err != nil {
		return fmt.Errorf("remove the idempotency keys of clients that have too many: %w", err)
	}
	return nil
}
