package scheduleevent_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/symbolicamount"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employeelock"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedtest"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleevent"
)

// publish returns the events that a topic publishes for the states of keys.
func publish[E proto.Message](t *testing.T, env *schedtest.Env, wanted ...replica.Gap) (events []E) {
	t.Helper()
	require.NoError(t, pg.InTx(env.Ctx, env.Pool, func(ctx context.Context, tx pgx.Tx) error {
		made, err := findTopic[E](t).States(ctx, tx, wanted)
		events = nil
		for _, e := range made {
			events = append(events, e.(E))
		}
		return err
	}))
	return events
}

func findTopic[E proto.Message](t *testing.T) replica.Topic {
	t.Helper()
	for _, topic := range scheduleevent.Topics() {
		if _, is := topic.Event.(E); is {
			return topic
		}
	}
	require.Fail(t, "there is no such topic")
	return replica.Topic{}
}

// keys returns the keys that a topic says it has.
func keys[E proto.Message](t *testing.T, env *schedtest.Env) []int64 {
	t.Helper()
	rows, err := env.Pool.Query(env.Ctx, `SELECT key FROM (`+findTopic[E](t).Fingerprints+`) AS m ORDER BY key`, 1, 0, int64(1)<<62)
	require.NoError(t, err)
	found, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	require.NoError(t, err)
	return found
}

func TestPatternsArePublishedBehindThePartsOfACopy(t *testing.T) {
	t.Parallel()
	env := schedtest.New(t)
	body, err := proto.Marshal(&schedulingv1.SchedulePattern{Items: []*schedulingv1.SchedulePatternItem{
		{Day: proto.Int32(1), ShiftTemplate: &schedulingv1.ShiftTemplate{StartDateTime: "1900-01-01T06:00:00", EndDateTime: "1900-01-01T14:00:00"}},
	}})
	require.NoError(t, err)
	digest := []byte{0x80, 0, 0, 0, 0, 0, 0, 1, 9, 9}
	env.Exec(t, `INSERT INTO schedule_pattern (tenant_id, id, digest, day_count, body) VALUES (1, 5, $1, 7, $2)`, digest, body)
	assert.Equal(t, []int64{5}, keys[*schedulingv1.PatternStored](t, env))
	var mark int64
	require.NoError(t, env.Pool.QueryRow(env.Ctx, findTopic[*schedulingv1.PatternStored](t).Fingerprints, 1, 0, 100).Scan(new(int64), &mark))
	assert.Equal(t, scheduleevent.Digest(digest), mark)

	events := publish[*schedulingv1.PatternStored](t, env, replica.Gap{Key: 5, Version: 2}, replica.Gap{Key: 6, Version: 1})
	require.Len(t, events, 2)
	assert.Equal(t, [2]int64{3, mark}, [2]int64{events[0].GetPart(), events[0].GetDigest()})
	assert.True(t, events[0].GetFirst())
	assert.Len(t, events[0].GetShifts(), 1)
	assert.True(t, events[1].GetDeleted() && events[1].GetFirst())
	assert.EqualValues(t, 2, events[1].GetPart())
}

// A published revision is higher than the copy's revision, also if the sequence is behind, as in a
// database that was restored from a backup.
func TestSpansArePublishedAboveTheRevisionOfACopy(t *testing.T) {
	t.Parallel()
	env := schedtest.New(t)
	env.Exec(t, `INSERT INTO span (tenant_id, employee_id, lane, from_date, to_date, pattern_id, position, day_count, assignment_id, inherited, propagation_id)
		SELECT 1, n, 0, '2025-01-01', '3000-01-01', 1, n % 7, 7, 1, true, 1 FROM generate_series(1, 3) AS n`)
	assert.Equal(t, []int64{1, 2, 3}, keys[*schedulingv1.SpansChanged](t, env))
	first := publish[*schedulingv1.SpansChanged](t, env, replica.Gap{Key: 2}, replica.Gap{Key: 9})[0]
	assert.Positive(t, first.GetRevision())
	require.Len(t, first.GetGroups(), 2)
	assert.Len(t, first.GetGroups()[0].GetSpans(), 1)
	assert.Empty(t, first.GetGroups()[1].GetSpans())

	const ahead = 1 << 60
	raised := publish[*schedulingv1.SpansChanged](t, env, replica.Gap{Key: 2, Version: ahead})[0]
	assert.Greater(t, raised.GetRevision(), int64(ahead))
	next := publish[*schedulingv1.SpansChanged](t, env, replica.Gap{Key: 2})[0]
	assert.Greater(t, next.GetRevision(), raised.GetRevision(), "what comes later is later")
}

func TestShiftsArePublishedOneByOne(t *testing.T) {
	t.Parallel()
	env := schedtest.New(t)
	const day, hidden = civil.Date(20_000), 1<<52 + 5
	shift, err := proto.Marshal(&schedulingv1.Shift{StartDateTime: day.String() + "T06:00:00", EndDateTime: day.String() + "T14:00:00"})
	require.NoError(t, err)
	env.Exec(t, `INSERT INTO schedule_item (tenant_id, id, employee_id, kind, from_day, to_day, hides_day, hides_employee_id, hidden_lane, hidden_ordinal, deleted, version, body) VALUES
		(1, 5, 400, 'SHIFT', $1, $1, NULL, NULL, NULL, NULL, false, 4, $2), (1, $3, 9, 'SHIFT', $1, $1, $1, 9, 0, 1, true, 1, ''),
		(1, $3 + 1, 9, 'SHIFT', $1, $1, $1, 9, NULL, NULL, true, 1, ''),
		(1, 6, 9, 'PAY_CODE_EDIT', $1, $1, NULL, NULL, NULL, NULL, false, 1, ''), (1, 7, NULL, 'SHIFT', $1, $1, NULL, NULL, NULL, NULL, false, 1, $2)`, day.Time(), shift, hidden)
	assert.Equal(t, []int64{5, hidden}, keys[*schedulingv1.ShiftsEntered](t, env), "what is not published is left out")

	events := publish[*schedulingv1.ShiftsEntered](t, env, replica.Gap{Key: 5}, replica.Gap{Key: 6}, replica.Gap{Key: 7}, replica.Gap{Key: hidden}, replica.Gap{Key: hidden + 1})
	require.Len(t, events, 1)
	byID := map[int64]*schedulingv1.EnteredShift{}
	for _, s := range events[0].GetShifts() {
		byID[s.GetId()] = s
	}
	require.Len(t, byID, 5)
	assert.Equal(t, [2]int64{400, 4}, [2]int64{byID[5].GetEmployeeId(), byID[5].GetVersion()})
	assert.Equal(t, int32(1), byID[hidden].GetHides().GetOrdinal())
	for id, gone := range map[int64]bool{5: false, 6: true, 7: true, hidden: false, hidden + 1: true} {
		t.Run(fmt.Sprint(id), func(t *testing.T) {
			assert.Equal(t, gone, byID[id].GetDeleted(), "%d", id)
		})
	}
}

// A backfill does not revert leave that is being written at the same time: both lock the employee.
func TestLeaveBesideABackfill(t *testing.T) {
	t.Parallel()
	env := schedtest.New(t)
	body, err := proto.Marshal(&schedulingv1.LeaveEdit{PaidSegment: &schedulingv1.LeaveEditSegment{SymbolicValue: symbolicamount.Ref(symbolicamount.FullDay)}})
	require.NoError(t, err)
	second := make(chan error, 1)
	require.NoError(t, pg.InTx(env.Ctx, env.Pool, func(ctx context.Context, live pgx.Tx) error {
		require.NoError(t, employeelock.Lock(ctx, live, []int64{7}))
		batch := &pgx.Batch{}
		batch.Queue(`INSERT INTO leave_head VALUES (1, 7, 1)`)
		batch.Queue(`INSERT INTO leave_edit VALUES (1, 1, 7, '2025-03-03', '2025-03-03', 1, $1)`, body)
		require.NoError(t, live.SendBatch(ctx, batch).Close())
		require.NoError(t, scheduleevent.PublishLeave(ctx, live, []int64{7}))
		go func() {
			second <- pg.InTx(env.Ctx, env.Pool, func(ctx context.Context, tx pgx.Tx) error {
				events, err := findTopic[*schedulingv1.LeaveTaken](t).States(ctx, tx, []replica.Gap{{Key: 7}, {Key: 8, Version: 3}})
				if err != nil {
					return err
				}
				return outbox.Append(ctx, tx, events...)
			})
		}()
		require.Eventually(t, func() bool {
			var waits bool
			err := env.Pool.QueryRow(env.Ctx, `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`).Scan(&waits)
			return err == nil && waits
		}, 20*time.Second, time.Millisecond)
		return nil
	}))
	require.NoError(t, <-second)
	var payloads [][]byte
	require.NoError(t, env.Pool.QueryRow(env.Ctx, `SELECT array_agg(payload ORDER BY id) FROM outbox WHERE event LIKE '%LeaveTaken'`).Scan(&payloads))
	require.Len(t, payloads, 2)
	both := make([]*schedulingv1.LeaveTaken, 2)
	for i, payload := range payloads {
		both[i] = &schedulingv1.LeaveTaken{}
		require.NoError(t, proto.Unmarshal(payload, both[i]))
	}
	assert.Greater(t, both[1].GetRevision(), both[0].GetRevision())
	require.Len(t, both[1].GetEmployees(), 2)
	assert.Len(t, both[1].GetEmployees()[0].GetIntervals(), 1)
	assert.EqualValues(t, 1, both[1].GetEmployees()[0].GetVersion())
	assert.True(t, both[1].GetEmployees()[1].GetDeleted(), "of whom nobody has heard")
	assert.Equal(t, []int64{7}, keys[*schedulingv1.LeaveTaken](t, env))
}
