package payrollstaging

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/employeeday"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/dayschedule"
)

// replan gives an employee another schedule on a day, and compares the day if it is signed off.
func (h *history) replan(t *testing.T, ctx context.Context, known map[int64]employeeday.Days) {
	t.Helper()
	employee, day := h.employee(), h.day()
	entries := &schedulingv1.EmployeeDays{}
	if h.random.IntN(3) > 0 {
		start := int32(h.random.IntN(16)) * 3600
		entries.Shifts = []*schedulingv1.EmployeeShift{{Day: int32(day), Segments: []*schedulingv1.EmployeeShiftSegment{{StartSecond: start, EndSecond: start + 8*3600}}}}
	}
	if h.random.IntN(3) > 0 {
		entries.PayCodeEdits = []*schedulingv1.EmployeePayCodeEdit{{Day: int32(day), Amount: &schedulingv1.PayCodeAmount{
			PayCodeId: h.codes["Training"].GetId(), PayCode: "Training", Seconds: int64(3600 * h.random.IntN(3)), Halves: int32(h.random.IntN(3)),
		}}}
	}
	h.note("plan %s of %d: %v", day, employee, entries)
	of := known[employee]
	of.Schedule = dayschedule.Replace(of.Schedule, dayschedule.Days{day: entries})
	known[employee] = of
	require.NoError(t, h.Signoffs.Compare(ctx, []int64{employee}, civil.Through(day, day)))
}

// takeLeave stores paid leave on a day that is not signed off.
func (h *history) takeLeave(t *testing.T, ctx context.Context) {
	t.Helper()
	employee, day := h.employee(), h.day()
	body, err := proto.Marshal(&timekeepingv1.LeaveEdit{OverrideSegments: []*timekeepingv1.LeaveOverrideSegment{
		{PayCode: h.codes["Training"], AmountInSeconds: new(int64(600 * (1 + h.random.IntN(20))))},
	}})
	require.NoError(t, err)
	_, err = work.Exec(ctx, h.pool, `INSERT INTO leave_case (tenant_id, id, employee_id, case_code, status_id, from_date, to_date, body)
		VALUES (1, $1, $1, 'L' || $1::bigint, 1, '2026-01-01', '2026-12-31', '') ON CONFLICT DO NOTHING`, employee)
	require.NoError(t, err)
	done, err := work.Exec(ctx, h.pool, `INSERT INTO leave_edit (tenant_id, id, leave_case_id, employee_id, from_day, to_day, version, body)
		SELECT 1, (SELECT count(*) FROM leave_edit) + 1, $1, $1, $2::date, $2, 1, $3
		WHERE NOT EXISTS (SELECT FROM timecard_signoff WHERE tenant_id = 1 AND employee_id = $1 AND through >= $2)`, employee, day, body)
	require.NoError(t, err)
	h.note("%d takes %d leave on %s", employee, done.RowsAffected(), day)
}
