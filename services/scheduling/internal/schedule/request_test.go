package schedule_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

func TestDialectsReadTheSame(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.employee(1, "UTC")
	f.employee(2, "UTC")
	p := f.pattern(cycle(1, shift(1, "08:00", "16:00")))
	f.span(span{employee: 1, from: "2025-03-01", to: "2025-03-04", pattern: p})
	f.span(span{employee: 2, from: "2025-03-01", to: "2025-03-04", pattern: p})

	flat := f.read(window("2025-03-02", "2025-03-03", nil, 2))
	nested := func(list *commonv1.RefList) *schedulingv1.MultiReadScheduleRequest {
		return &schedulingv1.MultiReadScheduleRequest{Where: &schedulingv1.ScheduleWhere{Employees: &schedulingv1.EmployeeSchedules{
			Employees: list, DateRange: &commonv1.DateRange{StartDate: "2025-03-02", EndDate: "2025-03-03"},
		}}}
	}
	require.Len(t, flat.GetShifts().GetShifts(), 2)
	for i, list := range []*commonv1.RefList{
		{Ids: []int64{2}}, {Qualifiers: []string{"P2"}}, {Refs: []*commonv1.Ref{{Qualifier: proto.String("P2")}}}, {Ids: []int64{2, 2}},
	} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			assert.Equal(t, flat.String(), f.read(nested(list)).String(), list)
		})
	}
	assert.Equal(t, []string{"P1 2025-03-02T08:00:00", "P1 2025-03-03T08:00:00", "P2 2025-03-02T08:00:00", "P2 2025-03-03T08:00:00"},
		starts(f.read(nested(nil)).GetShifts()), "an empty list means everybody")

	get := func(req *schedulingv1.GetScheduleRequest) *schedulingv1.Schedule {
		req.StartDate = "2025-03-02"
		req.EndDate = "2025-03-04"
		response, err := f.client.GetSchedule(f.Ctx, req)
		require.NoError(t, err)
		return decode(t, response)
	}
	assert.Equal(t, flat.String(), get(&schedulingv1.GetScheduleRequest{EmployeeId: proto.Int64(2)}).String(), "the end is not included")
	assert.Equal(t, flat.String(), get(&schedulingv1.GetScheduleRequest{PersonNumber: proto.String("P2")}).String())
	oneDay, err := f.client.GetSchedule(f.Ctx, &schedulingv1.GetScheduleRequest{
		EmployeeId: proto.Int64(2), StartDate: "2025-03-02", EndDate: "2025-03-02",
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"P2 2025-03-02T08:00:00"}, starts(decode(t, oneDay).GetShifts()), "equal dates are that day")
}

func TestRefusedReads(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.employee(1, "UTC")
	list := &commonv1.RefList{Ids: []int64{1}}
	good := func() *schedulingv1.EmployeeSchedules {
		return &schedulingv1.EmployeeSchedules{EmployeeRefs: list, StartDate: "2025-03-02", EndDate: "2025-03-03"}
	}
	by := func(e *schedulingv1.EmployeeSchedules) *schedulingv1.MultiReadScheduleRequest {
		return &schedulingv1.MultiReadScheduleRequest{Where: &schedulingv1.ScheduleWhere{Employees: e}}
	}
	period := &commonv1.Ref{Qualifier: proto.String("Current_Payperiod")}
	cases := map[string]struct {
		req    *schedulingv1.MultiReadScheduleRequest
		code   string
		status int
	}{
		"nothing":       {&schedulingv1.MultiReadScheduleRequest{}, "WFS-111208", 400},
		"two criteria":  {&schedulingv1.MultiReadScheduleRequest{Where: &schedulingv1.ScheduleWhere{Employees: good(), Locations: &schedulingv1.LocationSchedules{}}}, "WFS-111207", 400},
		"both dialects": {by(&schedulingv1.EmployeeSchedules{EmployeeRefs: list, DateRange: &commonv1.DateRange{StartDate: "2025-03-02"}}), "WFS-111207", 400},
		"no start":      {by(&schedulingv1.EmployeeSchedules{EmployeeRefs: list, EndDate: "2025-03-02"}), "WFS-103907", 400},
		"no end":        {by(&schedulingv1.EmployeeSchedules{Employees: list, DateRange: &commonv1.DateRange{StartDate: "2025-03-02"}}), "WFS-103908", 400},
		"end first":     {by(&schedulingv1.EmployeeSchedules{EmployeeRefs: list, StartDate: "2025-03-02", EndDate: "2025-03-01"}), "WFS-111203", 400},
		"a period":      {by(&schedulingv1.EmployeeSchedules{Employees: list, DateRange: &commonv1.DateRange{SymbolicPeriod: period}}), "WFS-104501", 400},
		"a period and dates": {by(&schedulingv1.EmployeeSchedules{Employees: list, DateRange: &commonv1.DateRange{
			SymbolicPeriod: period, StartDate: "2025-03-02",
		}}), "WFS-111207", 400},
		"a hyperfind": {&schedulingv1.MultiReadScheduleRequest{Where: &schedulingv1.ScheduleWhere{HyperFind: &schedulingv1.HyperFindSchedules{
			HyperFind: period, DateRange: &commonv1.DateRange{StartDate: "2025-03-02", EndDate: "2025-03-02"},
		}}}, "WTK-147500", 400},
		"a location": {&schedulingv1.MultiReadScheduleRequest{Where: &schedulingv1.ScheduleWhere{Locations: &schedulingv1.LocationSchedules{
			LocationRefs: &commonv1.RefList{Qualifiers: []string{"Acme"}}, StartDate: "2025-03-02", EndDate: "2025-03-02",
		}}}, "WFS-103901", 400},
		"no location":     {&schedulingv1.MultiReadScheduleRequest{Where: &schedulingv1.ScheduleWhere{Locations: &schedulingv1.LocationSchedules{}}}, "WFS-111201", 400},
		"unknown select":  {&schedulingv1.MultiReadScheduleRequest{Select: []string{"SHIFTS", "PUNCHES"}, Where: &schedulingv1.ScheduleWhere{Employees: good()}}, "WFS-100903", 400},
		"unknown order":   {&schedulingv1.MultiReadScheduleRequest{OrderBy: []string{"NAME"}, Where: &schedulingv1.ScheduleWhere{Employees: good()}}, "WFS-100903", 400},
		"unknown person":  {window("2025-03-02", "2025-03-02", nil, 1, 99), "WFS-103401", 400},
		"too much named":  {window("2025-03-02", "2225-03-02", nil, 1), "WFP-90001", 413},
		"too much of all": {window("2025-03-02", "2225-03-02", nil), "WFP-90001", 413},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := f.client.MultiReadSchedule(f.Ctx, c.req)
			got := fault.FromError(err)
			require.NotNil(t, got)
			assert.Equal(t, c.code, got.Code, got.Message)
			assert.Equal(t, c.status, got.Status)
		})
	}
	_, err := f.client.MultiReadSchedule(f.Ctx, cases["unknown select"].req)
	assert.Contains(t, fault.FromError(err).Message, "PUNCHES")
}

func TestRefusedGets(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id, name := proto.Int64(1), proto.String("x")
	for code, req := range map[string]*schedulingv1.GetScheduleRequest{
		"WFS-111208": {StartDate: "2025-03-02", EndDate: "2025-03-03"},
		"WFS-111207": {StartDate: "2025-03-02", EndDate: "2025-03-03", EmployeeId: id, LocationId: id},
		"WFS-103907": {EndDate: "2025-03-03", EmployeeId: id},
		"WFS-103908": {StartDate: "2025-03-03", EmployeeId: id},
		"WFS-111203": {StartDate: "2025-03-03", EndDate: "2025-03-02", EmployeeId: id},
		"WFS-104501": {SymbolicPeriodName: name, EmployeeId: id},
		"WTK-147500": {StartDate: "2025-03-02", EndDate: "2025-03-03", HyperfindName: name},
		"WFS-103901": {StartDate: "2025-03-02", EndDate: "2025-03-03", LocationPath: name},
		"WFS-103401": {StartDate: "2025-03-02", EndDate: "2025-03-03", PersonNumber: name},
	} {
		t.Run(code, func(t *testing.T) {
			_, err := f.client.GetSchedule(f.Ctx, req)
			assert.True(t, fault.HasCode(fault.FromError(err), code), "%s: %v", code, err)
		})
	}
}

func TestLimitIsExact(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.employee(1, "UTC")
	f.employee(2, "UTC")
	// 28,000 days from 2000-01-01 end on 2076-08-28.
	for i, employees := range [][]int64{{1, 2}, nil} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			got := f.read(window("2000-01-01", "2076-08-28", []string{"SCHEDULEDAYS"}, employees...))
			assert.Len(t, got.GetScheduleDayList().GetDays(), 56_000)

			_, err := f.client.MultiReadSchedule(f.Ctx, window("2000-01-01", "2076-08-29", []string{"SCHEDULEDAYS"}, employees...))
			refused := fault.FromError(err)
			assert.Equal(t, 413, refused.Status)
			assert.Equal(t, "Service limits are exceeded: employees * days in the request: 56002, allowed: 56000. Split the request into several.", refused.Message)
			require.Len(t, refused.Details.GetLimits(), 1)
			assert.EqualValues(t, 56_002, refused.Details.GetLimits()[0].GetActual())
			assert.EqualValues(t, 56_000, refused.Details.GetLimits()[0].GetMaximum())
		})
	}
	open := f.read(window("2000-01-01", "2076-08-29", []string{"OPENSHIFTS"}))
	assert.Empty(t, open.GetOpenShifts().GetShifts(), "open shifts alone are not bounded by employees")
}

func TestResponsesAreBounded(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.employee(1, "UTC")
	large := shift(1, "08:00", "16:00")
	large.ShiftTemplate.Label = strings.Repeat("x", 100_000)
	f.span(span{employee: 1, from: "2025-03-01", to: "2030-03-01", pattern: f.pattern(cycle(1, large))})
	assert.Len(t, f.read(window("2025-03-01", "2025-03-10", onlyShifts(), 1)).GetShifts().GetShifts(), 10)

	_, err := f.client.MultiReadSchedule(f.Ctx, window("2025-03-01", "2027-03-01", onlyShifts(), 1))
	refused := fault.FromError(err)
	assert.Equal(t, 413, refused.Status)
	assert.Equal(t, fault.CodeTooLarge, refused.Code)
}

func TestEmployeesComeAsAsked(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for id := range int64(3) {
		f.employee(id+1, "UTC")
	}
	got := f.read(window("2025-03-01", "2025-03-01", []string{"EMPLOYEES", "SCHEDULEDAYS"}, 3, 1, 2, 3))
	var employees, days []int64
	for _, e := range got.GetEmployees().GetEmployees() {
		employees = append(employees, e.GetId())
	}
	for _, d := range got.GetScheduleDayList().GetDays() {
		days = append(days, d.GetEmployee().GetId())
	}
	assert.Equal(t, []int64{3, 1, 2}, employees)
	assert.Equal(t, []int64{3, 1, 2}, days)
}

func TestOrders(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.employee(1, "UTC")
	f.employee(2, "UTC")
	job := func(start, end, path string) *schedulingv1.SchedulePatternItem {
		s := segment(start, end, regular())
		s.OrgNode = ref(1, path)
		return shift(1, start, end, s)
	}
	f.span(span{employee: 1, from: "2025-03-01", to: "2025-03-03", pattern: f.pattern(cycle(1, job("08:00", "20:00", "B"), job("06:00", "07:00", "C")))})
	f.span(span{employee: 2, from: "2025-03-01", to: "2025-03-03", pattern: f.pattern(cycle(1, job("07:00", "15:00", "A")))})
	for order, want := range map[string][]string{
		"":          {"P2 07:00", "P2 07:00", "P1 06:00", "P1 08:00", "P1 06:00", "P1 08:00"}, // as asked
		"employees": {"P1 06:00", "P1 08:00", "P1 06:00", "P1 08:00", "P2 07:00", "P2 07:00"},
		"STARTDATE": {"P1 06:00", "P2 07:00", "P1 08:00", "P1 06:00", "P2 07:00", "P1 08:00"},
		"ENDDATE":   {"P1 06:00", "P2 07:00", "P1 08:00", "P1 06:00", "P2 07:00", "P1 08:00"},
		"LOCATIONS": {"P2 07:00", "P2 07:00", "P1 08:00", "P1 08:00", "P1 06:00", "P1 06:00"},
	} {
		t.Run(order, func(t *testing.T) {
			req := window("2025-03-01", "2025-03-02", onlyShifts(), 2, 1)
			if order != "" {
				req.OrderBy = []string{order}
			}
			var got []string
			for _, s := range f.read(req).GetShifts().GetShifts() {
				got = append(got, fmt.Sprintf("%s %s", s.GetEmployee().GetQualifier(), s.GetStartDateTime()[11:16]))
			}
			assert.Equal(t, want, got, order)
		})
	}
}
