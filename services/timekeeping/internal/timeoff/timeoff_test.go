package timeoff_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/faulttest"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/pkg/testkit/rpctest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/accrual"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/employeeday"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leaveday"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person/persontest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/requestsubtype"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/amount"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardtest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timeoff"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timeoff/handover"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timeoff/timeofftest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// codeLockedDay is scheduling's code for changes of locked days.
const codeLockedDay = "WRL-30401"

const seeding pg.Unaudited = "a test sets up what it is about"

// fixture has the employee 1 (Zurich), and a manager, 9, who sees all employees.
type fixture struct {
	t                          *testing.T
	pool                       *pg.Pool
	ctx, asEmployee, asManager context.Context
	manager                    *timeoff.Manager
	employee                   *timeoff.Employee
	subtypes                   *requestsubtype.Handler
	schedules                  *timeofftest.Schedules
	handover                   *handover.Handover
	waiting                    prometheus.Gauge
	clock                      *clock.Fake
	accruals                   accruals
}

// accruals cover a number of whole days that requests take, wherever they are.
type accruals struct {
	w    *fixture
	days int
}

func (*accruals) Balances(context.Context, int64, civil.Date) ([]accrual.Balance, error) {
	return nil, nil
}

func (a *accruals) Cover(_ context.Context, _ int64, wanted []accrual.Wanted, _ civil.Date) error {
	left := amount.Amount(a.days-len(a.w.schedules.Days())) * amount.PerUnit
	for _, w := range wanted {
		left -= w.Days
	}
	if left < 0 {
		return fault.Invalid(accrual.CodeNotCovered, "The balance does not cover this.")
	}
	return nil
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	w := &fixture{
		t: t, pool: pooltest.New(t), schedules: &timeofftest.Schedules{Refusal: fault.Invalid(codeLockedDay, "The day is locked.")}, clock: clock.NewFake(time.Date(2031, 3, 1, 23, 30, 0, 0, time.UTC)),
		ctx: tenant.With(t.Context(), tenant.Default), asEmployee: callerContext(t.Context(), 1, rowvisibility.Own), asManager: callerContext(t.Context(), 9, rowvisibility.All),
	}
	w.accruals.w = w
	w.subtypes = requestsubtype.New(w.pool)
	w.waiting = prometheus.NewGauge(prometheus.GaugeOpts{})
	w.handover = handover.New(w.pool, w.schedules, timeoff.StoredEdits, pgtest.Log(t), w.waiting)
	deps := timeoff.Deps{
		Pool: w.pool, Persons: person.NewDirectory(w.pool, persontest.NobodyElse{}, nil), Days: w.schedules, Handover: w.handover,
		Subtypes: w.subtypes, Clock: w.clock, Room: leaveday.NewReader(w.pool, march()), Accruals: &w.accruals,
	}
	w.manager, w.employee = timeoff.NewManager(deps), timeoff.NewEmployee(deps)
	w.exec(`INSERT INTO person (tenant_id, id, person_number, full_name, time_zone) VALUES (1, 1, 'P1', 'One', 'Europe/Zurich'), (1, 9, 'P9', 'Nine', 'UTC')`)
	return w
}

// callerContext returns the context of a call by a person of the default tenant.
func callerContext(ctx context.Context, personID int64, scope rowvisibility.Scope) context.Context {
	p := &authn.Principal{Tenant: tenant.Default, Subject: "caller", PersonID: personID, Rows: string(scope)}
	return authn.With(tenant.With(ctx, tenant.Default), p, "")
}

func (w *fixture) exec(sql string, args ...any) {
	w.t.Helper()
	_, err := seeding.Exec(w.ctx, w.pool, sql, args...)
	require.NoError(w.t, err)
}

// count returns how many rows a table has.
func (w *fixture) count(table string) int {
	w.t.Helper()
	var n int
	require.NoError(w.t, w.pool.QueryRow(w.ctx, "SELECT count(*) FROM "+table).Scan(&n))
	return n
}

// march returns the data about employee 1, who works eight hours on each day of March.
func march() timecardtest.Known {
	days := &schedulingv1.EmployeeDays{EmployeeId: 1}
	for day := civil.Of(2031, 3, 1); day < civil.Of(2031, 4, 1); day++ {
		days.Shifts = append(days.Shifts, &schedulingv1.EmployeeShift{
			Day: int32(day), Segments: []*schedulingv1.EmployeeShiftSegment{{StartSecond: 8 * 3600, EndSecond: 16 * 3600}},
		})
	}
	return timecardtest.Known{1: employeeday.Days{Schedule: days}}
}

// grant has the manager grant whole days.
func (w *fixture) grant(ctx context.Context, first, last string) (*timekeepingv1.TimeOffRequest, error) {
	return w.manager.CreateTimeOff(ctx, &timekeepingv1.CreateTimeOffRequest{
		Employee: &commonv1.Ref{Id: proto.Int64(1)}, RequestSubType: &timekeepingv1.TimeOffSubtype{Id: proto.Int64(1)}, Periods: wholeDays(first, last),
	})
}

func wholeDays(first, last string) []*timekeepingv1.TimeOffPeriod {
	return []*timekeepingv1.TimeOffPeriod{{
		StartDate: first, EndDate: last, PayCode: &commonv1.Ref{Qualifier: proto.String("PTO")}, SymbolicAmount: &commonv1.Ref{Id: proto.Int64(-1)},
	}}
}

// requestDays creates the employee's request for whole days.
func (w *fixture) requestDays(first, last string) *timekeepingv1.TimeOffRequest {
	w.t.Helper()
	made, err := w.employee.CreateEmployeeTimeOff(w.asEmployee, &timekeepingv1.TimeOffRequest{
		RequestSubType: &timekeepingv1.TimeOffSubtype{Id: proto.Int64(1)}, Periods: wholeDays(first, last),
	})
	require.NoError(w.t, err)
	return made
}

func (w *fixture) decide(id int64, to string) (*timekeepingv1.TimeOffRequest, error) {
	return w.decideAs(w.asManager, id, to)
}

func (w *fixture) decideAs(ctx context.Context, id int64, to string) (*timekeepingv1.TimeOffRequest, error) {
	return w.manager.ApplyUpdateTimeOff(ctx, &timekeepingv1.ApplyUpdateTimeOffRequest{ChangeState: &timekeepingv1.TimeOffStatusChange{
		Do:    &timekeepingv1.TimeOffStatusDo{ToStatus: &timekeepingv1.RequestStatus{SymbolicId: to}},
		Where: &timekeepingv1.TimeOffStatusWhere{TimeOffRequestId: &id},
	}})
}

func TestTimesAreThoseOfTheEmployee(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	made := w.requestDays("2031-03-01", "2031-03-01")
	assert.Equal(t, "2031-03-02T00:30:00", made.GetCreateDateTime(), "it is past midnight there")
	assert.True(t, made.GetHistorical())
}

func TestDecisionsTakeTurns(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	made := w.requestDays("2031-03-03", "2031-03-06")
	var group sync.WaitGroup
	codes := make(chan string, 8)
	for range cap(codes) {
		group.Go(func() {
			code := ""
			if _, err := w.decide(made.GetId(), "APPROVED"); err != nil {
				code = fault.FromError(err).Code
			}
			codes <- code
		})
	}
	group.Wait()
	close(codes)
	seen := map[string]int{}
	for code := range codes {
		seen[code]++
	}
	assert.Equal(t, map[string]int{"": 1, timeoff.CodeChange: 7}, seen)
	assert.Equal(t, []string{"2031-03-03", "2031-03-04", "2031-03-05", "2031-03-06"}, w.schedules.Days())
	assert.Equal(t, 1, w.schedules.Calls(), "what is refused before does not call")
	assert.Zero(t, w.count("time_off_claim"))
}

func TestRequestsOfOneDayTakeTurns(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if _, err := w.grant(w.asManager, "2031-03-03", "2031-03-03"); err != nil {
				assert.Equal(t, timeoff.CodeInconsistent, fault.FromError(err).Code)
			}
		})
	}
	group.Wait()
	assert.Equal(t, 1, w.count("time_off_request"))
	assert.Equal(t, []string{"2031-03-03"}, w.schedules.Days())
	assert.Zero(t, w.count("time_off_claim"))
}

// Halves of one day arrive at once: two of them fit.
func TestPartsOfOneDayTakeTurns(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			_, err := w.manager.CreateTimeOff(w.asManager, &timekeepingv1.CreateTimeOffRequest{
				Employee: &commonv1.Ref{Id: proto.Int64(1)}, RequestSubType: &timekeepingv1.TimeOffSubtype{Id: proto.Int64(1)},
				Periods: []*timekeepingv1.TimeOffPeriod{{StartDate: "2031-03-03", PayCode: &commonv1.Ref{Qualifier: proto.String("PTO")}, SymbolicAmount: &commonv1.Ref{Id: proto.Int64(-2)}}},
			})
			if err != nil {
				assert.Equal(t, leaveday.CodeDayFull, fault.FromError(err).Code)
			}
		})
	}
	group.Wait()
	assert.Equal(t, 2, w.count("time_off_request"))
	assert.Equal(t, []string{"2031-03-03", "2031-03-03"}, w.schedules.Days())
	assert.Zero(t, w.count("time_off_claim"))
}

// payCode sets up the pay code of the requests, in days.
func (w *fixture) payCode(checkAvailability *int32) {
	w.t.Helper()
	body, err := proto.Marshal(&timekeepingv1.PayCode{Name: "PTO", Unit: "DAY", CheckAvailability: checkAvailability})
	require.NoError(w.t, err)
	w.exec(`INSERT INTO pay_code (tenant_id, name, body) VALUES (1, 'PTO', $1)`, body)
}

// Requests for different days arrive at once. The balance of two days covers each of them alone.
func TestRequestsForOneBalanceTakeTurns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		check *int32
		ask   func(w *fixture, day string) error
		want  int
	}{
		{"grants", nil, func(w *fixture, day string) error {
			_, err := w.grant(w.asManager, day, day)
			return err
		}, 2},
		{"submissions of a pay code that is checked then", proto.Int32(2), func(w *fixture, day string) error {
			_, err := w.employee.CreateEmployeeTimeOff(w.asEmployee, &timekeepingv1.TimeOffRequest{
				RequestSubType: &timekeepingv1.TimeOffSubtype{Id: proto.Int64(1)}, Periods: wholeDays(day, day),
			})
			return err
		}, 2},
		{"grants of a pay code that is not checked", proto.Int32(0), func(w *fixture, day string) error {
			_, err := w.grant(w.asManager, day, day)
			return err
		}, 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t)
			w.payCode(c.check)
			w.accruals.days = 2
			var group sync.WaitGroup
			for _, day := range []string{"2031-03-03", "2031-03-04", "2031-03-05", "2031-03-06", "2031-03-07", "2031-03-10"} {
				group.Go(func() {
					if err := c.ask(w, day); err != nil {
						assert.Equal(t, accrual.CodeNotCovered, fault.FromError(err).Code)
					}
				})
			}
			group.Wait()
			assert.Equal(t, c.want, w.count("time_off_request"))
		})
	}
}

// Two requests are submitted that the balance covers singly. It covers the first approval, and
// the other one when that is cancelled.
func TestApprovalsThatNoBalanceCovers(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.payCode(nil)
	w.accruals.days = 2
	first, second := w.requestDays("2031-03-03", "2031-03-04"), w.requestDays("2031-03-06", "2031-03-06")
	_, err := w.decide(first.GetId(), "APPROVED")
	require.NoError(t, err)
	_, err = w.decide(second.GetId(), "APPROVED")
	faulttest.RequireCode(t, accrual.CodeNotCovered, err)
	assert.Equal(t, "SUBMITTED", w.get(second.GetId()).GetCurrentStatus().GetSymbolicId())
	_, err = w.decide(first.GetId(), "CANCELLED")
	require.NoError(t, err)
	_, err = w.decide(second.GetId(), "APPROVED")
	require.NoError(t, err)
}

func TestSubtypesThatDecideByThemselves(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	local := rpctest.Local(t)
	timekeepingv1.RegisterRequestSubtypeServiceServer(local, w.subtypes)
	sick, err := timekeepingv1.NewRequestSubtypeServiceClient(local.Conn("test", nil)).CreateRequestSubtype(w.ctx, &timekeepingv1.RequestSubtype{TimeOffRequest: &timekeepingv1.TimeOffRequestSubtype{
		Name: "Sick", AutomaticApproval: proto.Bool(true), AutomaticApprovalForCancellation: proto.Bool(true),
		DefaultPayCode: &commonv1.Ref{Qualifier: proto.String("Sick")},
	}})
	require.NoError(t, err)
	made, err := w.employee.CreateEmployeeTimeOff(w.asEmployee, &timekeepingv1.TimeOffRequest{
		RequestSubType: &timekeepingv1.TimeOffSubtype{Id: sick.GetTimeOffRequest().Id},
		Periods:        []*timekeepingv1.TimeOffPeriod{{StartDate: "2031-03-03", Duration: proto.Float64(1.5)}},
	})
	require.NoError(t, err)
	assert.Equal(t, "APPROVED", made.GetCurrentStatus().GetSymbolicId())
	assert.Equal(t, "Sick", made.GetPeriods()[0].GetPayCode().GetQualifier())
	changed, err := w.employee.ApplyUpdateEmployeeTimeOff(w.asEmployee, &timekeepingv1.ApplyUpdateTimeOffRequest{ChangeState: &timekeepingv1.TimeOffStatusChange{
		Do:    &timekeepingv1.TimeOffStatusDo{ToStatus: &timekeepingv1.RequestStatus{Id: proto.Int64(8)}},
		Where: &timekeepingv1.TimeOffStatusWhere{TimeOffRequestId: made.Id},
	}})
	require.NoError(t, err)
	assert.Equal(t, "CANCELLED", changed.GetTimeOff().GetCurrentStatus().GetSymbolicId())
	assert.Empty(t, w.schedules.Days())
}

func TestUnknownEmployeesBesideOthers(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.requestDays("2031-03-03", "2031-03-03")
	list, err := w.manager.MultiReadTimeOff(w.asManager, &timekeepingv1.MultiReadTimeOffRequest{Where: &timekeepingv1.TimeOffWhere{
		Employees: &timekeepingv1.TimeOffOfEmployees{EmployeeRefs: &commonv1.RefList{Ids: []int64{5, 1, 0}}, StartDate: "2031-03-01", EndDate: "2031-03-31"},
	}})
	require.NoError(t, err)
	assert.Empty(t, list.GetItems())
	results := list.GetFailure().GetDetails().GetResults()
	require.Len(t, results, 3)
	assert.NotNil(t, results[0].GetSuccess())
	assert.Equal(t, []int32{1, 2}, list.GetFailure().GetDetails().GetErrorOffsets())
	for _, r := range results[1:] {
		assert.Equal(t, "WFS-103401", r.GetError().GetErrorCode())
	}
}

func TestEmployeesWhoseRequestsAreRead(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	made := w.requestDays("2031-03-03", "2031-03-03")
	// A deleted person has no number.
	w.exec(`INSERT INTO person (tenant_id, id, person_number, full_name, time_zone) VALUES (1, 8, '', '', 'UTC')`)
	asOwn := callerContext(t.Context(), 9, rowvisibility.Own)
	for _, c := range []struct {
		name string
		ctx  context.Context
		list *commonv1.RefList
		code string
		n    int
	}{
		{"everybody", w.asManager, nil, "", 1},
		{"everybody whom the caller sees", asOwn, nil, "", 0},
		{"by id", w.asManager, &commonv1.RefList{Ids: []int64{9, 1}}, "", 1},
		{"by number", w.asManager, &commonv1.RefList{Qualifiers: []string{"P1"}}, "", 1},
		{"by ref", w.asManager, &commonv1.RefList{Refs: []*commonv1.Ref{{Id: proto.Int64(1), Qualifier: proto.String("P9")}}}, "", 1},
		{"in two ways", w.asManager, &commonv1.RefList{Ids: []int64{1}, Qualifiers: []string{"P1"}}, "WFS-111207", 0},
		{"who is unknown", w.asManager, &commonv1.RefList{Ids: []int64{5}}, "WFS-103401", 0},
		{"who has no id", w.asManager, &commonv1.RefList{Ids: []int64{0}}, "WFS-103401", 0},
		{"whom the caller does not see", asOwn, &commonv1.RefList{Ids: []int64{1}}, "WFS-103401", 0},
		{"who is not named", w.asManager, &commonv1.RefList{Refs: []*commonv1.Ref{{}}}, "WFS-103407", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			list, err := w.manager.MultiReadTimeOff(c.ctx, &timekeepingv1.MultiReadTimeOffRequest{Where: &timekeepingv1.TimeOffWhere{
				Employees: &timekeepingv1.TimeOffOfEmployees{EmployeeRefs: c.list, StartDate: "2031-03-01", EndDate: "2031-03-31"},
			}})
			faulttest.RequireCode(t, c.code, err)
			require.Len(t, list.GetItems(), c.n)
			for _, r := range list.GetItems() {
				assert.Equal(t, made.GetId(), r.GetId())
				assert.Equal(t, "P1", r.GetEmployee().GetQualifier())
			}
		})
	}
}
