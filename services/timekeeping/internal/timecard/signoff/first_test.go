package signoff_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/employeeday"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardtest"
)

// training returns a pay code edit of the schedule.
func training(day civil.Date, hours int64) *schedulingv1.EmployeePayCodeEdit {
	return &schedulingv1.EmployeePayCodeEdit{Day: int32(day), Amount: &schedulingv1.PayCodeAmount{PayCode: "Training", Seconds: hours * 3600}}
}

// daysWithEdits returns the days of an employee with these pay code edits on the schedule.
func daysWithEdits(edits ...*schedulingv1.EmployeePayCodeEdit) employeeday.Days {
	return employeeday.Days{Schedule: &schedulingv1.EmployeeDays{PayCodeEdits: edits}}
}

// The first sign-off closes all days before it, and pays pay code edits of the schedule on them, also
// if they are more days before it than one read has.
func TestTheFirstSignOffPaysEarlierEditsOfTheSchedule(t *testing.T) {
	t.Parallel()
	ctx := tenant.With(t.Context(), 1)
	monday := civil.Of(2026, time.March, 2)
	known := timecardtest.Known{7: daysWithEdits(training(monday-800, 4), training(monday-3, 2), training(monday, 1))}
	timecards := timecardtest.New(pooltest.New(t), known, timecardtest.Noon(t, "2026-05-01"))
	timecards.Punch(ctx, t, 7, "2026-03-02T08:00", "2026-03-02T16:00")
	timecards.SignOff(ctx, t, 7, civil.Range{From: monday, To: monday + 7})
	assert.Equal(t, []string{"2023-12-23 PAY_CODE_EDIT Training  14400"}, timecards.Totals(ctx, t, "2023-12-01", "2023-12-31", 7))
	assert.Equal(t, []string{
		"2026-02-27 PAY_CODE_EDIT Training  7200", "2026-03-02 WORKED Regular  28800", "2026-03-02 PAY_CODE_EDIT Training  3600",
	}, timecards.Totals(ctx, t, "2026-02-01", "2026-03-31", 7))
}

// The first sign-off pays leave of the days before it.
func TestTheFirstSignOffPaysEarlierLeave(t *testing.T) {
	t.Parallel()
	ctx := tenant.With(t.Context(), 1)
	pool := pooltest.New(t)
	timecards := timecardtest.New(pool, timecardtest.Known{}, timecardtest.Noon(t, "2026-05-01"))
	leave, err := proto.Marshal(&timekeepingv1.LeaveEdit{OverrideSegments: []*timekeepingv1.LeaveOverrideSegment{
		{PayCode: &commonv1.Ref{Qualifier: proto.String("Sick")}, AmountInSeconds: proto.Int64(7200)},
	}})
	require.NoError(t, err)
	const store pg.Unaudited = "a test"
	_, err = store.Exec(ctx, pool, `INSERT INTO leave_case (tenant_id, id, employee_id, case_code, status_id, from_date, to_date, body) VALUES (1, 1, 7, 'L', 1, '2026-01-01', '2026-12-31', '')`)
	require.NoError(t, err)
	_, err = store.Exec(ctx, pool, `INSERT INTO leave_edit (tenant_id, id, leave_case_id, employee_id, from_day, to_day, version, body) VALUES (1, 1, 1, 7, '2026-01-20', '2026-01-20', 1, $1)`, leave)
	require.NoError(t, err)
	want := []string{"2026-01-20 PAY_CODE_EDIT Sick  7200"}
	require.Equal(t, want, timecards.Totals(ctx, t, "2026-01-01", "2026-03-31", 7))
	monday := civil.Of(2026, time.March, 2)
	timecards.SignOff(ctx, t, 7, civil.Range{From: monday, To: monday + 7})
	assert.Equal(t, want, timecards.Totals(ctx, t, "2026-01-01", "2026-03-31", 7))
}
