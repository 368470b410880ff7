package revocation

import (
	"context"
	"errors"
	"time"
)

// errUnconfirmed means that auth has not responded yet.
var errUnconfirmed = errors.New("revocations: auth has not confirmed yet which tokens were revoked")

// Check returns an error until auth has confirmed the view once. A process that starts before auth
// is not ready until then, because it could accept no token. Later failures do not affect
// readiness: the bound of the view covers them.
func (v *View) Check(context.Context) error {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if v.confirmed.IsZero() {
		return errUnconfirmed
	}
	return nil
}

// pollAuth asks auth at intervals until ctx ends, and more often until auth has responded once.
func (v *View) pollAuth(ctx context.Context) {
	interval := max(v.staleness/rounds, time.Millisecond)
	timer := time.NewTimer(interval)
	defer timer.Stop()
	working := true
	for {
		err := v.refresh(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && working:
			v.log.WarnContext(ctx, "revocations are not confirmed; tokens will be rejected if this lasts longer than the bound", "bound", v.staleness, "error", err)
		case err == nil && !working:
			v.log.InfoContext(ctx, "revocations are confirmed again")
		}
		working = err == nil
		if v.Check(ctx) != nil {
			timer.Reset(min(interval, retryAfter))
		} else {
			timer.Reset(interval)
		}
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
	}
}

// refresh runs a round, or waits for the running one. If the last round failed within retryAfter,
// refresh returns its error. The round continues if the caller gives up, for the other callers that
// wait for it.
func (v *View) refresh(ctx context.Context) error {
	done := v.flight.DoChan("", func() (any, error) {
		now := v.clock.Now()
		if v.failed != nil && now.Sub(v.tried) < retryAfter {
			return nil, v.failed
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), roundTimeout)
		defer cancel()
		v.tried = now
		v.failed = v.round(ctx, now)
		return nil, v.failed
	})
	select {
	case <-ctx.Done():
		return ctx.Err()
	case result := <-done:
		return result.Err
	}
}

// round reads the revocations since the last round.
func (v *View) round(ctx context.Context, began time.Time) error {
	horizon, err := v.auth(ctx, v.since, v.add)
	if err != nil {
		return err
	}
	v.since = horizon
	v.confirm(began)
	return nil
}

// confirm records that the view was complete at a time, and removes expired entries.
func (v *View) confirm(at time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.confirmed = at
	if at.Sub(v.swept) < sweepEvery {
		return
	}
	v.swept = at
	for key, until := range v.until {
		if until.Before(at) {
			delete(v.until, key)
		}
	}
}
