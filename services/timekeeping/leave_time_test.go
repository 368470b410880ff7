package timekeeping_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// Edits that were entered without a time show the time that they take of their day's
// shifts, whenever these change, and have none of their own when they come back.
func TestLeaveEditsShowTheTimeOfTheirShifts(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	b.days.putHours(1, civil.Of(2026, 3, 2), 6, 10, 11, 15)
	b.days.putHours(1, civil.Of(2026, 3, 3), 22, 31)
	c := b.createCase(t, ctx)
	shown := func(edits ...*timekeepingv1.LeaveEdit) []string {
		var out []string
		for _, e := range edits {
			out = append(out, e.GetStartDateTime()+" "+e.GetEndDateTime())
		}
		return out
	}
	made, err := b.take(ctx, c, "", newEdit("2026-03-02", 5), newEdit("2026-03-03", 8), newEdit("2026-03-02", 1))
	require.NoError(t, err)
	want := []string{
		"2026-03-02T06:00:00.000 2026-03-02T12:00:00.000", "2026-03-03T22:00:00.000 2026-03-04T06:00:00.000",
		"2026-03-02T12:00:00.000 2026-03-02T13:00:00.000",
	}
	assert.Equal(t, want, shown(made...))

	other, err := b.take(ctx, b.createCase(t, ctx), "", newEdit("2026-03-02", 2))
	require.NoError(t, err)
	assert.Equal(t, []string{"2026-03-02T13:00:00.000 2026-03-02T15:00:00.000"}, shown(other...), "behind the edits of another case")

	got, err := b.leaveEdits.GetLeaveEdit(ctx, &timekeepingv1.GetLeaveEditRequest{Id: made[2].GetId()})
	require.NoError(t, err)
	assert.Equal(t, want[2:], shown(got))

	read := func() []string {
		out, err := b.leaveEdits.MultiReadLeaveEdits(ctx, &timekeepingv1.MultiReadLeaveEditsRequest{
			Employees: &commonv1.RefList{Ids: []int64{1}}, DateRange: &commonv1.DateRange{StartDate: "2026-03-01", EndDate: "2026-03-31"},
		})
		require.NoError(t, err)
		return shown(out.GetLeaveEdits().GetLeaveEdits()...)
	}
	assert.Equal(t, []string{want[0], want[2], shown(other...)[0], want[1]}, read())

	// Edits of a response can be sent back without an effect, with another amount, or for another day.
	back := proto.CloneOf(made[0])
	back.PaidSegment.AmountInSeconds, back.TrackingSegment.AmountInSeconds = proto.Int64(3600), proto.Int64(3600)
	back.StartDateTime = back.GetStartDateTime()[:19]
	changed, err := b.leaveEdits.UpdateLeaveEdit(ctx, &timekeepingv1.UpdateLeaveEditRequest{Id: back.GetId(), LeaveEdit: back})
	require.NoError(t, err)
	assert.Equal(t, []string{"2026-03-02T06:00:00.000 2026-03-02T07:00:00.000"}, shown(changed))
	changed.Date = "2026-03-03"
	changed, err = b.leaveEdits.UpdateLeaveEdit(ctx, &timekeepingv1.UpdateLeaveEditRequest{Id: back.GetId(), LeaveEdit: changed})
	require.NoError(t, err)
	assert.Equal(t, []string{"2026-03-03T22:00:00.000 2026-03-03T23:00:00.000"}, shown(changed))
	changed.Date = "2026-03-05"
	moved, err := b.take(ctx, c, "", changed)
	require.NoError(t, err)
	assert.Equal(t, []string{"2026-03-05T00:00:00.000 2026-03-05T01:00:00.000"}, shown(moved...))
	b.days.putHours(1, civil.Of(2026, 3, 5), 9, 17)
	assert.Equal(t, []string{
		"2026-03-02T06:00:00.000 2026-03-02T07:00:00.000", "2026-03-02T07:00:00.000 2026-03-02T09:00:00.000",
		want[1], "2026-03-05T09:00:00.000 2026-03-05T10:00:00.000",
	}, read(), "as the shifts are now")

	// Other times are the edit's own from then on.
	moved[0].StartDateTime, moved[0].EndDateTime = "2026-03-05T10:00:00", "2026-03-05T11:00:00"
	fixed, err := b.take(ctx, c, "", moved[0])
	require.NoError(t, err)
	assert.Equal(t, []string{"2026-03-05T10:00:00.000 2026-03-05T11:00:00.000"}, shown(fixed...))
	var stored int
	require.NoError(t, b.pool.QueryRow(ctx, `SELECT count(*) FROM leave_edit WHERE position(convert_to('2026-03-05T10:00', 'UTF8') in body) > 0`).Scan(&stored))
	assert.Equal(t, 1, stored)
	require.NoError(t, b.pool.QueryRow(ctx, `SELECT count(*) FROM leave_edit WHERE position(convert_to('T07:00', 'UTF8') in body) > 0`).Scan(&stored))
	assert.Zero(t, stored, "times that follow from the schedule are not stored")
}

// The same leave arrives at once, for two cases of an employee: it is stored once.
func TestLeaveOfOneDayTakesTurns(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	cases := []*timekeepingv1.LeaveCase{b.createCase(t, ctx), b.createCase(t, ctx)}
	var stored atomic.Int32
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			_, err := b.take(ctx, cases[i%2], "", newEdit("2026-03-02", 8))
			if err == nil {
				stored.Add(1)
				return
			}
			assert.Equal(t, "WRL-21101", fault.FromError(err).Code)
		})
	}
	group.Wait()
	assert.Equal(t, int32(1), stored.Load())
}
