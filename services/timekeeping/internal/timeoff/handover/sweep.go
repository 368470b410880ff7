package handover

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leaveday"
)

const (
	// sweepEvery is the interval of searches for remaining claims. sweepAfter is the minimum age of
	// such a claim, so that the change that created it can finish first.
	sweepEvery = 2 * time.Second
	sweepAfter = 5 * time.Second
	// sweepLimit is the maximum number of claims of one sweep. The next sweep continues.
	sweepLimit = 1000
)

const (
	insertClaim = `INSERT INTO time_off_claim (tenant_id, request_id, employee_id) VALUES ($1, $2, $3) RETURNING id`

	deleteClaim = `DELETE FROM time_off_claim WHERE tenant_id = $1 AND id = $2`

	postponeClaim = `UPDATE time_off_claim SET claimed_at = clock_timestamp() WHERE tenant_id = $1 AND id = $2`

	// A time in the future was written while a clock was ahead, so it does not show the age of the
	// claim.
	readClaims = `
SELECT tenant_id, id, request_id, employee_id FROM time_off_claim
WHERE claimed_at < clock_timestamp() - make_interval(secs => $1) OR claimed_at > clock_timestamp() ORDER BY claimed_at LIMIT $2`

	claimEach = `
INSERT INTO time_off_claim (tenant_id, request_id, employee_id) SELECT $1, u.* FROM unnest($2::bigint[], $3::bigint[]) AS u`
)

// claim is a remaining claim.
type claim struct {
	Tenant, ID          int64
	RequestID, Employee int64
}

// takeClaim deletes a claim, and returns false if it no longer exists.
func takeClaim(ctx context.Context, tx pgx.Tx, id int64) (bool, error) {
	done, err := tx.Exec(ctx, deleteClaim, tenant.Of(ctx), id)
	if err != nil {
		return false, fmt.Errorf("take the claim of a request for time off: %w", err)
	}
	return done.RowsAffected() == 1, nil
}

// Run settles remaining claims until ctx ends. Several processes may run it at the same time.
func (h *Handover) Run(ctx context.Context) error {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			if err := h.Sweep(ctx, sweepAfter); err != nil && ctx.Err() == nil {
				h.log.WarnContext(ctx, "changes of time off that were broken off could not be settled, and are tried again", "error", err)
			}
		}
	}
}

// Sweep settles the claims of all tenants that are older than after.
func (h *Handover) Sweep(ctx context.Context, after time.Duration) error {
	rows, err := h.pool.Query(tenant.All(ctx), readClaims, after.Seconds(), sweepLimit)
	if err != nil {
		return fmt.Errorf("look for claims of time off: %w", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[claim])
	if err != nil {
		return fmt.Errorf("look for claims of time off: %w", err)
	}
	var failed error
	waiting := 0
	for _, c := range found {
		ctx := tenant.With(ctx, c.Tenant)
		if err := h.settle(ctx, c); err != nil {
			// The next sweep takes the other claims first. A claim that scheduling rejects, because
			// its days were locked in the meantime, therefore does not block others.
			waiting++
			_, later := claims.Exec(ctx, h.pool, postponeClaim, c.Tenant, c.ID)
			failed = errors.Join(failed, fmt.Errorf("request %d of tenant %d: %w", c.RequestID, c.Tenant, err), later)
		}
	}
	h.waiting.Set(float64(waiting))
	return failed
}

// settle sends the state of a request in the database to scheduling.
func (h *Handover) settle(ctx context.Context, c claim) error {
	return claims.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := leaveday.Lock(ctx, tx, c.Employee); err != nil {
			return err
		}
		if there, err := takeClaim(ctx, tx, c.ID); err != nil || !there {
			return err
		}
		edits, err := h.stored(ctx, tx, c.RequestID)
		if err != nil {
			return err
		}
		return h.call(ctx, tx, Request{ID: c.RequestID, EmployeeID: c.Employee}, edits, true)
	})
}

// Repeat claims requests in a transaction, so that the sweep sends their edits to scheduling again.
func Repeat(ctx context.Context, tx pgx.Tx, requests []Request) error {
	ids, employees := make([]int64, len(requests)), make([]int64, len(requests))
	for i, r := range requests {
		ids[i], employees[i] = r.ID, r.EmployeeID
	}
	if _, err := tx.Exec(ctx, claimEach, tenant.Of(ctx), ids, employees); err != nil {
		return fmt.Errorf("claim requests for time off: %w", err)
	}
	return nil
}
