package request_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/request"
)

// Codes of the specified API.
const (
	invalidValue = "WFS-100903"
	noStartDate  = "WFS-103907"
	noEndDate    = "WFS-103908"
	missing      = "WFS-111201"
	dateOrder    = "WFS-111203"
	oneCriterion = "WFS-111207"
	noCriterion  = "WFS-111208"
)

func week() *commonv1.DateRange {
	return &commonv1.DateRange{StartDate: "2026-03-02", EndDate: "2026-03-08"}
}

func ofEmployees(e *schedulingv1.EmployeeSchedules) *schedulingv1.MultiReadScheduleRequest {
	return &schedulingv1.MultiReadScheduleRequest{Where: &schedulingv1.ScheduleWhere{Employees: e}}
}

func TestDaysOfARead(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		req  *schedulingv1.MultiReadScheduleRequest
		days civil.Range
		code string
	}{
		{"the last day is included", ofEmployees(&schedulingv1.EmployeeSchedules{DateRange: week()}), civil.Through(civil.Of(2026, 3, 2), civil.Of(2026, 3, 8)), ""},
		{"flat", ofEmployees(&schedulingv1.EmployeeSchedules{StartDate: "2026-03-02", EndDate: "2026-03-02"}), civil.Through(civil.Of(2026, 3, 2), civil.Of(2026, 3, 2)), ""},
		{"both forms", ofEmployees(&schedulingv1.EmployeeSchedules{DateRange: week(), StartDate: "2026-03-02"}), civil.Range{}, oneCriterion},
		{"no start", ofEmployees(&schedulingv1.EmployeeSchedules{EndDate: "2026-03-02"}), civil.Range{}, noStartDate},
		{"no end", ofEmployees(&schedulingv1.EmployeeSchedules{StartDate: "2026-03-02"}), civil.Range{}, noEndDate},
		{"an end before the start", ofEmployees(&schedulingv1.EmployeeSchedules{StartDate: "2026-03-02", EndDate: "2026-03-01"}), civil.Range{}, dateOrder},
		{"no date", ofEmployees(&schedulingv1.EmployeeSchedules{StartDate: "2026-03-02", EndDate: "March"}), civil.Range{}, fault.CodeDate},
		{
			"a period and dates", ofEmployees(&schedulingv1.EmployeeSchedules{DateRange: &commonv1.DateRange{StartDate: "2026-03-02", SymbolicPeriod: &commonv1.Ref{Id: proto.Int64(1)}}}),
			civil.Range{},
			oneCriterion,
		},
		{"nobody", &schedulingv1.MultiReadScheduleRequest{}, civil.Range{}, noCriterion},
		{"employees and a hyperfind query", &schedulingv1.MultiReadScheduleRequest{Where: &schedulingv1.ScheduleWhere{
			Employees: &schedulingv1.EmployeeSchedules{DateRange: week()}, HyperFind: &schedulingv1.HyperFindSchedules{DateRange: week()},
		}}, civil.Range{}, oneCriterion},
		{"a hyperfind query without a name", &schedulingv1.MultiReadScheduleRequest{Where: &schedulingv1.ScheduleWhere{
			HyperFind: &schedulingv1.HyperFindSchedules{DateRange: week()},
		}}, civil.Range{}, missing},
		{"locations by ids and by refs", &schedulingv1.MultiReadScheduleRequest{Where: &schedulingv1.ScheduleWhere{
			Locations: &schedulingv1.LocationSchedules{DateRange: week(), Locations: &commonv1.RefList{Ids: []int64{1}, Refs: []*commonv1.Ref{{Id: proto.Int64(2)}}}},
		}}, civil.Range{}, oneCriterion},
		{"no locations", &schedulingv1.MultiReadScheduleRequest{Where: &schedulingv1.ScheduleWhere{
			Locations: &schedulingv1.LocationSchedules{DateRange: week()},
		}}, civil.Range{}, missing},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			q, err := request.Parse(test.req)
			if test.code != "" {
				assert.True(t, fault.HasCode(err, test.code), "%v", err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.days, q.Days)
		})
	}
}

func TestPeriodsAndLocationsAreLeftToCommons(t *testing.T) {
	t.Parallel()
	q, err := request.Parse(&schedulingv1.MultiReadScheduleRequest{Where: &schedulingv1.ScheduleWhere{Locations: &schedulingv1.LocationSchedules{
		LocationRefs: &commonv1.RefList{Qualifiers: []string{"A/B", "A/C"}}, StartDate: "2026-03-02", EndDate: "2026-03-08",
	}}})
	require.NoError(t, err)
	require.Len(t, q.Locations, 2)
	assert.Equal(t, "A/C", q.Locations[1].GetQualifier())
	assert.Nil(t, q.Employees)

	q, err = request.Parse(ofEmployees(&schedulingv1.EmployeeSchedules{DateRange: &commonv1.DateRange{SymbolicPeriod: &commonv1.Ref{Id: proto.Int64(5)}}}))
	require.NoError(t, err)
	assert.EqualValues(t, 5, q.Period.GetId())
}

func TestSelect(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		names    []string
		selected request.Selection
		onlyOpen bool
		code     string
	}{
		{"nothing means all", nil, request.SelectAll, false, ""},
		{"in any case", []string{"shifts", "DayLocks"}, request.SelectShifts | request.SelectDayLocks, false, ""},
		{"twice", []string{"SHIFTS", "SHIFTS"}, request.SelectShifts, false, ""},
		{"what nobody has", []string{"OPENSHIFTS", "OPENSHIFTSUMMARY"}, request.SelectOpen, true, ""},
		{"open shifts and shifts", []string{"OPENSHIFTS", "SHIFTS"}, request.SelectOpenShifts | request.SelectShifts, false, ""},
		{"unknown", []string{"SHIFTS", "NAPS"}, 0, false, invalidValue},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			req := ofEmployees(&schedulingv1.EmployeeSchedules{DateRange: week()})
			req.Select = test.names
			q, err := request.Parse(req)
			if test.code != "" {
				assert.True(t, fault.HasCode(err, test.code), "%v", err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.selected, q.Selected)
			assert.Equal(t, test.onlyOpen, q.OnlyOpen())
		})
	}
}

func TestOrderOfEntries(t *testing.T) {
	t.Parallel()
	req := ofEmployees(&schedulingv1.EmployeeSchedules{DateRange: week()})
	req.OrderBy = []string{"locations", "EndDate", "STARTDATE", "Employees"}
	q, err := request.Parse(req)
	require.NoError(t, err)
	assert.Equal(t, []request.Order{request.ByLocation, request.ByEnd, request.ByStart, request.ByEmployee}, q.Orders)
	req.OrderBy = []string{"COLOUR"}
	_, err = request.Parse(req)
	assert.True(t, fault.HasCode(err, invalidValue), "%v", err)
}

func TestGet(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		req  *schedulingv1.GetScheduleRequest
		days civil.Range
		code string
	}{
		{
			"the last day is not included", &schedulingv1.GetScheduleRequest{EmployeeId: proto.Int64(1), StartDate: "2026-03-02", EndDate: "2026-03-09"},
			civil.Range{From: civil.Of(2026, 3, 2), To: civil.Of(2026, 3, 9)},
			"",
		},
		{
			"equal dates are one day", &schedulingv1.GetScheduleRequest{EmployeeId: proto.Int64(1), StartDate: "2026-03-02", EndDate: "2026-03-02"},
			civil.Range{From: civil.Of(2026, 3, 2), To: civil.Of(2026, 3, 3)},
			"",
		},
		{"an end before the start", &schedulingv1.GetScheduleRequest{EmployeeId: proto.Int64(1), StartDate: "2026-03-02", EndDate: "2026-03-01"}, civil.Range{}, dateOrder},
		{"nobody", &schedulingv1.GetScheduleRequest{StartDate: "2026-03-02", EndDate: "2026-03-09"}, civil.Range{}, noCriterion},
		{
			"an employee and a location", &schedulingv1.GetScheduleRequest{EmployeeId: proto.Int64(1), LocationId: proto.Int64(2), StartDate: "2026-03-02", EndDate: "2026-03-09"},
			civil.Range{},
			oneCriterion,
		},
		{"a period and dates", &schedulingv1.GetScheduleRequest{EmployeeId: proto.Int64(1), SymbolicPeriodId: proto.Int64(2), EndDate: "2026-03-09"}, civil.Range{}, oneCriterion},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			q, err := request.ParseGet(test.req)
			if test.code != "" {
				assert.True(t, fault.HasCode(err, test.code), "%v", err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.days, q.Days)
			require.Len(t, q.Employees.GetRefs(), 1)
			assert.EqualValues(t, 1, q.Employees.GetRefs()[0].GetId())
		})
	}
}
