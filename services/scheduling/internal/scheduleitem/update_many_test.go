package scheduleitem_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

func TestUpdateManyShifts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.lock(2, "2025-02-10", "2025-02-11")
	made, err := f.shifts.CreateShift(f.Ctx, newShift(0, "2025-02-03T08:00", "2025-02-03T16:00"))
	require.NoError(t, err)
	open, generated := made.GetShifts()[0].GetId(), entryID(t, 1, "2025-03-05", 0)
	f.events()
	change := func(id, employee int64, start, end string) *schedulingv1.Shift {
		out := newShift(employee, start, end)
		out.Id = proto.Int64(id)
		return out
	}
	update := func(partial bool, list ...*schedulingv1.Shift) (*schedulingv1.ShiftList, metadata.MD, error) {
		var header metadata.MD
		got, err := f.shifts.MultiUpdateShifts(f.Ctx, &schedulingv1.MultiUpdateShiftsRequest{
			Body: &schedulingv1.NewShifts{Shifts: list}, PartialSuccess: proto.Bool(partial),
		}, grpc.Header(&header))
		return got, header, err
	}
	list := []*schedulingv1.Shift{
		change(open, 2, "2025-02-03T09:00", "2025-02-03T17:00"),
		change(generated, 0, "2025-03-05T10:00", "2025-03-05T18:00"),
		change(open+1, 2, "2025-02-03T09:00", "2025-02-03T17:00"),
	}
	_, _, err = update(false, list...)
	require.Error(t, err)
	assert.Empty(t, f.events(), "all or none")
	assert.Equal(t, []string{"P1 08:00 16:00", "P1 Training"}, f.day("2025-03-05"))

	got, header, err := update(true, list...)
	require.NoError(t, err)
	assert.Equal(t, []string{"207"}, header.Get(rpc.HeaderHTTPStatus))
	assert.Equal(t, []int32{2}, got.GetFailure().GetDetails().GetErrorOffsets())
	assert.Equal(t, []string{"P2 09:00 17:00"}, f.day("2025-02-03"), "the open one has somebody")
	assert.Equal(t, []string{"P1 10:00 18:00", "P1 Training"}, f.day("2025-03-05"), "the generated one is detached, and stays with its employee")
	assert.Equal(t, []string{"[1 2] 2025-02-03 2025-03-05"}, f.events())

	_, _, err = update(true, change(open, 2, "2025-02-10T09:00", "2025-02-10T17:00"))
	requireRefused(t, err, fault.CodeBulkFailed, 400)
	_, _, err = update(false, change(open, 2, "2025-02-10T09:00", "2025-02-10T17:00"))
	requireRefused(t, err, "WRL-30401", 400)
}
