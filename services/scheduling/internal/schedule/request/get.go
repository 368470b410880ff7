package request

import (
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// ParseGet parses the request for one employee, a hyperfind query or a location. The last day is
// exclusive, but equal dates mean that one day.
func ParseGet(req *schedulingv1.GetScheduleRequest) (*Query, error) {
	q := &Query{
		ExcludeOvernight: req.GetExcludeOvernightShiftsOnStartDate(),
		ExcludeBreaks:    req.GetExcludeBreaks(),
	}
	var err error
	if q.Selected, err = parseSelect(req.GetSelect()); err != nil {
		return nil, err
	}
	if q.Orders, err = parseOrder(req.GetOrderBy()); err != nil {
		return nil, err
	}
	employee := &commonv1.Ref{Id: req.EmployeeId, Qualifier: req.PersonNumber}
	hyperfind := &commonv1.Ref{Id: req.HyperfindId, Qualifier: req.HyperfindName}
	location := &commonv1.Ref{Id: req.LocationId, Qualifier: req.LocationPath}
	if err := fault.OneOf(codeNoCriterion, codeOneCriterion, "query", "employee_id or person_number, hyperfind_id or hyperfind_name, and location_id or location_path",
		isGiven(employee), isGiven(hyperfind), isGiven(location)); err != nil {
		return nil, err
	}
	switch {
	case isGiven(hyperfind):
		q.Hyperfind = hyperfind
	case isGiven(location):
		q.Locations = []*commonv1.Ref{location}
	default:
		q.Employees = &commonv1.RefList{Refs: []*commonv1.Ref{employee}}
	}
	return q, q.parseGetDays(req)
}

func (q *Query) parseGetDays(req *schedulingv1.GetScheduleRequest) (err error) {
	q.Days, q.Period, err = ParseGetDays(&commonv1.Ref{Id: req.SymbolicPeriodId, Qualifier: req.SymbolicPeriodName}, req.GetStartDate(), req.GetEndDate())
	return err
}

// ParseGetDays parses the days of a GET request or their symbolic period. The last day is
// exclusive, but equal dates mean that one day.
func ParseGetDays(period *commonv1.Ref, start, end string) (civil.Range, *commonv1.Ref, error) {
	if isGiven(period) {
		if start != "" || end != "" {
			return civil.Range{}, nil, bothForms("query", "symbolic_period_id or symbolic_period_name", "start_date and end_date")
		}
		return civil.Range{}, period, nil
	}
	first, last, err := parseDates("start_date", start, "end_date", end)
	return civil.Range{From: first, To: max(last, first.AddDays(1))}, nil, err
}

// isGiven reports whether a reference has an id or a qualifier.
func isGiven(ref *commonv1.Ref) bool { return ref.Id != nil || ref.GetQualifier() != "" }
