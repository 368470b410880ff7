package propagation

import (
	"context"
	"fmt"
	"time"

	"github.com/rotaloom/rotaloom/pkg/preference"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

const (
	// firstPause and maxPause are the shortest and the longest time between two looks at the state.
	firstPause = 10 * time.Millisecond
	maxPause   = 250 * time.Millisecond
)

const selectState = `SELECT state FROM propagation WHERE tenant_id = $1 AND id = $2`

// maxWaiting is the number of requests that wait at a time. Each of them holds a slot of the edge, so
// further requests do not wait: a server may ignore a preference (RFC 7240, section 2).
const maxWaiting = 16

// AwaitWarnings waits until a propagation has finished, for at most the time that the caller prefers to
// wait, and returns its warnings. It returns false if the propagation has failed or takes longer, if the
// caller does not wait, or if the propagation cannot be read: its change is committed, and an error would
// say otherwise. Do not call it in a transaction.
func (h *Handler) AwaitWarnings(ctx context.Context, id int64) ([]*schedulingv1.ScheduleWarning, bool) {
	var warnings []*schedulingv1.ScheduleWarning
	finished := h.await(ctx, id, func() error {
		p, err := h.read(ctx, id)
		warnings = p.GetWarnings()
		return err
	})
	return warnings, finished
}

// await waits until a propagation has finished, reads it then, and reports whether both succeeded; see
// [Handler.AwaitWarnings].
func (h *Handler) await(ctx context.Context, id int64, read func() error) (finished bool) {
	wait := preference.Wait(ctx)
	if wait == 0 {
		return false
	}
	defer h.waiting.Add(-1)
	if h.waiting.Add(1) > maxWaiting {
		return false
	}
	state, err := h.awaitEnd(ctx, id, wait)
	if err == nil && state == StateFinished {
		err = read()
	}
	if err == nil {
		err = rpc.SetPreferenceApplied(ctx, preference.Applied(wait))
	}
	if ctx.Err() != nil {
		return false // The caller has left.
	}
	if err != nil {
		h.log.WarnContext(ctx, "the response to a change does not wait for its propagation, which cannot be read", "propagation", id, "error", err)
		return false
	}
	return state == StateFinished
}

// awaitEnd waits until a propagation has finished or failed, for at most wait, and returns its state.
func (h *Handler) awaitEnd(ctx context.Context, id int64, wait time.Duration) (state string, err error) {
	end := time.NewTimer(wait)
	defer end.Stop()
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		if err := h.pool.QueryRow(ctx, selectState, tenant.Of(ctx), id).Scan(&state); err != nil {
			return "", fmt.Errorf("propagation: wait: %w", err)
		}
		if state == StateFinished || state == StateFailed {
			return state, nil
		}
		next := time.NewTimer(pause)
		select {
		case <-next.C:
		case <-end.C:
			next.Stop()
			return state, nil
		case <-ctx.Done():
			next.Stop()
			return "", ctx.Err()
		}
	}
}
