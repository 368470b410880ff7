package signoff_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/employeeday"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardtest"
)

// A sign-off requests a comparison of its days, so that a change of the schedule between its read and its
// commit is paid.
func TestSignOffsAreCompared(t *testing.T) {
	t.Parallel()
	ctx := tenant.With(t.Context(), 1)
	pool := pooltest.New(t)
	source := &interrupted{Known: timecardtest.Known{}}
	timecards := timecardtest.New(pool, source, timecardtest.Noon(t, "2026-05-01"))
	source.then = func() { replan(source.Known, 7, nil, training(monday+2, 3)) }
	timecards.SignOff(ctx, t, 7, civil.Range{From: monday, To: monday + 7})
	require.Empty(t, byCode(t, ctx, timecards, 7))
	handleRequests(ctx, t, pool, timecards)
	assert.Equal(t, map[string]int64{"Training": 3 * 3600}, byCode(t, ctx, timecards, 7))
}

// handleRequests handles all requested comparisons, and returns them.
func handleRequests(ctx context.Context, t *testing.T, pool *pg.Pool, timecards *timecardtest.Timecards) []*timekeepingv1.ScheduleComparisonRequested {
	t.Helper()
	list := takeRequests(ctx, t, pool)
	handle(ctx, t, timecards, list)
	return list
}

// handle handles requested comparisons.
func handle(ctx context.Context, t *testing.T, timecards *timecardtest.Timecards, list []*timekeepingv1.ScheduleComparisonRequested) {
	t.Helper()
	for _, event := range list {
		from, err := civil.ParseDate(event.GetFrom())
		require.NoError(t, err)
		to, err := civil.ParseDate(event.GetTo())
		require.NoError(t, err)
		require.NoError(t, timecards.Signoffs.CompareAll(ctx, event.GetEmployeeIds(), civil.Through(from, to)))
	}
}

// failing is a source that fails while it is broken.
type failing struct {
	timecardtest.Known
	broken bool
}

var errAway = errors.New("scheduling is away")

func (f *failing) Read(ctx context.Context, ids []int64, days civil.Range, wages bool) (map[int64]employeeday.Days, error) {
	if f.broken {
		return nil, errAway
	}
	return f.Known.Read(ctx, ids, days, wages)
}

// message returns an event as it comes from the broker.
func message(t *testing.T, event proto.Message) bus.Message {
	t.Helper()
	body, err := proto.Marshal(event)
	require.NoError(t, err)
	return bus.Message{Tenant: 1, Event: string(event.ProtoReflect().Descriptor().FullName()), Payload: body}
}

// A comparison that fails stores nothing and returns its error, so that its event comes again and becomes a
// dead letter at last.
func TestAFailedComparisonIsRepeated(t *testing.T) {
	t.Parallel()
	ctx := tenant.With(t.Context(), 1)
	pool := pooltest.New(t)
	source := &failing{Known: timecardtest.Known{}}
	timecards := timecardtest.New(pool, source, timecardtest.Noon(t, "2026-05-01"))
	timecards.SignOff(ctx, t, 7, civil.Range{From: monday, To: monday + 7})
	takeRequests(ctx, t, pool)
	replan(source.Known, 7, nil, training(monday+2, 3))
	consumers := timecards.Signoffs.Consumers()
	require.NoError(t, consumers[0].Handle(ctx, message(t, &schedulingv1.ScheduleChanged{EmployeeIds: []int64{6, 7}, From: "2026-03-04", To: "2999-12-31"})))
	requested := takeRequests(ctx, t, pool)
	require.Len(t, requested, 1)
	require.Equal(t, []int64{7}, requested[0].GetEmployeeIds())

	source.broken = true
	require.ErrorIs(t, consumers[1].Handle(ctx, message(t, requested[0])), errAway)
	require.Empty(t, byCode(t, ctx, timecardtest.New(pool, source.Known, timecardtest.Noon(t, "2026-05-01")), 7))
	source.broken = false
	require.NoError(t, consumers[1].Handle(ctx, message(t, requested[0])))
	assert.Equal(t, map[string]int64{"Training": 3 * 3600}, byCode(t, ctx, timecards, 7))
	require.Error(t, consumers[0].Handle(ctx, message(t, &schedulingv1.ScheduleChanged{EmployeeIds: []int64{7}, From: "soon", To: "later"})))
}
