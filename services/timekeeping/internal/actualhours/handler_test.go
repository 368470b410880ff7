package actualhours

import (
	"context"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/rpc/client"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/calculation"
)

// rules replaces scheduling. It needs worked shifts, and finds one violation for each employee with
// worked shifts.
type rules struct {
	need     *schedulingv1.WorkedShiftsNeeded
	requests []*schedulingv1.EvaluateRulesRequest
	// changes is how often rule sets change while they are evaluated.
	changes int
}

func (r *rules) EvaluateRules(_ context.Context, req *schedulingv1.EvaluateRulesRequest, _ ...grpc.CallOption) (*schedulingv1.EvaluateRulesResponse, error) {
	r.requests = append(r.requests, req)
	if r.need == nil {
		return &schedulingv1.EvaluateRulesResponse{Result: &schedulingv1.ScheduleRuleViolations{Violations: []*schedulingv1.ScheduleRuleViolation{{Unit: "Hours"}}}}, nil
	}
	if req.GetWorked() == nil {
		return &schedulingv1.EvaluateRulesResponse{Needed: r.need}, nil
	}
	if r.changes > 0 {
		r.changes--
		return &schedulingv1.EvaluateRulesResponse{Needed: &schedulingv1.WorkedShiftsNeeded{}}, nil
	}
	out := &schedulingv1.ScheduleRuleViolations{}
	for _, id := range req.GetEvaluation().GetWhere().GetEmployees().GetIds() {
		out.Violations = append(out.Violations, &schedulingv1.ScheduleRuleViolation{Employee: &commonv1.Ref{Id: &id}})
	}
	return &schedulingv1.EvaluateRulesResponse{Result: out}, nil
}

// reading is one read request.
type reading struct {
	ids  []int64
	days civil.Range
}

// worked returns one shift a day of each employee, with the given number of intervals, and records
// its requests.
type worked struct {
	intervals int
	readings  []reading
	err       error
}

func (w *worked) WorkedShifts(_ context.Context, ids []int64, days civil.Range) ([]*schedulingv1.EmployeeWorkedShifts, error) {
	w.readings = append(w.readings, reading{ids, days})
	var out []*schedulingv1.EmployeeWorkedShifts
	for _, id := range ids {
		of := &schedulingv1.EmployeeWorkedShifts{EmployeeId: id}
		for day := days.From; day < days.To; day++ {
			work := slices.Repeat([]int64{int64(day)*86_400 + 1_000_000}, 2*w.intervals)
			of.Shifts = append(of.Shifts, &schedulingv1.WorkedShift{Start: int64(day) * 86_400, Work: work})
		}
		out = append(out, of)
	}
	return out, w.err
}

func numbers(count int) []int64 {
	out := make([]int64, count)
	for i := range out {
		out[i] = int64(count - i) // In an order of the request's own.
	}
	return out
}

// request is a client's request for many employees.
func request() *schedulingv1.EvaluateScheduleRulesRequest {
	return &schedulingv1.EvaluateScheduleRulesRequest{Where: &schedulingv1.ScheduleRuleEvaluationWhere{
		Employees: &commonv1.RefList{Qualifiers: []string{"P1", "P2"}}, DateRange: &commonv1.DateRange{StartDate: "2026-03-01", EndDate: "2026-03-08"},
		RuleSets: &commonv1.RefList{Ids: []int64{5}}, MinimumSeverity: &schedulingv1.ScheduleRuleProperty{Id: proto.Int64(3)}, Context: &commonv1.Ref{Id: proto.Int64(-2)},
	}}
}

func TestRulesOnWhatIsScheduledNeedOneCall(t *testing.T) {
	t.Parallel()
	scheduling, source := &rules{}, &worked{}
	result, err := New(scheduling, source).EvaluateScheduleRules(tenant.With(t.Context(), 1), request())
	require.NoError(t, err)
	assert.Len(t, result.GetViolations(), 1)
	require.Len(t, scheduling.requests, 1)
	assert.True(t, proto.Equal(&schedulingv1.EvaluateRulesRequest{Evaluation: request()}, scheduling.requests[0]))
	assert.Empty(t, source.readings, "no timecard is calculated")
}

func TestWorkedShiftsAreReadAndSentInBoundedParts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		employees, days int
		intervals       int
		readings, calls int
	}{
		"a few":                         {3, 14, 1, 1, 1},
		"days to come":                  {3, 0, 1, 0, 1},
		"many employees":                {1000, 4, 1, 2, 2},
		"many employees and days":       {1000, 32, 1, 3, 3},
		"years, at most a year at once": {2, 2500, 1, 7, 1},
		"lifetimes":                     {1, 28_000, 1, 77, 1},
		"shifts of many parts":          {40, 300, 80, 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ids := numbers(c.employees)
			scheduling, source := &rules{need: &schedulingv1.WorkedShiftsNeeded{From: 100, To: int32(100 + c.days), EmployeeIds: ids, RuleSet: "Real"}}, &worked{intervals: c.intervals}
			result, err := New(scheduling, source).EvaluateScheduleRules(tenant.With(t.Context(), 1), request())
			require.NoError(t, err)
			var found []int64
			for _, v := range result.GetViolations() {
				found = append(found, v.GetEmployee().GetId())
			}
			assert.Equal(t, ids, found, "each employee once, in the order of the request")
			assert.Len(t, source.readings, c.readings)
			read := 0
			for _, r := range source.readings {
				assert.LessOrEqual(t, len(r.ids), calculation.MaxEmployees)
				assert.LessOrEqual(t, r.days.Days(), calculation.MaxDays)
				assert.LessOrEqual(t, len(r.ids)*r.days.Days(), maxEmployeeDays)
				read += len(r.ids) * r.days.Days()
			}
			assert.Equal(t, c.employees*c.days, read, "each employee and day once")
			require.Equal(t, 1+c.calls, len(scheduling.requests)) // The list itself would be a very long message.
			before, sent := 0, 0
			for _, req := range scheduling.requests[1:] {
				assert.Less(t, proto.Size(req), client.DefaultSizes().MaxRequest)
				assert.Equal(t, before, int(req.GetViolationsBefore()))
				assert.Equal(t, []int32{100, int32(100 + c.days)}, []int32{req.GetWorked().GetFrom(), req.GetWorked().GetTo()})
				where := proto.CloneOf(request().GetWhere())
				where.Employees = req.GetEvaluation().GetWhere().GetEmployees()
				assert.True(t, proto.Equal(where, req.GetEvaluation().GetWhere()), "what else the client says stays")
				before += len(where.GetEmployees().GetIds())
				for _, e := range req.GetWorked().GetEmployees() {
					assert.Contains(t, where.GetEmployees().GetIds(), e.GetEmployeeId())
					sent += len(e.GetShifts())
				}
			}
			assert.Equal(t, read, sent)
		})
	}
}

func TestTooManyWorkedShiftsOfAnEmployeeAreRefused(t *testing.T) {
	t.Parallel()
	scheduling := &rules{need: &schedulingv1.WorkedShiftsNeeded{From: 0, To: 300, EmployeeIds: []int64{4}, RuleSet: "Real"}}
	_, err := New(scheduling, &worked{intervals: 3000}).EvaluateScheduleRules(tenant.With(t.Context(), 1), request())
	assert.True(t, fault.HasCode(err, fault.CodeItemLimit), err)
	assert.True(t, fault.HasStatus(err, http.StatusRequestEntityTooLarge), err)
}

func TestActualHoursNeedThePermissionForTimecards(t *testing.T) {
	t.Parallel()
	with := func(permissions ...string) context.Context {
		return authn.With(tenant.With(t.Context(), 1), &authn.Principal{Subject: "planner", Tenant: 1, Permissions: permissions}, "")
	}
	need := &schedulingv1.WorkedShiftsNeeded{To: 10, EmployeeIds: []int64{1}, RuleSet: "Real"}
	source := &worked{}
	_, err := New(&rules{need: need}, source).EvaluateScheduleRules(with("scheduling.schedule.read"), request())
	assert.True(t, fault.HasCode(err, fault.CodeNoAccess), err)
	assert.ErrorContains(t, err, `The rule set "Real" uses actual hours: it needs the permission timekeeping.timecard.read.`)
	assert.Empty(t, source.readings)
	_, err = New(&rules{need: need}, source).EvaluateScheduleRules(with("scheduling.schedule.read", readTimecards), request())
	require.NoError(t, err)
	_, err = New(&rules{}, source).EvaluateScheduleRules(with("scheduling.schedule.read"), request())
	require.NoError(t, err, "what is scheduled needs no other permission")
}

func TestRuleSetsThatChangeAreEvaluatedAgain(t *testing.T) {
	t.Parallel()
	need := &schedulingv1.WorkedShiftsNeeded{To: 10, EmployeeIds: []int64{1}, RuleSet: "Real"}
	result, err := New(&rules{need: need, changes: attempts - 1}, &worked{}).EvaluateScheduleRules(tenant.With(t.Context(), 1), request())
	require.NoError(t, err)
	assert.Len(t, result.GetViolations(), 1)
	_, err = New(&rules{need: need, changes: attempts}, &worked{}).EvaluateScheduleRules(tenant.With(t.Context(), 1), request())
	assert.True(t, fault.HasStatus(err, http.StatusServiceUnavailable), err)
}

func TestNothingIsEvaluatedWithoutTheScheduleOrTimecards(t *testing.T) {
	t.Parallel()
	need := &schedulingv1.WorkedShiftsNeeded{To: 10, EmployeeIds: []int64{1}, RuleSet: "Real"}
	_, err := New(&rules{need: need}, &worked{err: status.Error(codes.Unavailable, "away")}).EvaluateScheduleRules(tenant.With(t.Context(), 1), request())
	assert.Equal(t, http.StatusServiceUnavailable, fault.FromError(err).Status)
}
