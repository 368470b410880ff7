package schedulepreview

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/advisory"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// lockCount is held while a tenant's open previews are counted and a new one is inserted.
const lockCount advisory.Lock = "open previews"

const (
	countOpen = `SELECT count(*) FROM schedule_preview WHERE tenant_id = $1 AND applied_at IS NULL AND expires_at > $2`

	insertPreview = `
INSERT INTO schedule_preview (tenant_id, created_by, request, digest, settled_at, employment_term_ids, inheriting_term_ids,
    from_date, to_date, effect, expires_at, employee_ids)
VALUES ($1, $2, $3, $4, $5, coalesce($6::bigint[], '{}'), coalesce($7::bigint[], '{}'), $8, $9, $10, $11, coalesce($12::bigint[], '{}')) RETURNING id`

	selectPreview = `
SELECT id, created_by, request, digest, settled_at, employment_term_ids, employee_ids, inheriting_term_ids, from_date, to_date, effect,
    expires_at, applied_at IS NOT NULL, propagation_id
FROM schedule_preview WHERE tenant_id = $1 AND id = $2`

	setApplied = `UPDATE schedule_preview SET applied_at = $3, propagation_id = $4 WHERE tenant_id = $1 AND id = $2`
)

// row is a row of schedule_preview.
type row struct {
	id        int64
	createdBy string
	// request is the encoded CreateSchedulePreviewRequest, and digest is the digest of the request
	// that makes the change.
	request, digest []byte
	// basis is the state that the preview was computed from.
	basis basis
	// effect is the encoded SchedulePreview, without the parts that the other columns have.
	effect    []byte
	expiresAt time.Time
	applied   bool
	// propagationID is the propagation that made the change, or nil.
	propagationID *int64
}

// caller returns the name of the user who calls.
func caller(ctx context.Context) string {
	p, _ := authn.From(ctx)
	if p == nil {
		return ""
	}
	return p.Subject
}

// insert stores a preview of the caller, and sets its id.
func (r *row) insert(ctx context.Context, pool *pg.Pool, now time.Time) error {
	tenantID := tenant.Of(ctx)
	return pg.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := lockCount.Wait(ctx, tx); err != nil {
			return err
		}
		if err := refuseTooMany(ctx, tx, now); err != nil {
			return err
		}
		err := tx.QueryRow(ctx, insertPreview, tenantID, r.createdBy, r.request, r.digest, r.basis.settledAt, r.basis.termIDs, r.basis.inheriting,
			r.basis.days.From, r.basis.days.To, r.effect, r.expiresAt, r.basis.employeeIDs).Scan(&r.id)
		if err != nil {
			return fmt.Errorf("schedulepreview: insert: %w", err)
		}
		return nil
	})
}

// refuseTooMany returns an error if the tenant has as many open previews as it may have.
func refuseTooMany(ctx context.Context, db pg.Querier, now time.Time) error {
	var open int
	if err := db.QueryRow(ctx, countOpen, tenant.Of(ctx), now).Scan(&open); err != nil {
		return fmt.Errorf("schedulepreview: count: %w", err)
	}
	if open < maxOpen {
		return nil
	}
	return fault.Newf(codeTooMany, http.StatusTooManyRequests,
		"The tenant has %d open previews, which is the limit. Wait until some of them are applied or expire.", maxOpen).WithRetryAfter(time.Minute)
}

// readRow reads a preview of the caller. lock locks its row.
func readRow(ctx context.Context, db pg.Querier, id int64, lock bool) (*row, error) {
	sql := selectPreview
	if lock {
		sql += " FOR UPDATE"
	}
	r := &row{}
	var from, to civil.Date
	err := db.QueryRow(ctx, sql, tenant.Of(ctx), id).Scan(&r.id, &r.createdBy, &r.request, &r.digest, &r.basis.settledAt, &r.basis.termIDs,
		&r.basis.employeeIDs, &r.basis.inheriting, &from, &to, &r.effect, &r.expiresAt, &r.applied, &r.propagationID)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && r.createdBy != caller(ctx) {
		return nil, fault.NotFound(codeUnknown, fmt.Sprintf("You have no preview with the id %d.", id))
	}
	if err != nil {
		return nil, fmt.Errorf("schedulepreview: read: %w", err)
	}
	r.basis.days = civil.Range{From: from, To: to}
	return r, nil
}

func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
