package scheduleevent_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/symbolicamount"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedtest"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleevent"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func TestLeaveThatTakesShifts(t *testing.T) {
	t.Parallel()
	env := schedtest.New(t)
	day := civil.Date(20_000)
	add := func(employee int64, on civil.Date, edit *schedulingv1.LeaveEdit) {
		body, err := proto.Marshal(edit)
		require.NoError(t, err)
		env.Exec(t, `INSERT INTO leave_edit SELECT $1, count(*), $2, $3, $3, 1, $4 FROM leave_edit`, tenant.Default, employee, on.Time(), body)
	}
	symbolic := func(value string) *schedulingv1.LeaveEdit {
		return &schedulingv1.LeaveEdit{PaidSegment: &schedulingv1.LeaveEditSegment{SymbolicValue: symbolicamount.Ref(value)}}
	}
	timed := func(on civil.Date, from string, to civil.Date, until string) *schedulingv1.LeaveEdit {
		return &schedulingv1.LeaveEdit{StartDate: on.String(), StartTime: from, EndDate: to.String(), EndTime: until}
	}
	add(7, day, symbolic("FULL_DAY"))
	add(7, day+1, symbolic("HALF_DAY"))
	add(7, day+2, symbolic("HALF_DAY"))
	add(7, day+2, symbolic("HALF_DAY"))
	add(7, day+3, &schedulingv1.LeaveEdit{DurationInTime: proto.Int64(3600)})
	add(7, day+4, timed(day+4, "22:00:00", day+5, "02:00:00"))
	add(7, day+5, timed(day+5, "02:00:00", day+5, "06:00:00"))
	add(7, day+5, timed(day+5, "08:00:00", day+5, "09:00:00"))
	env.Exec(t, `INSERT INTO leave_head VALUES (1, 7, 5)`)
	require.NoError(t, pg.InTx(env.Ctx, env.Pool, func(ctx context.Context, tx pgx.Tx) error {
		return scheduleevent.PublishLeave(ctx, tx, []int64{8, 7})
	}))
	var payload []byte
	require.NoError(t, env.Pool.QueryRow(env.Ctx, `SELECT payload FROM outbox WHERE event LIKE '%LeaveTaken'`).Scan(&payload))
	got := &schedulingv1.LeaveTaken{}
	require.NoError(t, proto.Unmarshal(payload, got))
	want := &schedulingv1.LeaveTaken{Revision: got.GetRevision(), Employees: []*schedulingv1.EmployeeLeave{
		{EmployeeId: 7, Version: 5, Intervals: []*schedulingv1.LeaveInterval{
			{Day: int32(day)},
			{Day: int32(day + 2)},
			{Day: int32(day + 4), StartSecond: 79200, EndSecond: 108000},
			{Day: int32(day + 5), StartSecond: 28800, EndSecond: 32400},
		}},
		{EmployeeId: 8, Deleted: true},
	}}
	assert.True(t, proto.Equal(want, got), got)
	assert.Positive(t, got.GetRevision())
}

// Current leave replaces no shifts of locked days, and the leave at the time of the lock replaces
// only those.
func TestLeaveOnLockedDaysIsPublished(t *testing.T) {
	t.Parallel()
	env := schedtest.New(t)
	day := civil.Date(20_000)
	body := func(edit *schedulingv1.LeaveEdit) []byte {
		out, err := proto.Marshal(edit)
		require.NoError(t, err)
		return out
	}
	full := body(&schedulingv1.LeaveEdit{PaidSegment: &schedulingv1.LeaveEditSegment{SymbolicValue: symbolicamount.Ref(symbolicamount.FullDay)}})
	timed := body(&schedulingv1.LeaveEdit{StartDate: (day + 20).String(), StartTime: "22:00:00", EndDate: (day + 21).String(), EndTime: "02:00:00"})
	batch := &pgx.Batch{}
	for id, on := range []civil.Date{day, day + 1, day + 3} {
		batch.Queue(`INSERT INTO leave_edit VALUES (1, $1, 7, $2, $2, 1, $3)`, id, on.Time(), full)
	}
	batch.Queue(`INSERT INTO leave_edit VALUES (1, 9, 7, $1, $2, 1, $3)`, (day + 20).Time(), (day + 21).Time(), timed)
	batch.Queue(`INSERT INTO day_lock (tenant_id, employee_id, from_date, to_date) VALUES (1, 7, $1, $2), (1, 7, $3, $4)`,
		(day + 1).Time(), (day + 3).Time(), (day + 19).Time(), (day + 20).Time())
	batch.Queue(`INSERT INTO locked_leave VALUES (1, 7, $1, $2, 1, $3, $3, 1, $4)`, (day + 1).Time(), (day + 3).Time(), (day + 2).Time(), full)
	require.NoError(t, env.Pool.SendBatch(env.Ctx, batch).Close())
	require.NoError(t, pg.InTx(env.Ctx, env.Pool, func(ctx context.Context, tx pgx.Tx) error {
		return scheduleevent.PublishLeave(ctx, tx, []int64{7})
	}))
	var payload []byte
	require.NoError(t, env.Pool.QueryRow(env.Ctx, `SELECT payload FROM outbox WHERE event LIKE '%LeaveTaken'`).Scan(&payload))
	got := &schedulingv1.LeaveTaken{}
	require.NoError(t, proto.Unmarshal(payload, got))
	some := func(on civil.Date, start, end int32, from, to civil.Date) *schedulingv1.LeaveInterval {
		return &schedulingv1.LeaveInterval{
			Day: int32(on), StartSecond: start, EndSecond: end, ShiftsFrom: proto.Int32(int32(from)), ShiftsTo: proto.Int32(int32(to)),
		}
	}
	want := []*schedulingv1.LeaveInterval{
		{Day: int32(day)},
		{Day: int32(day + 3)},
		some(day+20, 79200, 93600, day+12, day+19), some(day+20, 79200, 93600, day+20, day+22),
		some(day+2, 0, 0, day+1, day+3),
	}
	require.Len(t, got.GetEmployees(), 1)
	require.Len(t, got.GetEmployees()[0].GetIntervals(), len(want))
	for i, s := range got.GetEmployees()[0].GetIntervals() {
		assert.True(t, proto.Equal(want[i], s), "%v", s)
	}
}
