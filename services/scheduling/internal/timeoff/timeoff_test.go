package timeoff_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/requestsubtype"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedtest"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/timeoff"
)

// fixture has the employee 1 (Zurich), and a manager, 9, who sees everybody.
type fixture struct {
	*schedtest.Env
	t                     *testing.T
	manager               *timeoff.Manager
	employee              *timeoff.Employee
	edits                 *scheduleitem.PayCodeEdits
	asEmployee, asManager context.Context
	clock                 *clock.Fake
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	env := schedtest.New(t)
	w := &fixture{
		Env: env, t: t, clock: clock.NewFake(time.Date(2031, 3, 1, 23, 30, 0, 0, time.UTC)),
		asEmployee: schedtest.As(t.Context(), 1, rowvisibility.Own), asManager: schedtest.As(t.Context(), 9, rowvisibility.All),
	}
	directory := projection.NewResolver(env.Pool, nil, nil)
	reader := reading.NewReader(env.Pool, patterndefinition.New(patterndefinition.Settings{}, nil, nil))
	w.edits = scheduleitem.NewPayCodeEdits(scheduleitem.Deps{Pool: env.Pool, Directory: directory, Reader: reader, Wake: func() {}})
	deps := timeoff.Deps{
		Pool: env.Pool, Directory: directory, Schedules: w.edits, Subtypes: requestsubtype.New(env.Pool),
		Clock: w.clock, Wake: func() {},
	}
	w.manager, w.employee = timeoff.NewManager(deps), timeoff.NewEmployee(deps)
	env.Exec(t, "INSERT INTO employee VALUES (1, 1, 'P1', 'One', 'Europe/Zurich', 1), (1, 9, 'P9', 'Nine', 'UTC', 1)")
	return w
}

// asked is a request of the employee for whole days.
func (w *fixture) asked(first, last string) *schedulingv1.TimeOffRequest {
	w.t.Helper()
	made, err := w.employee.CreateEmployeeTimeOff(w.asEmployee, &schedulingv1.TimeOffRequest{
		RequestSubType: &schedulingv1.TimeOffSubtype{Id: proto.Int64(1)},
		Periods: []*schedulingv1.TimeOffPeriod{{
			StartDate: first, EndDate: last, PayCode: &commonv1.Ref{Qualifier: proto.String("PTO")}, SymbolicAmount: &commonv1.Ref{Id: proto.Int64(-1)},
		}},
	})
	require.NoError(w.t, err)
	return made
}

func (w *fixture) decide(id int64, to string) (*schedulingv1.TimeOffRequest, error) {
	return w.manager.ApplyUpdateTimeOff(w.asManager, &schedulingv1.ApplyUpdateTimeOffRequest{ChangeState: &schedulingv1.TimeOffStatusChange{
		Do:    &schedulingv1.TimeOffStatusDo{ToStatus: &schedulingv1.RequestStatus{SymbolicId: to}},
		Where: &schedulingv1.TimeOffStatusWhere{TimeOffRequestId: &id},
	}})
}

func (w *fixture) items() int { return w.Rows(w.t, "schedule_item")["schedule_item"] }

func TestTimesAreThoseOfTheEmployee(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	made := w.asked("2031-03-01", "2031-03-01")
	assert.Equal(t, "2031-03-02T00:30:00", made.GetCreateDateTime(), "it is past midnight there")
	assert.True(t, made.GetHistorical())
}

func TestDecisionsTakeTurns(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	made := w.asked("2031-03-03", "2031-03-06")
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
	assert.Equal(t, 4, w.items(), "each day once")
}

func TestRequestsOfOneDayTakeTurns(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			_, err := w.manager.CreateTimeOff(w.asManager, &schedulingv1.CreateTimeOffRequest{
				Employee: &commonv1.Ref{Id: proto.Int64(1)}, RequestSubType: &schedulingv1.TimeOffSubtype{Id: proto.Int64(1)},
				Periods: []*schedulingv1.TimeOffPeriod{{
					StartDate: "2031-03-03", PayCode: &commonv1.Ref{Qualifier: proto.String("PTO")}, SymbolicAmount: &commonv1.Ref{Qualifier: proto.String("FULL_DAY")},
				}},
			})
			if err != nil {
				assert.Equal(t, timeoff.CodeInconsistent, fault.FromError(err).Code)
			}
		})
	}
	group.Wait()
	assert.Equal(t, map[string]int{"time_off_request": 1, "schedule_item": 1}, w.Rows(t, "time_off_request", "schedule_item"))
}

// published returns how the last event shows the leave of the employee: the days that are
// whole, and the version.
func (w *fixture) published() (days, version int64) {
	w.t.Helper()
	var payload []byte
	require.NoError(w.t, w.Pool.QueryRow(w.Ctx, `SELECT payload FROM outbox WHERE event = 'rotaloom.scheduling.v1.LeaveTaken' ORDER BY id DESC LIMIT 1`).Scan(&payload))
	event := &schedulingv1.LeaveTaken{}
	require.NoError(w.t, proto.Unmarshal(payload, event))
	require.Len(w.t, event.GetEmployees(), 1)
	assert.False(w.t, event.GetEmployees()[0].GetDeleted())
	return int64(len(event.GetEmployees()[0].GetIntervals())), event.GetEmployees()[0].GetVersion()
}

func TestTimeOffIsPublishedWithLeave(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	made := w.asked("2031-03-03", "2031-03-04")
	_, err := w.decide(made.GetId(), "APPROVED")
	require.NoError(t, err)
	days, version := w.published()
	assert.EqualValues(t, 2, days)
	assert.EqualValues(t, 1, version)

	var id int64
	require.NoError(t, w.Pool.QueryRow(w.Ctx, "SELECT min(id) FROM schedule_item").Scan(&id))
	_, err = w.edits.DeletePayCodeEdit(w.asManager, &schedulingv1.DeletePayCodeEditRequest{Id: id})
	require.NoError(t, err)
	days, version = w.published()
	assert.EqualValues(t, 1, days, "a planner took one day back by hand")
	assert.EqualValues(t, 2, version)

	cancelled, err := w.decide(made.GetId(), "CANCELLED")
	require.NoError(t, err)
	assert.Empty(t, cancelled.GetApprovalPeriods())
	days, version = w.published()
	assert.EqualValues(t, 0, days)
	assert.EqualValues(t, 3, version)
	assert.Zero(t, w.items())
}

func TestSubtypesThatDecideByThemselves(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	schedulingv1.RegisterRequestSubtypeServiceServer(w.Local, requestsubtype.New(w.Pool))
	sick, err := schedulingv1.NewRequestSubtypeServiceClient(w.Conn()).CreateRequestSubtype(w.Ctx, &schedulingv1.RequestSubtype{TimeOffRequest: &schedulingv1.TimeOffRequestSubtype{
		Name: "Sick", AutomaticApproval: proto.Bool(true), AutomaticApprovalForCancellation: proto.Bool(true),
		DefaultPayCode: &commonv1.Ref{Qualifier: proto.String("Sick")},
	}})
	require.NoError(t, err)
	made, err := w.employee.CreateEmployeeTimeOff(w.asEmployee, &schedulingv1.TimeOffRequest{
		RequestSubType: &schedulingv1.TimeOffSubtype{Id: sick.GetTimeOffRequest().Id},
		Periods:        []*schedulingv1.TimeOffPeriod{{StartDate: "2031-03-03", Duration: proto.Float64(1.5)}},
	})
	require.NoError(t, err)
	assert.Equal(t, "APPROVED", made.GetCurrentStatus().GetSymbolicId())
	assert.Equal(t, "Sick", made.GetPeriods()[0].GetPayCode().GetQualifier())
	changed, err := w.employee.ApplyUpdateEmployeeTimeOff(w.asEmployee, &schedulingv1.ApplyUpdateTimeOffRequest{ChangeState: &schedulingv1.TimeOffStatusChange{
		Do:    &schedulingv1.TimeOffStatusDo{ToStatus: &schedulingv1.RequestStatus{Id: proto.Int64(8)}},
		Where: &schedulingv1.TimeOffStatusWhere{TimeOffRequestId: made.Id},
	}})
	require.NoError(t, err)
	assert.Equal(t, "CANCELLED", changed.GetTimeOff().GetCurrentStatus().GetSymbolicId())
	assert.Zero(t, w.items())
}
