package timeoff_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/testkit/faulttest"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timeoff"
)

// sweep settles claims as they are now.
func (w *fixture) sweep() error { return w.handover.Sweep(w.ctx, 0) }

// change replaces the days of a request.
func (w *fixture) change(ctx context.Context, id int64, first, last string) error {
	_, err := w.manager.UpdateTimeOff(ctx, &timekeepingv1.UpdateTimeOffRequest{Id: id, Body: &timekeepingv1.TimeOffRequest{Periods: wholeDays(first, last)}})
	return err
}

// get returns a request.
func (w *fixture) get(id int64) *timekeepingv1.TimeOffRequest {
	w.t.Helper()
	found, err := w.manager.GetTimeOff(w.asManager, &timekeepingv1.GetTimeOffRequest{Id: id})
	require.NoError(w.t, err)
	return found
}

// A process that dies after its call to scheduling, before its transaction is committed, leaves a
// claim. The sweep then sends the state of the database to scheduling.
func TestChangesThatAreBrokenOff(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(ctx context.Context, w *fixture, approved, submitted int64) error
		broken []string // the entries of the schedule when the change is interrupted
	}{
		{"a grant", func(ctx context.Context, w *fixture, _, _ int64) error {
			_, err := w.grant(ctx, "2031-04-01", "2031-04-01")
			return err
		}, []string{"2031-03-03", "2031-04-01"}},
		{"an approval", func(ctx context.Context, w *fixture, _, submitted int64) error {
			_, err := w.decideAs(ctx, submitted, "APPROVED")
			return err
		}, []string{"2031-03-03", "2031-03-10"}},
		{"a cancellation", func(ctx context.Context, w *fixture, approved, _ int64) error {
			_, err := w.decideAs(ctx, approved, "CANCELLED")
			return err
		}, []string{}},
		{"a change of the days", func(ctx context.Context, w *fixture, approved, _ int64) error {
			return w.change(ctx, approved, "2031-03-04", "2031-03-04")
		}, []string{"2031-03-04"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t)
			granted, err := w.grant(w.asManager, "2031-03-03", "2031-03-03")
			require.NoError(t, err)
			waiting := w.requestDays("2031-03-10", "2031-03-10")
			before := []*timekeepingv1.TimeOffRequest{w.get(granted.GetId()), w.get(waiting.GetId())}

			ctx, die := context.WithCancel(w.asManager)
			w.schedules.After = func(*schedulingv1.PutTimeOffRequest) error {
				die()
				return nil
			}
			require.Error(t, c.change(ctx, w, granted.GetId(), waiting.GetId()))
			w.schedules.After = nil
			assert.Equal(t, c.broken, w.schedules.Days())
			assert.Equal(t, 1, w.count("time_off_claim"))

			require.NoError(t, w.sweep())
			assert.Equal(t, []string{"2031-03-03"}, w.schedules.Days())
			assert.Zero(t, w.count("time_off_claim"))
			assert.Equal(t, 2, w.count("time_off_request"))
			for i, id := range []int64{granted.GetId(), waiting.GetId()} {
				assert.True(t, proto.Equal(before[i], w.get(id)), "%v", w.get(id))
			}

			require.NoError(t, c.change(w.asManager, w, granted.GetId(), waiting.GetId()), "it is made again")
			assert.Equal(t, c.broken, w.schedules.Days())
			assert.Zero(t, w.count("time_off_claim"))
		})
	}
}

// If an error does not show whether scheduling carried out the call, the claim stays, too.
func TestCallsWithoutAResponse(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.schedules.After = func(*schedulingv1.PutTimeOffRequest) error { return fault.Unavailable("gone", time.Second) }
	_, err := w.grant(w.asManager, "2031-03-03", "2031-03-03")
	assert.True(t, fault.HasStatus(err, 503), "%v", err)
	assert.Equal(t, []string{"2031-03-03"}, w.schedules.Days())
	assert.Zero(t, w.count("time_off_request"))
	require.Error(t, w.sweep(), "scheduling is still away")
	assert.Equal(t, 1., testutil.ToFloat64(w.waiting))
	assert.Equal(t, 1, w.count("time_off_claim"))
	w.schedules.After = nil
	require.NoError(t, w.sweep())
	assert.Zero(t, testutil.ToFloat64(w.waiting))
	assert.Empty(t, w.schedules.Days())
	assert.Zero(t, w.count("time_off_claim"))
}

// A scheduling service that does not respond makes the change fail, as one that is away does.
func TestSchedulingThatDoesNotRespond(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.schedules.Before = func(ctx context.Context) error {
		<-ctx.Done()
		return status.FromContextError(ctx.Err()).Err()
	}
	_, err := w.grant(w.asManager, "2031-03-03", "2031-03-03")
	faulttest.Require(t, err, fault.CodeUnavailable, 503)
	assert.Zero(t, w.count("time_off_request"))
	assert.Equal(t, 1, w.count("time_off_claim"))
	w.schedules.Before = nil
	require.NoError(t, w.sweep())
	assert.Empty(t, w.schedules.Days())
	assert.Zero(t, w.count("time_off_claim"))
}

// Scheduling refuses locked days. Then neither the request nor the schedule changes.
func TestRefusalsOfScheduling(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	granted, err := w.grant(w.asManager, "2031-03-03", "2031-03-03")
	require.NoError(t, err)
	waiting := w.requestDays("2031-03-09", "2031-03-10")
	w.schedules.Lock(civil.Of(2031, 3, 3), civil.Of(2031, 3, 10))
	for _, c := range []struct {
		name   string
		change func() error
	}{
		{"an approval", func() error { _, err := w.decide(waiting.GetId(), "APPROVED"); return err }},
		{"a cancellation", func() error { _, err := w.decide(granted.GetId(), "CANCELLED"); return err }},
		{"a change of the days", func() error { return w.change(w.asManager, granted.GetId(), "2031-03-04", "2031-03-04") }},
		{"a grant", func() error { _, err := w.grant(w.asManager, "2031-03-10", "2031-03-10"); return err }},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "a grant" {
				_, err := w.decide(waiting.GetId(), "REFUSED")
				require.NoError(t, err)
			}
			before := []*timekeepingv1.TimeOffRequest{w.get(granted.GetId()), w.get(waiting.GetId())}
			faulttest.Require(t, c.change(), codeLockedDay, 400)
			assert.True(t, proto.Equal(before[0], w.get(granted.GetId())))
			assert.True(t, proto.Equal(before[1], w.get(waiting.GetId())))
			assert.Equal(t, []string{"2031-03-03"}, w.schedules.Days())
			assert.Equal(t, 2, w.count("time_off_request"))
			assert.Zero(t, w.count("time_off_claim"), "a refusal leaves nothing to settle")
		})
	}
}

// Days that were locked before the sweep stay as they are. The claim waits until they are
// unlocked, and others are settled before it.
func TestClaimsOfLockedDaysWait(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.schedules.After = func(*schedulingv1.PutTimeOffRequest) error { return errors.New("lost") }
	for _, day := range []string{"2031-03-03", "2031-03-04"} {
		_, err := w.grant(w.asManager, day, day)
		require.Error(t, err)
	}
	w.schedules.After = nil
	w.schedules.Lock(civil.Of(2031, 3, 3))
	require.Error(t, w.sweep())
	assert.Equal(t, []string{"2031-03-03"}, w.schedules.Days())
	assert.Equal(t, 1, w.count("time_off_claim"))
	w.schedules.Unlock()
	require.NoError(t, w.sweep())
	assert.Empty(t, w.schedules.Days())
}

// A sweep that takes the claim of a change before the change begins does no harm: the change
// claims again.
func TestSweepsBesideChanges(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	done := make(chan struct{})
	swept := make(chan error, 1)
	go func() {
		var failed error
		for {
			select {
			case <-done:
				swept <- failed
				return
			default:
				failed = errors.Join(failed, w.sweep())
			}
		}
	}()
	for range 20 {
		granted, err := w.grant(w.asManager, "2031-03-03", "2031-03-03")
		if fault.HasCode(err, fault.CodeUnavailable) {
			continue // The sweep came first five times.
		}
		require.NoError(t, err)
		assert.Equal(t, []string{"2031-03-03"}, w.schedules.Days())
		require.Eventually(t, func() bool {
			_, err := w.decide(granted.GetId(), "CANCELLED")
			return err == nil
		}, 10*time.Second, time.Millisecond)
		assert.Empty(t, w.schedules.Days())
	}
	close(done)
	require.NoError(t, <-swept)
	assert.Zero(t, w.count("time_off_claim"))
}

// Only changes of time off on the schedule call scheduling.
func TestRequestsThatAreNotOnTheSchedule(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	made := w.requestDays("2031-03-03", "2031-03-03")
	require.NoError(t, w.change(w.asManager, made.GetId(), "2031-03-04", "2031-03-04"))
	for _, to := range []string{"PENDING", "REFUSED"} {
		_, err := w.decide(made.GetId(), to)
		require.NoError(t, err)
	}
	assert.Zero(t, w.schedules.Calls())
	assert.Zero(t, w.count("time_off_claim"))
}

func TestPeriodsThatCanBeAskedFor(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.requestDays("2031-03-03", "2031-03-03")
	w.schedules.Lock(civil.Of(2031, 3, 5))
	list, err := w.employee.ListEmployeeTimeOffRequestPeriods(w.asEmployee, &timekeepingv1.ListEmployeeTimeOffRequestPeriodsRequest{StartDate: "2031-03-02", EndDate: "2031-03-07"})
	require.NoError(t, err)
	var got []string
	for _, p := range list.GetItems() {
		got = append(got, p.GetStartDate()+" "+p.GetEndDate())
	}
	assert.Equal(t, []string{"2031-03-02 2031-03-02", "2031-03-04 2031-03-04", "2031-03-06 2031-03-07"}, got)
}

// After a restore, scheduling is told again about time off that it lost, time off that it should
// not have, and time off that it already has.
func TestHandingOverAgain(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	for _, day := range []string{"2031-03-03", "2031-03-04"} {
		_, err := w.grant(w.asManager, day, day)
		require.NoError(t, err)
	}
	cancelled, err := w.grant(w.asManager, "2031-03-05", "2031-03-05")
	require.NoError(t, err)
	_, err = w.decide(cancelled.GetId(), "CANCELLED")
	require.NoError(t, err)
	w.schedules.Restore(&schedulingv1.PutTimeOffRequest{
		RequestId: cancelled.GetId(), EmployeeId: 1, Version: 1, PayCodeEdits: []*schedulingv1.PayCodeEdit{{StartDate: "2031-03-05"}},
	})
	require.NoError(t, pg.InTx(w.ctx, w.pool, func(ctx context.Context, tx pgx.Tx) error {
		return timeoff.HandOverAgain(ctx, tx, map[int64]int64{cancelled.GetId(): 1, 999: 1})
	}))
	require.NoError(t, w.sweep())
	assert.Equal(t, []string{"2031-03-03", "2031-03-04"}, w.schedules.Days())
	assert.Zero(t, w.count("time_off_claim"))
}
