package timekeeping_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/natstest"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/pkg/testkit/rpctest"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping"
)

// persons replaces commons, another domain. It has 200 persons: ids 1 to 200, person numbers "P1"
// to "P200".
type persons struct {
	commonsv1.UnimplementedPersonServiceServer
	requests atomic.Int64
}

func (p *persons) ResolvePersons(_ context.Context, req *commonsv1.ResolvePersonsRequest) (*commonsv1.ResolvePersonsResponse, error) {
	p.requests.Add(1)
	out := &commonsv1.ResolvePersonsResponse{}
	add := func(id int64) {
		if id >= 1 && id <= 200 {
			out.Persons = append(out.Persons, &commonsv1.PersonState{
				PersonId: id, PersonNumber: fmt.Sprint("P", id), Version: 1,
				FullName: fmt.Sprint("Person ", id), HireDate: "2020-01-01", TimeZone: "Europe/Zurich",
			})
		}
	}
	for _, id := range req.GetIds() {
		add(id)
	}
	for _, number := range req.GetPersonNumbers() {
		var id int64
		if _, err := fmt.Sscanf(number, "P%d", &id); err == nil {
			add(id)
		}
	}
	return out, nil
}

// employeeDays stands for scheduling: it knows the shifts of employees.
type employeeDays struct {
	schedulingv1.UnimplementedEmployeeDayServiceServer
	mu     sync.Mutex
	shifts map[int64][]*schedulingv1.EmployeeShift
}

// putHours lets an employee work on a day, from hour to hour.
func (e *employeeDays) putHours(employee int64, day civil.Date, hours ...int32) {
	shift := &schedulingv1.EmployeeShift{Day: int32(day)}
	for i := 0; i < len(hours); i += 2 {
		shift.Segments = append(shift.Segments, &schedulingv1.EmployeeShiftSegment{StartSecond: hours[i] * 3600, EndSecond: hours[i+1] * 3600})
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.shifts[employee] = append(e.shifts[employee], shift)
}

func (e *employeeDays) ReadEmployeeDays(_ context.Context, req *schedulingv1.ReadEmployeeDaysRequest) (*schedulingv1.ReadEmployeeDaysResponse, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := &schedulingv1.ReadEmployeeDaysResponse{}
	for _, id := range req.GetEmployeeIds() {
		of := &schedulingv1.EmployeeDays{EmployeeId: id}
		for _, shift := range e.shifts[id] {
			if shift.GetDay() >= req.GetFrom() && shift.GetDay() < req.GetTo() {
				of.Shifts = append(of.Shifts, shift)
			}
		}
		out.Employees = append(out.Employees, of)
	}
	return out, nil
}

// nobodyPaid stands for commons, too: it knows no wages, and as only job the location 5, which is
// called A/Cook.
type nobodyPaid struct {
	commonsv1.UnimplementedPersonPayServiceServer
}

func (nobodyPaid) ReadPersonPay(context.Context, *commonsv1.ReadPersonPayRequest) (*commonsv1.ReadPersonPayResponse, error) {
	return &commonsv1.ReadPersonPayResponse{}, nil
}

func (nobodyPaid) ResolveJobs(_ context.Context, req *commonsv1.ResolveJobsRequest) (*commonsv1.ResolveJobsResponse, error) {
	out := &commonsv1.ResolveJobsResponse{}
	for _, asked := range req.GetJobs() {
		job := &commonsv1.ResolvedJob{}
		if asked.GetId() == 5 || asked.GetPath() == "A/Cook" {
			job.Path = "A/Cook"
		}
		out.Jobs = append(out.Jobs, job)
	}
	return out, nil
}

// scheduledLeave stands for scheduling: it keeps the states of leave that come.
type scheduledLeave struct {
	schedulingv1.UnimplementedLeaveServiceServer
	mu     sync.Mutex
	states []*schedulingv1.EmployeeLeaveState
	err    error
}

func (s *scheduledLeave) PutLeave(_ context.Context, req *schedulingv1.PutLeaveRequest) (*schedulingv1.PutLeaveResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil, s.err
	}
	s.states = append(s.states, req.GetEmployees()...)
	return &schedulingv1.PutLeaveResponse{}, nil
}

// fail lets calls fail from now on, or succeed when err is nil.
func (s *scheduledLeave) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

// takeStates returns the states that came, oldest first.
func (s *scheduledLeave) takeStates() []*schedulingv1.EmployeeLeaveState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.states)
}

// fixture is the service with everything around it but a network.
type fixture struct {
	pool       *pg.Pool
	nats       *natstest.Server
	commons    *persons
	days       *employeeDays
	leave      *scheduledLeave
	service    *timekeeping.Service
	leaveCases timekeepingv1.LeaveCaseServiceClient
	leaveEdits timekeepingv1.LeaveEditServiceClient
	staging    timekeepingv1.PayrollStagingServiceClient
	punches    timekeepingv1.PunchServiceClient
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	sets, err := timekeeping.Migrations()
	require.NoError(t, err)
	b := &fixture{pool: pgtest.New(t, sets...), nats: natstest.New(t), commons: &persons{}}
	b.leave = &scheduledLeave{}
	b.days = &employeeDays{shifts: map[int64][]*schedulingv1.EmployeeShift{}}
	commons, scheduling, local := rpctest.Local(t), rpctest.Local(t), rpctest.Local(t)
	commonsv1.RegisterPersonServiceServer(commons, b.commons)
	commonsv1.RegisterPersonPayServiceServer(commons, nobodyPaid{})
	schedulingv1.RegisterEmployeeDayServiceServer(scheduling, b.days)
	schedulingv1.RegisterLeaveServiceServer(scheduling, b.leave)
	b.service, err = timekeeping.New(t.Context(), timekeeping.Config{}, timekeeping.Deps{
		Backends: serve.Backends{
			Pool: b.pool, NATS: b.nats.Conn(), Clock: clock.System{}, Log: pgtest.Log(t), Registry: prometheus.NewRegistry(),
		},
		Commons: commons.Conn("timekeeping", nil), Scheduling: scheduling.Conn("timekeeping", nil),
	})
	require.NoError(t, err)
	b.service.Register(local)
	b.leaveCases = timekeepingv1.NewLeaveCaseServiceClient(local.Conn("test", nil))
	b.leaveEdits = timekeepingv1.NewLeaveEditServiceClient(local.Conn("test", nil))
	b.punches = timekeepingv1.NewPunchServiceClient(local.Conn("test", nil))
	b.staging = timekeepingv1.NewPayrollStagingServiceClient(local.Conn("test", nil))
	return b
}

func inTenant(t *testing.T, id int64) context.Context { return tenant.With(t.Context(), id) }

func assertCode(t *testing.T, err error, status int, code string) {
	t.Helper()
	require.Error(t, err)
	f := fault.FromError(err)
	assert.Equal(t, code, f.Code, f.Message)
	assert.Equal(t, status, f.Status)
}

func assertSame(t *testing.T, want, got proto.Message) {
	t.Helper()
	if !proto.Equal(want, got) {
		assert.Fail(t, "messages differ", "want %v\ngot  %v", want, got)
	}
}
