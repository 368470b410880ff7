package explanation

import (
	"context"
	"time"

	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/decider"
)

// decision is a layer with the time of its change.
type decision struct {
	layer *schedulingv1.ScheduleLayer
	at    time.Time
}

// nameDeciders fills in who made the changes, if the caller may read the audit log.
func (h *Handler) nameDeciders(ctx context.Context, decided []decision) error {
	times := make([]time.Time, len(decided))
	for i := range decided {
		times[i] = decided[i].at
	}
	users, err := decider.Read(ctx, h.deps.Pool, times...)
	if err != nil {
		return err
	}
	for i := range decided {
		decided[i].layer.DecidedBy = users.Of(decided[i].at)
	}
	return nil
}
