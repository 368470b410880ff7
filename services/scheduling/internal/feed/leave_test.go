package feed_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/feed"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func TestLeaveThatTakesShifts(t *testing.T) {
	t.Parallel()
	env := schedtest.New(t)
	day := civil.Date(20_000)
	add := func(employee int64, on civil.Date, edit *schedulingv1.LeaveEdit) {
		body, err := proto.Marshal(edit)
		require.NoError(t, err)
		_, err = env.Pool.Exec(env.Ctx, `INSERT INTO leave_edit SELECT $1, count(*), $2, $3, $3, 1, $4 FROM leave_edit`, tenant.Default, employee, on.Time(), body)
		require.NoError(t, err)
	}
	symbolic := func(value string) *schedulingv1.LeaveEdit {
		return &schedulingv1.LeaveEdit{PaidSegment: &schedulingv1.LeaveEditSegment{SymbolicValue: value}}
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
	_, err := env.Pool.Exec(env.Ctx, `INSERT INTO replica_head VALUES (1, 'leave_edits', 7, 5, 5, false)`)
	require.NoError(t, err)
	require.NoError(t, pg.InTx(env.Ctx, env.Pool, func(ctx context.Context, tx pgx.Tx) error {
		return feed.PublishLeave(ctx, tx, tenant.Default, []int64{8, 7})
	}))
	var payload []byte
	require.NoError(t, env.Pool.QueryRow(env.Ctx, `SELECT payload FROM outbox WHERE event LIKE '%LeaveTaken'`).Scan(&payload))
	got := &schedulingv1.LeaveTaken{}
	require.NoError(t, proto.Unmarshal(payload, got))
	want := &schedulingv1.LeaveTaken{Revision: got.GetRevision(), Employees: []*schedulingv1.EmployeeLeave{
		{EmployeeId: 7, Version: 5, Stretches: []*schedulingv1.LeaveStretch{
			{Day: int32(day)}, {Day: int32(day + 2)}, {Day: int32(day + 4), StartSecond: 79200, EndSecond: 108000},
			{Day: int32(day + 5), StartSecond: 28800, EndSecond: 32400},
		}},
		{EmployeeId: 8, Deleted: true},
	}}
	assert.True(t, proto.Equal(want, got), got)
	assert.Positive(t, got.GetRevision())
}
