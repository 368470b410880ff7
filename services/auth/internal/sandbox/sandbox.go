// Package sandbox owns the clocks of sandbox tenants. A sandbox is a tenant for tests whose clock can be ahead
// of the real time (decision 158).
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/tenantclock"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
)

// Codes of the clocks of sandboxes.
const (
	// CodeBackwards (409): the clock of a sandbox cannot go back. Send a later time.
	CodeBackwards = "WRL-60902"
	// CodeTooFar (400): the clock of a sandbox can be at most ten years ahead of the real time. Send an earlier time.
	CodeTooFar = "WRL-60903"
	// CodeInvalid (400): the request does not have exactly one of dateTime and advance, or advance is not a duration. Correct the request.
	CodeInvalid = "WRL-60904"
)

// maxWork is the largest number of items of due work in a response.
const maxWork = 1000

// Ask reads the clock of the context's tenant from the database of auth. It is a tenantclock.Ask.
func Ask(pool *pg.Pool) tenantclock.Ask {
	return func(ctx context.Context) (tenantclock.State, error) {
		state, err := read(ctx, pool, "")
		if err != nil {
			return state, fmt.Errorf("read the clock of the tenant: %w", err)
		}
		return state, nil
	}
}

// read reads the clock of the context's tenant. A lock is a clause that locks the row, or "".
func read(ctx context.Context, db pg.Querier, lock string) (tenantclock.State, error) {
	state := tenantclock.State{Known: true}
	err := db.QueryRow(ctx, `SELECT sandbox, clock_ahead FROM tenant WHERE id = $1`+lock, tenant.Of(ctx)).Scan(&state.Sandbox, &state.Ahead)
	if errors.Is(err, pgx.ErrNoRows) {
		return tenantclock.State{}, nil
	}
	return state, err
}

// Lockouts carries out lockouts of users when the clock advances.
type Lockouts interface {
	// SettleLockouts begins and ends the lockouts of the context's tenant that are due from one time
	// up to another, in the order of their due times. It calls each for every changed user.
	SettleLockouts(ctx context.Context, tx pgx.Tx, from, to time.Time, each func(at time.Time, personID int64, lockedOut bool)) error
	// WakePublisher announces revoked tokens after the commit.
	WakePublisher()
}

// Handler serves TenantClockService.
type Handler struct {
	authv1.UnsafeTenantClockServiceServer
	pool     *pg.Pool
	clock    clock.Clock
	lockouts Lockouts
}

var _ authv1.TenantClockServiceServer = (*Handler)(nil)

// New returns a Handler over the database of the pool.
func New(pool *pg.Pool, clk clock.Clock, lockouts Lockouts) *Handler {
	return &Handler{pool: pool, clock: clk, lockouts: lockouts}
}

// GetTenantClock returns the clock of the tenant.
func (h *Handler) GetTenantClock(ctx context.Context, _ *authv1.GetTenantClockRequest) (*authv1.TenantClock, error) {
	state, err := Ask(h.pool)(ctx)
	if err != nil {
		return nil, err
	}
	return message(state, h.clock.Now()), nil
}

func message(state tenantclock.State, now time.Time) *authv1.TenantClock {
	return &authv1.TenantClock{Known: state.Known, Sandbox: state.Sandbox, Ahead: state.Ahead.Microseconds(), RealTime: now.UnixMicro()}
}

// AdvanceTenantClock advances the clock of a sandbox. One transaction moves the clock and carries out the work
// that becomes due, so a failure changes nothing, and two calls follow each other.
func (h *Handler) AdvanceTenantClock(ctx context.Context, req *authv1.AdvanceTenantClockRequest) (*authv1.AdvanceTenantClockResponse, error) {
	target, err := parseTarget(req)
	if err != nil {
		return nil, err
	}
	var out *authv1.AdvanceTenantClockResponse
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		// The database stores microseconds.
		now := h.clock.Now().Truncate(time.Microsecond)
		state, err := read(ctx, tx, " FOR UPDATE")
		if err != nil {
			return err
		}
		if !state.Sandbox {
			return tenantclock.NoSandbox()
		}
		from := now.Add(state.Ahead)
		to := target(from).Truncate(time.Microsecond)
		if err := checkTarget(now, from, to); err != nil {
			return err
		}
		state.Ahead = to.Sub(now)
		if _, err := tx.Exec(ctx, `UPDATE tenant SET clock_ahead = $2 WHERE id = $1`, tenant.Of(ctx), state.Ahead); err != nil {
			return err
		}
		out = &authv1.AdvanceTenantClockResponse{Clock: message(state, now)}
		return h.lockouts.SettleLockouts(ctx, tx, from, to, func(at time.Time, personID int64, lockedOut bool) {
			if out.WorkCount++; out.WorkCount <= maxWork {
				out.Work = append(out.Work, &authv1.DueWork{DueAt: at.UnixMicro(), PersonId: personID, LockedOut: lockedOut})
			}
		})
	})
	if err != nil {
		return nil, fmt.Errorf("advance the clock of a sandbox: %w", err)
	}
	h.lockouts.WakePublisher()
	return out, nil
}

// parseTarget returns a function that finds the new time of a clock from its present time.
func parseTarget(req *authv1.AdvanceTenantClockRequest) (func(time.Time) time.Time, error) {
	switch {
	case (req.GetDateTime() == "") == (req.GetAdvance() == ""):
		return nil, fault.Invalid(CodeInvalid, "Send either dateTime, the new time of the clock, or advance, the duration by which it advances.").WithMembers("dateTime", "advance")
	case req.GetAdvance() != "":
		p, err := parsePeriod(req.GetAdvance())
		return p.after, err
	}
	at, err := civil.ParseInstant(req.GetDateTime())
	if err != nil {
		return nil, fault.Invalid(fault.CodeDate, "dateTime: "+err.Error()+".").WithMembers("dateTime")
	}
	return func(time.Time) time.Time { return at }, nil
}

// checkTarget refuses a new time that is before the present time of the clock, or too far ahead.
func checkTarget(now, from, to time.Time) error {
	if to.Before(from) {
		return fault.Conflict(CodeBackwards, fmt.Sprintf("The clock shows %s and cannot go back to %s. Send a later time, or create another sandbox.",
			from.Format(time.RFC3339), to.Format(time.RFC3339))).WithMembers("dateTime")
	}
	if latest := tenantclock.Latest(now); to.After(latest) {
		return fault.Invalid(CodeTooFar, fmt.Sprintf("%s is more than ten years ahead of the real time. The clock can advance to %s.",
			to.Format(time.RFC3339), latest.Format(time.RFC3339))).WithMembers("dateTime", "advance")
	}
	return nil
}
