package propagation

import (
	"context"
	"fmt"
	"time"

	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

const (
	// firstPause and maxPause are the shortest and the longest time between two looks at the state.
	firstPause = 10 * time.Millisecond
	maxPause   = 250 * time.Millisecond
)

const selectState = `SELECT state FROM propagation WHERE tenant_id = $1 AND id = $2`

// AwaitWarnings waits until a propagation has finished, for at most wait, and returns its warnings.
// It returns false if the propagation has failed or takes longer. Do not call it in a transaction.
func (h *Handler) AwaitWarnings(ctx context.Context, id int64, wait time.Duration) ([]*schedulingv1.ScheduleWarning, bool, error) {
	end := time.NewTimer(wait)
	defer end.Stop()
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		var state string
		if err := h.pool.QueryRow(ctx, selectState, tenant.Of(ctx), id).Scan(&state); err != nil {
			return nil, false, fmt.Errorf("propagation: wait: %w", err)
		}
		switch state {
		case StateFinished:
			found, err := h.GetPropagation(ctx, &schedulingv1.GetPropagationRequest{Id: id})
			return found.GetWarnings(), err == nil, err
		case StateFailed:
			return nil, false, nil
		}
		next := time.NewTimer(pause)
		select {
		case <-next.C:
		case <-end.C:
			next.Stop()
			return nil, false, nil
		case <-ctx.Done():
			next.Stop()
			return nil, false, ctx.Err()
		}
	}
}
