package scheduleitem_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedtest"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem"
)

// An entry of an employee whom the caller may not see does not exist, whether a
// person entered it or a pattern generates it.
func TestEntriesOfOthersDoNotExist(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	handler := scheduleitem.NewShifts(scheduleitem.Deps{
		Pool: f.Pool, Directory: projection.NewResolver(f.Pool, schedtest.NoPersons{}, nil),
		Reader: reading.NewReader(f.Pool, patterndefinition.New(patterndefinition.Settings{}, nil, nil)),
	})
	made, err := f.shifts.CreateShift(f.Ctx, newShift(1, "2025-02-03T08:00", "2025-02-03T16:00"))
	require.NoError(t, err)
	open, err := f.shifts.CreateShift(f.Ctx, newShift(0, "2025-02-03T08:00", "2025-02-03T16:00"))
	require.NoError(t, err)
	one, two := schedtest.As(t.Context(), 1, rowvisibility.Own), schedtest.As(t.Context(), 2, rowvisibility.Own)

	for name, id := range map[string]int64{"entered": made.GetShifts()[0].GetId(), "generated": entryID(t, 1, "2025-03-05", 0)} {
		t.Run(name, func(t *testing.T) {
			_, err := handler.GetShift(one, &schedulingv1.GetShiftRequest{Id: id})
			require.NoError(t, err, name)
			_, err = handler.GetShift(two, &schedulingv1.GetShiftRequest{Id: id})
			_, unknown := handler.GetShift(two, &schedulingv1.GetShiftRequest{Id: 12345})
			assert.Equal(t, fault.FromError(unknown).Code, fault.FromError(err).Code, name)
			_, err = handler.MultiReadShifts(two, &schedulingv1.MultiReadShiftsRequest{Where: &schedulingv1.ReadShiftsWhere{ShiftIds: []int64{id}}})
			assert.True(t, fault.HasStatus(err, http.StatusBadRequest), "%s: %v", name, err)
			_, err = handler.UpdateShift(two, &schedulingv1.UpdateShiftRequest{Id: id, Shift: newShift(2, "2025-02-03T08:00", "2025-02-03T16:00")})
			assert.True(t, fault.HasStatus(err, http.StatusNotFound), "%s: %v", name, err)
			_, err = handler.DeleteShift(two, &schedulingv1.DeleteShiftRequest{Id: id})
			assert.True(t, fault.HasStatus(err, http.StatusNotFound), "%s: %v", name, err)
		})
	}
	_, err = handler.GetShift(two, &schedulingv1.GetShiftRequest{Id: open.GetShifts()[0].GetId()})
	require.NoError(t, err, "an open shift is nobody's")

	_, err = handler.CreateShift(two, newShift(1, "2025-02-04T08:00", "2025-02-04T16:00"))
	assert.True(t, fault.HasCode(err, "WFS-103401"), "%v", err)
	given := newShift(1, "2025-02-03T08:00", "2025-02-03T16:00")
	given.Id = proto.Int64(open.GetShifts()[0].GetId())
	_, err = handler.UpdateShift(two, &schedulingv1.UpdateShiftRequest{Id: given.GetId(), Shift: given})
	assert.True(t, fault.HasCode(err, "WFS-103401"), "%v", err)
}
