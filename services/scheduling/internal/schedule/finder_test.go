package schedule_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// commons knows the hyperfinds "Two", of P1 and P2, and "None", the location
// "Acme/Dock", of P2, and the period 7, which is 2 and 3 March 2025.
type commons struct{}

func (commons) ExecuteHyperfind(_ context.Context, req *commonsv1.ExecuteHyperfindRequest, _ ...grpc.CallOption) (*commonsv1.HyperfindResponse, error) {
	found := map[string][]int64{"Two": {1, 2}, "None": {}, "Acme/Dock": {2}, "Many": nil}
	name := req.GetHyperfind().GetQualifier()
	if len(req.GetLocations()) == 1 {
		name = req.GetLocations()[0].GetQualifier()
	}
	ids, ok := found[name]
	switch {
	case !ok:
		return nil, fault.Invalid("WCO-112007", "There is none.")
	case ids == nil:
		return nil, fault.Invalid("WCO-112003", "Too many.")
	case req.GetDateRange().GetStartDate() != "2025-03-02" || req.GetDateRange().GetEndDate() != "2025-03-03":
		return nil, fmt.Errorf("asked for %v", req.GetDateRange())
	}
	list := &commonsv1.HyperfindRefList{}
	for _, id := range ids {
		list.Refs = append(list.Refs, &commonv1.Ref{Id: proto.Int64(id)})
	}
	return &commonsv1.HyperfindResponse{Result: &commonsv1.HyperfindResult{Refs: list}}, nil
}

func (commons) ReadSymbolicPeriod(_ context.Context, req *commonsv1.ReadSymbolicPeriodRequest, _ ...grpc.CallOption) (*commonsv1.SymbolicPeriodSpan, error) {
	if req.GetWhere().GetSymbolicPeriodId() != "7" {
		return nil, fault.Invalid("WCO-106019", "There is none.")
	}
	return &commonsv1.SymbolicPeriodSpan{StartDate: "2025-03-02", EndDate: "2025-03-03"}, nil
}

func TestHyperfindsLocationsAndPeriodsStandForEmployeesAndDays(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.pattern(cycle(1, shift(1, "08:00", "16:00")))
	for id := range int64(3) {
		f.employee(id+1, "UTC")
		f.span(span{employee: id + 1, from: "2025-03-01", to: "2025-03-10", pattern: p})
	}
	name := func(text string) *commonv1.Ref { return &commonv1.Ref{Qualifier: &text} }
	period := &commonv1.DateRange{SymbolicPeriod: &commonv1.Ref{Id: proto.Int64(7)}}
	dates := &commonv1.DateRange{StartDate: "2025-03-02", EndDate: "2025-03-03"}
	acme := &commonv1.RefList{Qualifiers: []string{"Acme/Dock"}}
	both := []string{"P1 2025-03-02T08:00:00", "P1 2025-03-03T08:00:00", "P2 2025-03-02T08:00:00", "P2 2025-03-03T08:00:00"}
	for what, c := range map[string]struct {
		where *schedulingv1.ScheduleWhere
		want  []string
	}{
		"a period":              {&schedulingv1.ScheduleWhere{Employees: &schedulingv1.EmployeeSchedules{Employees: &commonv1.RefList{Ids: []int64{2}}, DateRange: period}}, both[2:]},
		"a hyperfind":           {&schedulingv1.ScheduleWhere{HyperFind: &schedulingv1.HyperFindSchedules{HyperFind: name("Two"), DateRange: dates}}, both},
		"a hyperfind, flat":     {&schedulingv1.ScheduleWhere{HyperFind: &schedulingv1.HyperFindSchedules{HyperFindRef: name("Two"), StartDate: "2025-03-02", EndDate: "2025-03-03"}}, both},
		"a hyperfind, a period": {&schedulingv1.ScheduleWhere{HyperFind: &schedulingv1.HyperFindSchedules{HyperFind: name("Two"), DateRange: period}}, both},
		"nobody":                {&schedulingv1.ScheduleWhere{HyperFind: &schedulingv1.HyperFindSchedules{HyperFind: name("None"), DateRange: dates}}, []string{}},
		"a location":            {&schedulingv1.ScheduleWhere{Locations: &schedulingv1.LocationSchedules{Locations: acme, DateRange: dates}}, both[2:]},
		"a location, flat":      {&schedulingv1.ScheduleWhere{Locations: &schedulingv1.LocationSchedules{LocationRefs: acme, StartDate: "2025-03-02", EndDate: "2025-03-03"}}, both[2:]},
	} {
		t.Run(what, func(t *testing.T) {
			assert.Equal(t, c.want, starts(f.read(&schedulingv1.MultiReadScheduleRequest{Where: c.where}).GetShifts()), what)
		})
	}

	got, err := f.client.GetSchedule(f.Ctx, &schedulingv1.GetScheduleRequest{HyperfindName: proto.String("Two"), SymbolicPeriodId: proto.Int64(7)})
	require.NoError(t, err)
	assert.Equal(t, both, starts(decode(t, got).GetShifts()))
	status, err := f.client.MultiReadScheduleStatus(f.Ctx, &schedulingv1.MultiReadScheduleStatusRequest{Where: &schedulingv1.ScheduleStatusWhere{
		HyperFind: &schedulingv1.HyperFindSchedules{HyperFind: name("Two"), DateRange: dates},
	}})
	require.NoError(t, err)
	assert.Len(t, status.GetEmployeeStatus().GetEmployeeStatus(), 2)

	_, err = f.client.GetSchedule(f.Ctx, &schedulingv1.GetScheduleRequest{HyperfindName: proto.String("Many"), SymbolicPeriodId: proto.Int64(7)})
	assert.True(t, fault.HasCode(fault.FromError(err), "WCO-112003"), "a limit is returned as it comes: %v", err)
}

// ResolveLocations knows the dock.
func (commons) ResolveLocations(_ context.Context, req *commonsv1.ResolveLocationsRequest, _ ...grpc.CallOption) (*commonsv1.ResolveLocationsResponse, error) {
	out := &commonsv1.ResolveLocationsResponse{}
	for _, path := range req.GetPaths() {
		if path == "Acme/Dock" {
			out.Locations = append(out.Locations, &commonsv1.ResolvedLocation{AskedPath: path, Location: &commonsv1.Location{
				NodeId: proto.Int64(7), Name: proto.String("Dock"), OrgPath: path,
				ParentNodeRef: &commonv1.Ref{Id: proto.Int64(1), Qualifier: proto.String("Acme")},
			}})
		}
	}
	return out, nil
}
