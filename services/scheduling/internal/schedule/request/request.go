package request

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/reflist"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/suggest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// Error codes of the specification.
const (
	codeInvalidValue = "WFS-100903"
	codeNoStartDate  = "WFS-103907"
	codeNoEndDate    = "WFS-103908"
	codeMissing      = "WFS-111201"
	codeDateOrder    = "WFS-111203"
	codeOneCriterion = "WFS-111207"
	codeNoCriterion  = "WFS-111208"
)

// Selection is a set of parts of a schedule.
type Selection uint16

// The parts of a schedule.
const (
	SelectShifts Selection = 1 << iota
	SelectPayCodeEdits
	SelectLeaveEdits
	SelectAvailabilities
	SelectHolidays
	SelectDayLocks
	SelectEmployees
	SelectOpenSummary
	SelectOpenShifts
	SelectDays
	SelectTags
	SelectJobs
	// SelectOnCall selects a flag of tags that is always included.
	SelectOnCall

	SelectAll  = SelectOnCall<<1 - 1
	SelectOpen = SelectOpenShifts | SelectOpenSummary
)

// Order is a sort order of entries.
type Order uint8

// The orders of entries.
const (
	ByEmployee Order = iota
	ByRequest
	ByStart
	ByEnd
	ByLocation
)

// Query is a parsed request.
type Query struct {
	Selected  Selection
	Orders    []Order
	Days      civil.Range
	Employees *commonv1.RefList
	// Criteria that commons resolves: the days of a symbolic period, and the employees of a
	// hyperfind query or of locations. Nobody reports that no employees were found.
	Period, Hyperfind *commonv1.Ref
	Locations         []*commonv1.Ref
	Nobody            bool
	// ExcludeOvernight omits shifts that began before the first day. ExcludeBreaks merges breaks
	// into their neighbours.
	ExcludeOvernight, ExcludeBreaks bool
	// AsOf is the past instant of the request, as text. "" selects the present schedule.
	AsOf string
}

// AsOfPath is the path of AsOf in requests.
const AsOfPath = "multiReadOptions.asOfDateTime"

// withoutPast are the parts of a schedule that have no history: holidays, and jobs as commons knows them.
const withoutPast = SelectHolidays | SelectDays | SelectJobs

// OnlyOpen reports whether the request selects only open shifts.
func (q *Query) OnlyOpen() bool { return q.Selected&^SelectOpen == 0 }

// Parse parses either form of the request.
func Parse(req *schedulingv1.MultiReadScheduleRequest) (*Query, error) {
	q := &Query{
		ExcludeOvernight: req.GetMultiReadOptions().GetExcludeOvernightShiftsOnStartDate(),
		ExcludeBreaks:    req.GetWhere().GetExcludeBreaks(),
	}
	var err error
	if q.Selected, err = parseSelect(req.GetSelect()); err != nil {
		return nil, err
	}
	if q.Orders, err = parseOrder(req.GetOrderBy()); err != nil {
		return nil, err
	}
	if q.AsOf = req.GetMultiReadOptions().GetAsOfDateTime(); q.AsOf != "" {
		if err := q.leavePresent(len(req.GetSelect()) > 0); err != nil {
			return nil, err
		}
	}
	w := req.GetWhere()
	if err := fault.OneOf(codeNoCriterion, codeOneCriterion, "where", "employees, hyperFind and locations",
		w.GetEmployees() != nil, w.GetHyperFind() != nil, w.GetLocations() != nil); err != nil {
		return nil, err
	}
	return q, q.parseWhere(w)
}

// leavePresent leaves out the parts that have no history. named reports whether the request names its parts: then
// it must not name these.
func (q *Query) leavePresent(named bool) error {
	if named && q.Selected&withoutPast != 0 {
		return fault.Newf(codeInvalidValue, http.StatusBadRequest, "select: %s have no past. Leave them out, or leave %s out.",
			selectableNames(withoutPast), AsOfPath)
	}
	q.Selected &^= withoutPast
	return nil
}

// ParseStatus parses the request for the status of schedules.
func ParseStatus(req *schedulingv1.MultiReadScheduleStatusRequest) (*Query, error) {
	w := req.GetWhere()
	if err := fault.OneOf(codeNoCriterion, codeOneCriterion, "where", "employees and hyperFind", w.GetEmployees() != nil, w.GetHyperFind() != nil); err != nil {
		return nil, err
	}
	q := &Query{Selected: SelectAll}
	return q, q.parseWhere(&schedulingv1.ScheduleWhere{Employees: w.GetEmployees(), HyperFind: w.GetHyperFind()})
}

func (q *Query) parseWhere(w *schedulingv1.ScheduleWhere) error {
	switch {
	case w.GetEmployees() != nil:
		return q.parseEmployees("where.employees", w.GetEmployees())
	case w.GetHyperFind() != nil:
		return q.parseHyperFind("where.hyperFind", w.GetHyperFind())
	default:
		return q.parseLocations("where.locations", w.GetLocations())
	}
}

// parseEmployees parses the employees and the days. A missing list means the same as an empty one:
// all employees.
func (q *Query) parseEmployees(path string, e *schedulingv1.EmployeeSchedules) error {
	nested := e.GetEmployees() != nil || e.GetDateRange() != nil
	flat := e.GetEmployeeRefs() != nil || e.GetStartDate() != "" || e.GetEndDate() != ""
	if nested && flat {
		return bothForms(path, "employees with dateRange", "employeeRefs with startDate and endDate")
	}
	q.Employees = e.GetEmployees()
	if flat {
		q.Employees = e.GetEmployeeRefs()
	}
	return q.parseDays(path, e.GetDateRange(), e.GetStartDate(), e.GetEndDate())
}

func (q *Query) parseHyperFind(path string, h *schedulingv1.HyperFindSchedules) error {
	nested := h.GetHyperFind() != nil || h.GetDateRange() != nil
	flat := h.GetHyperFindRef() != nil || h.GetStartDate() != "" || h.GetEndDate() != ""
	if nested && flat {
		return bothForms(path, "hyperFind with dateRange", "hyperFindRef with startDate and endDate")
	}
	q.Hyperfind = h.GetHyperFind()
	if flat {
		q.Hyperfind = h.GetHyperFindRef()
	}
	if q.Hyperfind == nil || !isGiven(q.Hyperfind) {
		return fault.Invalid(codeMissing, path+".hyperFind is missing.")
	}
	return q.parseDays(path, h.GetDateRange(), h.GetStartDate(), h.GetEndDate())
}

func (q *Query) parseLocations(path string, l *schedulingv1.LocationSchedules) error {
	nested := l.GetLocations() != nil || l.GetDateRange() != nil
	flat := l.GetLocationRefs() != nil || l.GetStartDate() != "" || l.GetEndDate() != ""
	if nested && flat {
		return bothForms(path, "locations with dateRange", "locationRefs with startDate and endDate")
	}
	list := l.GetLocations()
	if flat {
		list = l.GetLocationRefs()
	}
	var err error
	if q.Locations, err = reflist.AtMostOne(codeOneCriterion, path+".locations", list); err != nil {
		return err
	}
	if len(q.Locations) == 0 {
		return fault.Invalid(codeMissing, path+".locations is missing.")
	}
	return q.parseDays(path, l.GetDateRange(), l.GetStartDate(), l.GetEndDate())
}

func bothForms(path, one, other string) error {
	return fault.Newf(codeOneCriterion, http.StatusBadRequest, "%s: give either %s or %s.", path, one, other)
}

// ParseRange parses days, including the last one, or a symbolic period.
func ParseRange(path string, r *commonv1.DateRange) (civil.Range, *commonv1.Ref, error) {
	q := &Query{}
	err := q.parseDays(path, r, "", "")
	return q.Days, q.Period, err
}

// parseDays parses the days of a window, including the last one, or a symbolic period.
func (q *Query) parseDays(path string, r *commonv1.DateRange, start, end string) error {
	if r != nil {
		start, end = r.GetStartDate(), r.GetEndDate()
		path += ".dateRange"
	}
	if q.Period = r.GetSymbolicPeriod(); q.Period != nil {
		if start != "" || end != "" {
			return bothForms(path, "symbolicPeriod", "startDate and endDate")
		}
		return nil
	}
	first, last, err := parseDates(path+".startDate", start, path+".endDate", end)
	q.Days = civil.Through(first, last)
	return err
}

func parseDates(startPath, start, endPath, end string) (first, last civil.Date, err error) {
	if start == "" {
		return 0, 0, fault.Invalid(codeNoStartDate, startPath+" is missing.")
	}
	if end == "" {
		return 0, 0, fault.Invalid(codeNoEndDate, endPath+" is missing.")
	}
	if first, err = parseDate(startPath, start); err != nil {
		return 0, 0, err
	}
	if last, err = parseDate(endPath, end); err != nil {
		return 0, 0, err
	}
	if last < first {
		return 0, 0, fault.Newf(codeDateOrder, http.StatusBadRequest, "%s %s is before %s %s.", endPath, last, startPath, first)
	}
	return first, last, nil
}

// parseDate parses a date, and clamps it to the supported calendar.
func parseDate(path, text string) (civil.Date, error) {
	d, err := civil.ParseDate(text)
	if err != nil {
		return 0, fault.Invalid(fault.CodeDate, path+": "+err.Error()+".")
	}
	return d.Clamp(), nil
}

func parseSelect(names []string) (Selection, error) {
	if len(names) == 0 {
		return SelectAll, nil
	}
	var selected Selection
	var errs []error
	for i, name := range names {
		at := slices.IndexFunc(selectables, func(s selectable) bool { return strings.EqualFold(s.name, name) })
		if at < 0 && len(errs) < fault.MaxViolations {
			bad := fault.Invalid(codeInvalidValue, suggest.NotOneOf("select", name, slices.Collect(eachSelectable)...))
			errs = append(errs, bad.WithMembers(fmt.Sprintf("select[%d]", i)))
		}
		if at >= 0 {
			selected |= selectables[at].selection
		}
	}
	return selected, fault.Join(errs...)
}

// eachSelectable yields the names of the parts of a schedule.
func eachSelectable(yield func(string) bool) {
	for _, s := range selectables {
		if !yield(s.name) {
			return
		}
	}
}

// selectable is a part of a schedule with its name in requests.
type selectable struct {
	name      string
	selection Selection
}

var selectables = []selectable{
	{"SHIFTS", SelectShifts},
	{"PAYCODEEDITS", SelectPayCodeEdits},
	{"LEAVEEDITS", SelectLeaveEdits},
	{"AVAILABILITIES", SelectAvailabilities},
	{"HOLIDAYS", SelectHolidays},
	{"DAYLOCKS", SelectDayLocks},
	{"EMPLOYEES", SelectEmployees},
	{"OPENSHIFTSUMMARY", SelectOpenSummary},
	{"OPENSHIFTS", SelectOpenShifts},
	{"SCHEDULEDAYS", SelectDays},
	{"SCHEDULETAGS", SelectTags},
	{"EXPANDEDJOBS", SelectJobs},
	{"ONCALLFLAG", SelectOnCall},
}

// selectableNames returns the names of some parts.
func selectableNames(of Selection) string {
	var names []string
	for _, s := range selectables {
		if s.selection&of != 0 {
			names = append(names, s.name)
		}
	}
	return strings.Join(names, ", ")
}

func parseOrder(names []string) ([]Order, error) {
	var orders []Order
	for _, name := range names {
		switch strings.ToUpper(name) {
		case "EMPLOYEES":
			orders = append(orders, ByEmployee)
		case "STARTDATE":
			orders = append(orders, ByStart)
		case "ENDDATE":
			orders = append(orders, ByEnd)
		case "LOCATIONS":
			orders = append(orders, ByLocation)
		default:
			return nil, fault.Invalid(codeInvalidValue, suggest.NotOneOf("orderBy", name, "EMPLOYEES", "STARTDATE", "ENDDATE", "LOCATIONS"))
		}
	}
	return orders, nil
}
