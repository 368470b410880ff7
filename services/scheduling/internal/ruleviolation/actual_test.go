package ruleviolation

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/ruleevaluation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulerule"
)

// timekeeping keeps what it is asked, or fails.
type timekeeping struct {
	requests []*timekeepingv1.ReadWorkedShiftsRequest
	err      error
}

func (k *timekeeping) ReadWorkedShifts(_ context.Context, req *timekeepingv1.ReadWorkedShiftsRequest, _ ...grpc.CallOption) (*timekeepingv1.ReadWorkedShiftsResponse, error) {
	k.requests = append(k.requests, req)
	return &timekeepingv1.ReadWorkedShiftsResponse{}, k.err
}

func usingActualHours(actual bool, rules ...ruleevaluation.Rule) *plan {
	return &plan{forAllEmployees: 1, sets: []set{{ref: &commonv1.Ref{Id: proto.Int64(1), Qualifier: proto.String("Real")}, rules: rules, actual: actual}}}
}

func employeesIn(t *testing.T, zone string, count int) []projection.Employee {
	t.Helper()
	known, err := civil.LoadZone(zone)
	require.NoError(t, err)
	out := make([]projection.Employee, count)
	for i := range out {
		out[i] = projection.Employee{ID: int64(i + 1), Zone: known}
	}
	return out
}

func TestTimekeepingIsAskedInBoundedCalls(t *testing.T) {
	t.Parallel()
	// It is the third on Kiritimati, and the second elsewhere.
	now := time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC)
	rule := ruleevaluation.Rule{ID: schedulerule.MaxHoursDay, Limit: 8}
	day := func(month time.Month, day int) civil.Date { return civil.Of(2026, month, day) }
	for name, c := range map[string]struct {
		plan      *plan
		employees int
		days      civil.Range
		calls     int
		from, to  civil.Date // of all calls
	}{
		"past days":                  {usingActualHours(true, rule), 3, civil.Range{From: day(2, 1), To: day(2, 8)}, 1, day(1, 30), day(2, 10)},
		"up to today":                {usingActualHours(true, rule), 3, civil.Range{From: day(3, 1), To: day(4, 1)}, 1, day(2, 27), day(3, 5)},
		"none of the future":         {usingActualHours(true, rule), 3, civil.Range{From: day(5, 1), To: day(5, 8)}, 0, 0, 0},
		"none for what is planned":   {usingActualHours(false, rule), 3, civil.Range{From: day(2, 1), To: day(2, 8)}, 0, 0, 0},
		"none without rules":         {usingActualHours(true), 3, civil.Range{From: day(2, 1), To: day(2, 8)}, 0, 0, 0},
		"many employees":             {usingActualHours(true, rule), 1000, civil.Range{From: day(2, 1), To: day(2, 2)}, 2, day(1, 30), day(2, 4)},
		"many employees and days":    {usingActualHours(true, rule), 1000, civil.Range{From: day(2, 1), To: day(3, 1)}, 3, day(1, 30), day(3, 3)},
		"years, at most a year each": {usingActualHours(true, rule), 2, civil.Range{From: civil.Of(2020, time.January, 1), To: day(2, 8)}, 7, civil.Of(2019, time.December, 30), day(2, 10)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			known := &timekeeping{}
			h := New(Deps{Worked: known, Clock: clock.NewFake(now)})
			_, err := h.actualOf(t.Context(), c.plan, c.days, employeesIn(t, "Pacific/Kiritimati", c.employees))
			require.NoError(t, err)
			require.Len(t, known.requests, c.calls)
			employeeDays := 0
			for _, req := range known.requests {
				length := int(req.GetTo() - req.GetFrom())
				assert.LessOrEqual(t, len(req.GetEmployeeIds()), maxWorkedEmployees)
				assert.LessOrEqual(t, length, maxWorkedDays)
				assert.LessOrEqual(t, len(req.GetEmployeeIds())*length, maxWorkedEmployeeDays)
				employeeDays += len(req.GetEmployeeIds()) * length
			}
			if c.calls > 0 {
				assert.Equal(t, c.from, civil.Date(known.requests[0].GetFrom()))
				assert.Equal(t, c.to, civil.Date(known.requests[c.calls-1].GetTo()))
				assert.Equal(t, c.employees*int(c.to-c.from), employeeDays, "each employee and day once")
			}
		})
	}
}

func TestActualHoursNeedTimekeeping(t *testing.T) {
	t.Parallel()
	days := civil.Range{From: civil.Of(2026, time.February, 1), To: civil.Of(2026, time.February, 8)}
	actual := usingActualHours(true, ruleevaluation.Rule{ID: schedulerule.MaxHoursDay, Limit: 8})
	deps := Deps{Worked: &timekeeping{err: status.Error(codes.Unavailable, "away")}, Clock: clock.NewFake(time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC))}
	_, err := New(deps).actualOf(t.Context(), actual, days, employeesIn(t, "UTC", 1))
	assert.Equal(t, http.StatusServiceUnavailable, fault.FromError(err).Status)

	reader := authn.With(t.Context(), &authn.Principal{Subject: "planner", Permissions: []string{"scheduling.schedule.read"}}, "")
	_, err = New(deps).actualOf(reader, actual, days, employeesIn(t, "UTC", 1))
	assert.Equal(t, fault.CodeNoAccess, fault.FromError(err).Code, "and the permission to read timecards")
	assert.Contains(t, err.Error(), readTimecards)
}
