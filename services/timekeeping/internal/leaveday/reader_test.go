package leaveday_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/faulttest"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/employeeday"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leaveday"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/amount"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const seeding pg.Unaudited = "a test sets up what it is about"

const hour = 3600

// Halves of a day arrive at once by all three entrances: two of them are stored. A pay code edit
// of the schedule takes an hour, so that the third one never fits.
func TestEntrancesTakeTurns(t *testing.T) {
	t.Parallel()
	ctx, pool := tenant.With(t.Context(), 1), pooltest.New(t)
	day := civil.Of(2031, 3, 3)
	exec := func(sql string, args ...any) {
		t.Helper()
		_, err := seeding.Exec(ctx, pool, sql, args...)
		require.NoError(t, err)
	}
	marshal := func(m proto.Message) []byte {
		body, err := proto.Marshal(m)
		require.NoError(t, err)
		return body
	}
	exec(`INSERT INTO pay_code (tenant_id, name, body) VALUES (1, 'Away', $1)`, marshal(&timekeepingv1.PayCode{Name: "Away", ExcusedAbsence: proto.Bool(true)}))
	exec(`INSERT INTO leave_case (tenant_id, id, employee_id, case_code, status_id, from_date, to_date, body) VALUES (1, 1, 7, 'L', 1, $1, $2, '')`, day, day+30)
	away := &commonv1.Ref{Qualifier: proto.String("Away")}
	reader := leaveday.NewReader(pool, timecardtest.Known{7: employeeday.Days{Schedule: &schedulingv1.EmployeeDays{
		EmployeeId: 7,
		Shifts:     []*schedulingv1.EmployeeShift{{Day: int32(day), Segments: []*schedulingv1.EmployeeShiftSegment{{StartSecond: 8 * hour, EndSecond: 17 * hour}}}},
		PayCodeEdits: []*schedulingv1.EmployeePayCodeEdit{
			{Day: int32(day), Amount: &schedulingv1.PayCodeAmount{PayCode: "away", Seconds: hour}},
			{Day: int32(day), TimeOff: true, Amount: &schedulingv1.PayCodeAmount{PayCode: "away", Halves: 2}},
			{Day: int32(day), Amount: &schedulingv1.PayCodeAmount{PayCode: "Training", Seconds: 8 * hour}},
		},
	}}})
	period := &timekeepingv1.TimeOffPeriod{StartDate: day.String(), EndDate: day.String(), PayCode: away, Duration: proto.Float64(4)}
	request := &timekeepingv1.TimeOffRequest{Periods: []*timekeepingv1.TimeOffPeriod{period}}
	edit := &timekeepingv1.LeaveEdit{PaidSegment: &timekeepingv1.LeaveSegment{AmountInSeconds: proto.Int64(4 * hour)}}
	entrances := []struct {
		deductions func(*leaveday.Days, int64) ([]leaveday.Deduction, error)
		insert     string
		args       func(int64) []any
	}{
		{
			func(_ *leaveday.Days, id int64) ([]leaveday.Deduction, error) { return leaveday.OfTimeOff(id, request) },
			`INSERT INTO time_off_request (tenant_id, id, employee_id, status, from_day, to_day, subtype_id, body) VALUES (1, $1, 7, 2, $2, $2, 1, $3)`,
			func(id int64) []any { return []any{id, day, marshal(request)} },
		},
		{
			func(d *leaveday.Days, id int64) ([]leaveday.Deduction, error) {
				return d.OfLeaveEdit(id, day, day, edit)
			},
			`INSERT INTO leave_edit (tenant_id, id, leave_case_id, employee_id, from_day, to_day, version, body) VALUES (1, $1, 1, 7, $2, $2, 1, $3)`,
			func(id int64) []any { return []any{id, day, marshal(edit)} },
		},
		{
			func(_ *leaveday.Days, id int64) ([]leaveday.Deduction, error) {
				return []leaveday.Deduction{leaveday.OfTimecardEdit(id, day, amount.Quantity{Seconds: 4 * hour})}, nil
			},
			`INSERT INTO timecard_edit (tenant_id, employee_id, apply_date, seconds, days, money, body) SELECT 1, 7, $2, 14400, 0, 0, $3 WHERE $1::bigint > 0`,
			func(id int64) []any {
				return []any{id, day, marshal(&timekeepingv1.TimecardPayCodeEdit{Paycode: away})}
			},
		},
	}
	var stored atomic.Int32
	var group sync.WaitGroup
	for i := range 12 {
		group.Go(func() {
			by := entrances[i%3]
			days, err := reader.Read(ctx, 7, []civil.Date{day})
			if !assert.NoError(t, err) {
				return
			}
			deductions, err := by.deductions(days, int64(i+1))
			if !assert.NoError(t, err) {
				return
			}
			err = seeding.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
				if err := leaveday.Lock(ctx, tx, 7); err != nil {
					return err
				}
				if err := days.Check(ctx, tx, deductions); err != nil {
					return err
				}
				_, err := tx.Exec(ctx, by.insert, by.args(int64(i+1))...)
				return err
			})
			if err == nil {
				stored.Add(1)
				return
			}
			assert.True(t, fault.HasCode(err, leaveday.CodeDayFull), "%v", err)
		})
	}
	group.Wait()
	assert.Equal(t, int32(2), stored.Load())
}

// Days that were not read are not stored: their leave is unknown.
func TestDaysThatWereNotRead(t *testing.T) {
	t.Parallel()
	ctx, pool := tenant.With(t.Context(), 1), pooltest.New(t)
	day := civil.Of(2031, 3, 3)
	days, err := leaveday.NewReader(pool, timecardtest.Known{}).Read(ctx, 7, []civil.Date{day, day + 500})
	require.NoError(t, err)
	for _, c := range []struct {
		name string
		day  civil.Date
		code string
	}{{"the first", day, ""}, {"one far away", day + 500, ""}, {"another", day + 1, fault.CodeStale}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := pg.InSnapshot(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
				return days.Check(ctx, tx, []leaveday.Deduction{leaveday.OfTimecardEdit(0, c.day, amount.Quantity{Seconds: 8 * hour})})
			})
			faulttest.RequireCode(t, c.code, err)
		})
	}
}
