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
// wait, and returns its warnings. It returns false if the propagation has failed or takes longer, or if
// the caller does not wait. Do not call it in a transaction.
func (h *Handler) AwaitWarnings(ctx context.Context, id int64) ([]*schedulingv1.ScheduleWarning, bool, error) {
	finished, err := h.await(ctx, id)
	if err != nil || !finished {
		return nil, false, err
	}
	p, err := h.read(ctx, id)
	return p.GetWarnings(), err == nil, err
}

// await waits until a propagation has finished, and reports whether it has; see [Handler.AwaitWarnings].
func (h *Handler) await(ctx context.Context, id int64) (finished bool, err error) {
	wait := preference.Wait(ctx)
	if wait == 0 {
		return false, nil
	}
	defer h.waiting.Add(-1)
	if h.waiting.Add(1) > maxWaiting {
		return false, nil
	}
	state, err := h.awaitEnd(ctx, id, wait)
	if err != nil {
		return false, err
	}
	return state == StateFinished, rpc.SetPreferenceApplied(ctx, preference.Applied(wait))
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
