package dataprovider

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavesetup"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/calculation"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/worktime"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func ref(id int64, name string) *commonv1.Ref { return &commonv1.Ref{Id: &id, Name: &name} }

// every evaluates all elements of a table for the employee 1 from 2026-03-02 to 2026-03-08, and for
// an employee without data.
func every[R any](t *testing.T, table *dataelement.Table[R], load func(needs uint64) []*R, want map[string]value) {
	t.Helper()
	require.Empty(t, table.Problems())
	week := civil.Through(civil.Of(2026, 3, 2), civil.Of(2026, 3, 8))
	for _, e := range table.Entries {
		loaded := load(e.Needs)
		assert.Equal(t, want[e.Key], e.Value(loaded[0], at{Days: week}), e.Key)
		assert.Equal(t, e.Type, want[e.Key].Type(), e.Key)
		e.Value(loaded[1], at{Days: week})
		delete(want, e.Key)
	}
	assert.Empty(t, want, "elements that are not there any more")
}

func TestEveryElement(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	ctx := tenant.With(t.Context(), 1)
	exec := func(sql string, args ...any) {
		t.Helper()
		_, err := pool.Exec(ctx, sql, args...)
		require.NoError(t, err)
	}
	week := civil.Through(civil.Of(2026, 3, 2), civil.Of(2026, 3, 8))
	text, whole, number := dataelement.Text, dataelement.Whole, dataelement.Decimal
	day := func(m time.Month, d int) value { return dataelement.Day(civil.Of(2026, m, d)) }

	body, err := proto.Marshal(&timekeepingv1.LeaveCase{
		CaseCode: "2026-1", Status: ref(leavesetup.StatusClosed, "Closed"), Category: ref(1, "Family"), Reason: ref(2, "Birth"),
		Frequency: ref(1, "Continuous"), ApprovalStatus: ref(1, "Approved"),
	})
	require.NoError(t, err)
	edit, err := proto.Marshal(&timekeepingv1.LeaveEdit{
		PaidSegment: &timekeepingv1.LeaveSegment{AmountInSeconds: proto.Int64(4 * 3600)}, TrackingSegment: &timekeepingv1.LeaveSegment{AmountInSeconds: proto.Int64(1800)},
	})
	require.NoError(t, err)
	exec(`INSERT INTO leave_case (tenant_id, id, employee_id, case_code, status_id, from_date, to_date, body) VALUES
		(1, 9, 1, '2026-1', 2, '2026-03-01', '2026-03-06', $1), (1, 8, 1, '2026-0', 1, '2026-01-01', '2026-03-02', '')`, body)
	exec(`INSERT INTO leave_edit (tenant_id, id, leave_case_id, employee_id, from_day, to_day, version, body) VALUES
		(1, 1, 9, 1, '2026-03-01', '2026-03-02', 1, $1), (1, 2, 9, 1, '2026-03-02', '2026-03-02', 1, $1),
		(1, 3, 9, 1, '2026-03-05', '2026-03-05', 1, $1), (1, 4, 9, 1, '2026-03-05', '2026-03-05', 1, $1)`, edit)
	every(t, newLeave(pool), func(needs uint64) []*leave {
		loaded, err := loadLeave(ctx, pool, []int64{1, 2}, week, needs)
		require.NoError(t, err)
		return loaded
	}, map[string]value{
		"LEAVE_CASE_COUNT": whole(1), "LEAVE_SUBMITTED_CASE_COUNT": whole(0), "LEAVE_CLOSED_CASE_COUNT": whole(1), "LEAVE_CASE_CODE": text("2026-1"),
		"LEAVE_CASE_STATUS": text("Closed"), "LEAVE_CASE_CATEGORY": text("Family"), "LEAVE_CASE_REASON": text("Birth"), "LEAVE_CASE_FREQUENCY": text("Continuous"),
		"LEAVE_CASE_APPROVAL_STATUS": text("Approved"), "LEAVE_CASE_START_DATE": day(3, 1), "LEAVE_CASE_END_DATE": day(3, 5), "LEAVE_PAID_HOURS": number(12),
		"LEAVE_TRACKING_HOURS": number(1.5), "LEAVE_EDIT_COUNT": whole(3), "LEAVE_DAYS": whole(2), "LEAVE_FIRST_DATE": day(3, 2), "LEAVE_LAST_DATE": day(3, 5),
		"LEAVE_IS_ON_LEAVE": dataelement.Bool(true),
	})
}

// A week of a timecard has a shift, an amount of each kind, a correction and exceptions.
func TestEveryElementOfTimecards(t *testing.T) {
	t.Parallel()
	monday := civil.Of(2026, 3, 2)
	through := monday + 6
	total := func(kind timekeepingv1.TotalKind, seconds int64, days, money string) *timekeepingv1.WorkedTimeTotal {
		return &timekeepingv1.WorkedTimeTotal{Kind: kind, Seconds: seconds, Days: days, Money: money}
	}
	week := &timecard{View: calculation.View{Through: &through, Dates: []civil.Date{monday - 1, monday, monday + 1}, Days: []*timekeepingv1.TimecardDay{
		{Totals: []*timekeepingv1.WorkedTimeTotal{total(timekeepingv1.TotalKind_TOTAL_KIND_WORKED, 7200, "1", "1")}},
		{
			WorkedShifts: []*timekeepingv1.WorkedShift{{StartDateTime: "2026-03-02T08:00:00", EndDateTime: "2026-03-02T16:00:00"}},
			Totals: []*timekeepingv1.WorkedTimeTotal{
				total(timekeepingv1.TotalKind_TOTAL_KIND_WORKED, 8*3600, "", ""), total(timekeepingv1.TotalKind_TOTAL_KIND_PAY_CODE_EDIT, 1800, "0.5", "12.25"),
				total(timekeepingv1.TotalKind_TOTAL_KIND_HISTORICAL_CORRECTION, -3600, "", ""),
			},
			Exceptions: []*timekeepingv1.TimecardException{{ExceptionType: &timekeepingv1.TimecardExceptionType{Name: string(worktime.LateIn)}}},
		},
		{
			WorkedShifts: []*timekeepingv1.WorkedShift{{StartDateTime: "2026-03-03T08:00:00", IsOpen: proto.Bool(true)}},
			Exceptions:   []*timekeepingv1.TimecardException{{ExceptionType: &timekeepingv1.TimecardExceptionType{Name: string(worktime.MissedOut)}}},
		},
	}}}
	worked := week.Days[1].GetTotals()[0]
	worked.Wages, worked.OrgJob, worked.PayCode = "164.4", &commonv1.Ref{Qualifier: proto.String("Acme/Door")}, ref(3, "Night")
	week.Days[1].GetTotals()[1].Wages = "12.25"
	week.Primary = func(civil.Date) string { return "Acme/Clerk" }
	week.PayCode = func(named *commonv1.Ref) *timekeepingv1.PayCode {
		if named.GetId() != 3 {
			return nil
		}
		return &timekeepingv1.PayCode{WageMultiplier: proto.Float64(1.5), WageAddition: proto.Float64(0.25)}
	}
	week.Calculated = civil.Of(2026, 3, 2).At(9 * 3600)
	for i := range 3 {
		week.payPeriods = append(week.payPeriods, civil.Through(monday.AddDays(14*(i-1)), monday.AddDays(14*i-1)))
	}
	number, whole, day := dataelement.Decimal, dataelement.Whole, dataelement.Day
	moment := func(hour int64) value { return dataelement.Moment(int64(monday)*86_400 + hour*3600) }
	every(t, newTimecards(nil, nil), func(uint64) []*timecard { return []*timecard{week, {}} }, map[string]value{
		"TIMECARD_TRANS_ACTUAL_WAGES": number(176.65), "TK_DAILY_ACTUAL_TOTAL_WAGES": number(176.65), "TK_SHIFT_ACTUAL_TOTAL_WAGES": number(164.4),
		"TK_ACTUAL_APPLY_DATE": day(monday), "TK_DAILY_ACTUAL_APPLY_DATE": day(monday), "TK_SHIFT_ACTUAL_APPLY_DATE": day(monday),
		"TK_SHIFT_ACTUAL_TOTAL_DAYS": whole(1), "TK_ACTUAL_JOB_TRANSFER": dataelement.Text("Acme/Door"), "TK_ACTUAL_WAGE_MULTIPLIER": number(1.5),
		"TK_ACTUAL_WAGE_ADD": number(0.25), "TK_AVG_ACTUAL_AMOUNT": number(7.5), "TK_LAST_TOTAL_TIME": moment(9),
		"TK_PREV_PAYPERIOD_STARTDATE": day(monday - 14), "TK_PREV_PAYPERIOD_ENDDATE": day(monday - 1), "TK_CURR_PAYPERIOD_STARTDATE": day(monday),
		"TK_CURR_PAYPERIOD_ENDDATE": day(monday + 13), "TK_NEXT_PAYPERIOD_STARTDATE": day(monday + 14), "TK_NEXT_PAYPERIOD_ENDDATE": day(monday + 27),
		"TIMECARD_TRANS_ACTUAL_HOURS": number(7.5), "TK_DAILY_ACTUAL_DURATION_IN_HOURS": number(7.5), "TK_SHIFT_ACTUAL_DURATION_IN_HOURS": number(8),
		"TK_GENIE_ACTUAL_TOTAL_HOURS_EXCLUDE_CORRECTIONS": number(8.5), "TIMECARD_TRANS_CORRECTION_HOURS": number(-1),
		"TIMECARD_TRANS_ACTUAL_DAYS": number(0.5), "TK_DAILY_ACTUAL_TOTAL_DAYS": number(0.5), "TIMECARD_TRANS_MONEY_AMOUNT": number(12.25),
		"TIMECARD_TRANS_START_DATETIME": moment(8), "TIMECARD_TRANS_END_DATETIME": moment(16), "TK_ACTUAL_SIGNED_OFF": dataelement.Bool(true),
		"TK_MANAGER_SIGNOFF_THRU_DATE": dataelement.Day(through), "TK_ON_PREMISE": dataelement.Bool(true), "TK_EXCEPTION_COUNT": whole(2), "TK_MISSED_PUNCH_COUNT": whole(1),
	})
}
