package employeeday_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/employeeday"
	"github.com/rotaloom/rotaloom/services/commons/internal/pooltest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const hour = 3600

// One employee of two tenants follows a rotation of two days, of which one shift is
// hidden, another taken by leave and one entered by hand. The rotation has a pay code
// edit, which is hidden once, and another was entered for three days.
func TestReadEmployeeDays(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	monday := civil.Date(20_000)
	amount := func(seconds int64) (*schedulingv1.PayCodeAmount, []byte) {
		m := &schedulingv1.PayCodeAmount{PayCode: "Sick", Job: "A/B", Seconds: seconds}
		body, err := proto.Marshal(m)
		require.NoError(t, err)
		return m, body
	}
	short, shortBody := amount(1)
	long, longBody := amount(2)
	person, err := proto.Marshal(&commonsv1.Person{PersonInformation: &commonsv1.PersonInformation{Person: &commonsv1.PersonDetails{
		AccrualProfileName: "Full time", AccrualProfileEffectiveDate: "2000-01-01",
	}}})
	require.NoError(t, err)
	for tenantID := int64(1); tenantID <= 2; tenantID++ {
		ctx := tenant.With(t.Context(), tenantID)
		batch := &pgx.Batch{}
		batch.Queue(`INSERT INTO person (tenant_id, id, person_number, full_name, time_zone, hire_date, body) VALUES ($1, 7, '7', 'Seven', 'UTC', $2, $3)`,
			tenantID, monday-10, person)
		batch.Queue(`INSERT INTO base_wage_rate VALUES ($1, 7, $2, $3, 20.5)`, tenantID, monday-10, civil.Forever)
		batch.Queue(`INSERT INTO wage_work_rule VALUES ($1, 7, 'A/D', $2, $3, 30, ''), ($1, 7, 'A/E', $2, $3, NULL, 'Night')`, tenantID, monday, monday+5)
		batch.Queue(`INSERT INTO primary_labor_account VALUES ($1, 7, $2, $3, 'A/B', '')`, tenantID, monday-10, monday+2)
		batch.Queue(`INSERT INTO primary_labor_account VALUES ($1, 7, $2, $3, 'A/C', '')`, tenantID, monday+2, civil.Forever)
		batch.Queue(`INSERT INTO pay_rule_assignment (tenant_id, person_id, from_date, to_date, pay_rule_name) VALUES ($1, 7, $2, $3, 'Full time')`,
			tenantID, monday-10, civil.Forever)
		for segment, place := range []string{"", "A/D"} {
			batch.Queue(`INSERT INTO pattern_segment VALUES ($1, 3, 1, 0, $2, $3, $4, $5)`, tenantID, segment, place, (22+segment)*hour, (23+segment)*hour)
		}
		batch.Queue(`INSERT INTO schedule_span VALUES ($1, 7, 0, $2, $3, 3, 1, 2)`, tenantID, monday, monday+20)
		batch.Queue(`INSERT INTO entered_shift (tenant_id, id, version, hides_person, hides_day, hides_lane, hides_ordinal) VALUES ($1, 1, 1, 7, $2, 0, 0)`, tenantID, monday+2)
		batch.Queue(`INSERT INTO entered_shift (tenant_id, id, version, person_id) VALUES ($1, 2, 1, 7)`, tenantID)
		batch.Queue(`INSERT INTO entered_shift_segment VALUES ($1, 2, 0, 7, $2, 'A/E', $3, $4)`, tenantID, monday+3, 6*hour, 14*hour)
		batch.Queue(`INSERT INTO pattern_pay_code_edit VALUES ($1, 3, 0, 1, $2)`, tenantID, shortBody)
		batch.Queue(`INSERT INTO entered_shift (tenant_id, id, version, hides_person, hides_day, hides_lane, hides_ordinal) VALUES ($1, 3, 1, 7, $2, 0, 1)`, tenantID, monday+3)
		batch.Queue(`INSERT INTO entered_pay_code_edit VALUES ($1, 4, 7, $2, $3, $4)`, tenantID, monday+6, monday+9, longBody)
		batch.Queue(`INSERT INTO leave_interval (tenant_id, person_id, from_day, to_day, start_second, end_second) VALUES ($1, 7, $2, $2, 0, 0)`, tenantID, monday+4)
		require.NoError(t, pool.SendBatch(ctx, batch).Close())
	}
	day := func(d civil.Date) int32 { return int32(d) }
	text := func(from, to civil.Date, text string) *commonsv1.EmployeeDayText {
		return &commonsv1.EmployeeDayText{From: day(from), To: day(to), Text: text}
	}
	night := func(d civil.Date) *commonsv1.EmployeeShift {
		return &commonsv1.EmployeeShift{Day: day(d), Segments: []*commonsv1.EmployeeShiftSegment{
			{StartSecond: 22 * hour, EndSecond: 23 * hour}, {StartSecond: 23 * hour, EndSecond: 24 * hour, Job: "A/D"},
		}}
	}
	onLeave := night(monday + 4)
	for _, s := range onLeave.GetSegments() {
		s.Taken = true
	}
	edit := func(d civil.Date, amount *schedulingv1.PayCodeAmount) *commonsv1.EmployeePayCodeEdit {
		return &commonsv1.EmployeePayCodeEdit{Day: day(d), Amount: amount}
	}
	got, err := employeeday.New(pool).ReadEmployeeDays(tenant.With(t.Context(), 1), &commonsv1.ReadEmployeeDaysRequest{
		EmployeeIds: []int64{8, 7}, From: day(monday), To: day(monday + 8),
	})
	require.NoError(t, err)
	want := &commonsv1.ReadEmployeeDaysResponse{Employees: []*commonsv1.EmployeeDays{{
		EmployeeId:  7,
		PrimaryJobs: []*commonsv1.EmployeeDayText{text(monday-10, monday+2, "A/B"), text(monday+2, civil.Forever, "A/C")},
		PayRules:    []*commonsv1.EmployeeDayText{text(monday-10, civil.Forever, "Full time")},
		Shifts: []*commonsv1.EmployeeShift{
			night(monday),
			{Day: day(monday + 3), Segments: []*commonsv1.EmployeeShiftSegment{{StartSecond: 6 * hour, EndSecond: 14 * hour, Job: "A/E"}}},
			onLeave, night(monday + 6),
		},
		PayCodeEdits: []*commonsv1.EmployeePayCodeEdit{
			edit(monday+1, short), edit(monday+5, short), edit(monday+6, long), edit(monday+7, short), edit(monday+7, long),
		},
	}}}
	assert.True(t, proto.Equal(want, got), "%v\n%v", want, got)

	got, err = employeeday.New(pool).ReadEmployeeDays(tenant.With(t.Context(), 1), &commonsv1.ReadEmployeeDaysRequest{
		EmployeeIds: []int64{8, 7}, From: day(monday), To: day(monday + 1), AccrualProfile: true, Wages: true,
	})
	require.NoError(t, err)
	assert.True(t, proto.Equal(text(monday-10, civil.Of(3000, 1, 1), "Full time"), got.GetEmployees()[0].GetAccrualProfile()), "%v", got.GetEmployees()[0].GetAccrualProfile())
	wages := &commonsv1.EmployeeDays{Wages: []*commonsv1.EmployeeWage{
		{From: day(monday - 10), To: day(civil.Forever), HourlyRate: 20.5}, {From: day(monday), To: day(monday + 5), Job: "A/D", HourlyRate: 30},
	}}
	assert.True(t, proto.Equal(wages, &commonsv1.EmployeeDays{Wages: got.GetEmployees()[0].GetWages()}), "%v", got.GetEmployees()[0].GetWages())

	_, err = employeeday.New(pool).ReadEmployeeDays(tenant.With(t.Context(), 1), &commonsv1.ReadEmployeeDaysRequest{
		EmployeeIds: []int64{7}, From: day(monday), To: day(monday + 401),
	})
	require.ErrorContains(t, err, "400")
}
