package feed_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/feed"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedtest"
)

// Everything is told anew when somebody wants it: of all employees, also those
// who have nothing, in pages. Leave is told of those who ever had any.
func TestEverythingIsToldAnew(t *testing.T) {
	t.Parallel()
	env := schedtest.New(t)
	const employees, day = 300, civil.Date(20_000)
	const hidden = 1<<52 + 5
	shift, err := proto.Marshal(&schedulingv1.Shift{StartDateTime: day.String() + "T06:00:00", EndDateTime: day.String() + "T14:00:00"})
	require.NoError(t, err)
	pattern, err := proto.Marshal(&schedulingv1.SchedulePattern{Items: []*schedulingv1.SchedulePatternItem{
		{Day: proto.Int32(1), ShiftTemplate: &schedulingv1.ShiftTemplate{StartDateTime: "1900-01-01T06:00:00", EndDateTime: "1900-01-01T14:00:00"}},
	}})
	require.NoError(t, err)
	batch := &pgx.Batch{}
	batch.Queue(`INSERT INTO employee (tenant_id, id, person_number, full_name, time_zone, version) SELECT 1, n, n, '', 'UTC', 1 FROM generate_series(1, 300) AS n`)
	batch.Queue(`INSERT INTO schedule_pattern (tenant_id, digest, day_count, body) SELECT 1, n::text::bytea, 7, $1 FROM generate_series(1, 120) AS n`, pattern)
	batch.Queue(`INSERT INTO span (tenant_id, employee_id, lane, from_date, to_date, pattern_id, position, day_count, assignment_id, inherited, propagation_id)
		SELECT 1, n, 0, '2025-01-01', '3000-01-01', 1, n % 7, 7, 1, true, 1 FROM generate_series(1, 200) AS n`)
	batch.Queue(`INSERT INTO schedule_item (tenant_id, id, employee_id, kind, from_day, to_day, hides_day, hides_employee_id, hidden_lane, hidden_ordinal, deleted, body) VALUES
		(1, 5, 400, 'SHIFT', $1, $1, NULL, NULL, NULL, NULL, false, $2), (1, $3, 9, 'SHIFT', $1, $1, $1, 9, 0, 1, true, ''),
		(1, 6, 9, 'PAY_CODE_EDIT', $1, $1, NULL, NULL, NULL, NULL, false, ''), (1, 7, NULL, 'SHIFT', $1, $1, NULL, NULL, NULL, NULL, false, $2)`, day.Time(), shift, hidden)
	batch.Queue(`INSERT INTO leave_edit_head (tenant_id, employee_id) VALUES (1, 9), (1, 500)`)
	require.NoError(t, env.Pool.SendBatch(env.Ctx, batch).Close())

	reteller := outbox.NewReteller(env.Pool, func() {}, pgtest.Log(t), feed.Topics()...)
	for _, topic := range []string{"schedule_patterns", "schedules", "memberships"} {
		payload, err := proto.Marshal(&commonsv1.ProjectionWanted{Topic: topic})
		require.NoError(t, err)
		require.NoError(t, feed.Consumer(reteller).Handle(env.Ctx, bus.Message{Event: "rotaloom.commons.v1.ProjectionWanted", Payload: payload}))
	}
	running, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- reteller.Run(running) }()
	require.Eventually(t, func() bool {
		var open int
		err := env.Pool.QueryRow(tenant.All(t.Context()), `SELECT count(*) FROM retelling`).Scan(&open)
		return err == nil && open == 0
	}, 20*time.Second, 5*time.Millisecond)
	cancel()
	require.NoError(t, <-done)

	patterns, pages := 0, 0
	spans, complete, leave := map[int64]int{}, []int64{}, []int64{}
	shifts := map[int64]*schedulingv1.EnteredShift{}
	rows, err := env.Pool.Query(env.Ctx, `SELECT payload, event FROM outbox ORDER BY id`)
	require.NoError(t, err)
	var payload []byte
	var name string
	_, err = pgx.ForEachRow(rows, []any{&payload, &name}, func() error {
		switch name {
		case "rotaloom.scheduling.v1.PatternStored":
			patterns++
		case "rotaloom.scheduling.v1.SpansChanged":
			e := &schedulingv1.SpansChanged{}
			require.NoError(t, proto.Unmarshal(payload, e))
			pages++
			for _, g := range e.GetGroups() {
				for _, id := range g.GetEmployeeIds() {
					spans[id] = len(g.GetSpans())
				}
			}
		case "rotaloom.scheduling.v1.ShiftsEntered":
			e := &schedulingv1.ShiftsEntered{}
			require.NoError(t, proto.Unmarshal(payload, e))
			complete = append(complete, e.GetCompleteEmployeeIds()...)
			for _, s := range e.GetShifts() {
				shifts[s.GetId()] = s
			}
		default:
			e := &schedulingv1.LeaveTaken{}
			require.NoError(t, proto.Unmarshal(payload, e))
			for _, l := range e.GetEmployees() {
				leave = append(leave, l.GetEmployeeId())
			}
		}
		return nil
	})
	require.NoError(t, err)
	assert.Equal(t, 120, patterns)
	assert.Equal(t, 3, pages)
	assert.Len(t, spans, employees+2)
	assert.Equal(t, [3]int{1, 0, 0}, [3]int{spans[200], spans[201], spans[400]})
	slices.Sort(complete)
	assert.Len(t, slices.Compact(complete), employees+2)
	assert.Equal(t, []int64{9, 500}, leave)
	require.Len(t, shifts, 2)
	assert.Equal(t, int64(400), shifts[5].GetEmployeeId())
	assert.Zero(t, shifts[hidden].GetEmployeeId())
	assert.Equal(t, int32(1), shifts[hidden].GetHides().GetOrdinal())
}

// Leave that is being written while everything is told is not taken back by what
// is told: nobody speaks of leave that could not be locked.
func TestLeaveBesideTellingAnew(t *testing.T) {
	t.Parallel()
	env := schedtest.New(t)
	body, err := proto.Marshal(&schedulingv1.LeaveEdit{PaidSegment: &schedulingv1.LeaveEditSegment{SymbolicValue: "FULL_DAY"}})
	require.NoError(t, err)
	_, err = env.Pool.Exec(env.Ctx, `INSERT INTO employee (tenant_id, id, person_number, full_name, time_zone, version) VALUES (1, 7, '7', '', 'UTC', 1)`)
	require.NoError(t, err)
	require.NoError(t, pg.InTx(env.Ctx, env.Pool, func(ctx context.Context, live pgx.Tx) error {
		batch := &pgx.Batch{}
		batch.Queue(`INSERT INTO leave_edit_head (tenant_id, employee_id) VALUES (1, 7)`)
		batch.Queue(`INSERT INTO leave_edit VALUES (1, 1, 7, '2025-03-03', '2025-03-03', 1, $1)`, body)
		require.NoError(t, live.SendBatch(ctx, batch).Close())
		require.NoError(t, feed.PublishLeave(ctx, live, 1, []int64{7}))
		return pg.InTx(env.Ctx, env.Pool, func(ctx context.Context, tx pgx.Tx) error {
			_, more, err := feed.Topics()[1].Page(ctx, tx, 1, 0)
			assert.False(t, more)
			return err
		})
	}))
	var payloads [][]byte
	require.NoError(t, env.Pool.QueryRow(env.Ctx, `SELECT array_agg(payload) FROM outbox WHERE event LIKE '%LeaveTaken'`).Scan(&payloads))
	require.Len(t, payloads, 1)
	told := &schedulingv1.LeaveTaken{}
	require.NoError(t, proto.Unmarshal(payloads[0], told))
	assert.Len(t, told.GetEmployees()[0].GetStretches(), 1)
}
