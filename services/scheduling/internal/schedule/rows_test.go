package schedule_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedtest"
)

func TestCallersReadTheSchedulesOfWhomTheySee(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.employee(1, "UTC")
	f.employee(2, "UTC")
	p := f.pattern(cycle(1, shift(1, "08:00", "16:00")))
	for _, id := range []int64{1, 2} {
		f.span(span{employee: id, from: "2025-03-01", to: "3000-01-01", pattern: p})
	}
	own := schedtest.As(t.Context(), 1, rowvisibility.Own)
	read := func(ctx context.Context, ids ...int64) (employees []int64, err error) {
		response, err := f.handler.MultiReadSchedule(ctx, window("2025-03-03", "2025-03-03", onlyShifts(), ids...))
		if err != nil {
			return nil, err
		}
		for _, s := range decode(t, response).GetShifts().GetShifts() {
			employees = append(employees, s.GetEmployee().GetId())
		}
		return employees, nil
	}
	mine, err := read(own, 1)
	require.NoError(t, err)
	assert.Equal(t, []int64{1}, mine)
	for i, asked := range [][]int64{{2}, {1, 2}} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			_, err = read(own, asked...)
			assert.True(t, fault.HasCode(err, "WFS-103401"), "%v: %v", asked, err)
		})
	}
	// Everybody is whom the caller sees, and so many count.
	everybody := window("2025-03-03", "2028-12-01", onlyShifts())
	everybody.Where.Employees.EmployeeRefs = &commonv1.RefList{}
	response, err := f.handler.MultiReadSchedule(own, everybody)
	require.NoError(t, err)
	for _, s := range decode(t, response).GetShifts().GetShifts() {
		require.EqualValues(t, 1, s.GetEmployee().GetId())
	}
	all, err := read(schedtest.As(t.Context(), 1, rowvisibility.All), 2, 1)
	require.NoError(t, err)
	assert.ElementsMatch(t, []int64{1, 2}, all)

	status := func(ids ...int64) (*schedulingv1.ScheduleStatus, error) {
		return f.handler.MultiReadScheduleStatus(own, &schedulingv1.MultiReadScheduleStatusRequest{Where: &schedulingv1.ScheduleStatusWhere{
			Employees: window("2025-03-03", "2025-03-03", nil, ids...).GetWhere().GetEmployees(),
		}})
	}
	open, err := status()
	require.NoError(t, err)
	assert.Len(t, open.GetEmployeeStatus().GetEmployeeStatus(), 1)
	_, err = status(2)
	assert.True(t, fault.HasCode(err, "WFS-103401"), "%v", err)
}
