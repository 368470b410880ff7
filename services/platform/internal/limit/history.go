package limit

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/rotaloom/rotaloom/pkg/clock"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

const (
	// historyFresh is the time for which a known retention is used. It changes only when scheduling starts
	// with another setting.
	historyFresh = time.Minute
	// historyWait limits the time that a caller waits for scheduling.
	historyWait = time.Second
	// historyForm is the form of date-times of schedules, in UTC.
	historyForm = "2006-01-02T15:04:05"
)

// history knows how far the history of schedules goes back. It is safe for concurrent use.
type history struct {
	schedules schedulingv1.ScheduleChangeServiceClient
	clock     clock.Clock
	log       *slog.Logger

	mu    sync.Mutex
	until time.Time // The retention is used until then.
	keep  *time.Duration
}

// findStart returns the first midnight in UTC that requests can name as past, or "" if the history is kept for ever
// or if scheduling does not answer.
func (h *history) findStart(ctx context.Context) string {
	now := h.clock.Now().UTC()
	h.mu.Lock()
	defer h.mu.Unlock()
	if !now.Before(h.until) {
		if err := h.ask(ctx); err != nil {
			h.log.WarnContext(ctx, "scheduling did not return the retention of its history", "error", err)
			return ""
		}
		h.until = now.Add(historyFresh)
	}
	if h.keep == nil {
		return ""
	}
	const day = 24 * time.Hour
	return now.Add(-*h.keep).Truncate(day).Add(day).Format(historyForm)
}

// ask asks scheduling for the retention.
func (h *history) ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, historyWait)
	defer cancel()
	found, err := h.schedules.GetScheduleHistory(ctx, &schedulingv1.GetScheduleHistoryRequest{})
	if err != nil {
		return err
	}
	h.keep = nil
	if found.KeepMicroseconds != nil {
		keep := time.Duration(found.GetKeepMicroseconds()) * time.Microsecond
		h.keep = &keep
	}
	return nil
}
