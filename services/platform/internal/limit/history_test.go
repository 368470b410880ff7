package limit

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/clock"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// scheduling returns a retention, or an error.
type scheduling struct {
	schedulingv1.ScheduleChangeServiceClient

	keep  *int64
	err   error
	calls int
}

func (s *scheduling) GetScheduleHistory(context.Context, *schedulingv1.GetScheduleHistoryRequest, ...grpc.CallOption) (*schedulingv1.ScheduleHistory, error) {
	s.calls++
	return &schedulingv1.ScheduleHistory{KeepMicroseconds: s.keep}, s.err
}

func TestHistoryFromIsTheFirstDayThatIsKept(t *testing.T) {
	t.Parallel()
	fake := clock.NewFake(time.Date(2026, 12, 1, 23, 59, 30, 0, time.UTC))
	asked := &scheduling{err: errors.New("away")}
	h := &history{schedules: asked, clock: fake, log: slog.New(slog.DiscardHandler)}
	assert.Empty(t, h.findStart(t.Context()), "scheduling is away")

	asked.err, asked.keep = nil, proto.Int64((48 * time.Hour).Microseconds())
	assert.Equal(t, "2026-11-30T00:00:00", h.findStart(t.Context()), "a part of the day before is deleted")
	fake.Advance(30 * time.Second)
	assert.Equal(t, "2026-12-01T00:00:00", h.findStart(t.Context()), "the day is over")
	assert.Equal(t, 2, asked.calls, "the retention was used again")

	asked.keep = nil
	fake.Advance(time.Minute)
	assert.Empty(t, h.findStart(t.Context()), "for ever")
	assert.Equal(t, 3, asked.calls)
}
