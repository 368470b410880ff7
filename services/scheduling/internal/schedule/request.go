package schedule

import (
	"net/http"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// Codes of the specified API.
const (
	codeInvalidValue   = "WFS-100903"
	codeUnknownOrgNode = "WFS-103901"
	codeNoStartDate    = "WFS-103907"
	codeNoEndDate      = "WFS-103908"
	codeNoPeriod       = "WFS-104501"
	codeMissing        = "WFS-111201"
	codeDateOrder      = "WFS-111203"
	codeOneCriterion   = "WFS-111207"
	codeNoCriterion    = "WFS-111208"
	codeBadReference   = "WTK-147500"
)

// selection is a set of the parts that an answer may have.
type selection uint16

const (
	selectShifts selection = 1 << iota
	selectPayCodeEdits
	selectLeaveEdits
	selectAvailabilities
	selectHolidays
	selectDayLocks
	selectEmployees
	selectOpenSummary
	selectOpenShifts
	selectDays
	selectTags
	selectJobs
	// selectOnCall asks for a flag of the tags that is always shown.
	selectOnCall

	selectAll  = selectOnCall<<1 - 1
	selectOpen = selectOpenShifts | selectOpenSummary
)

// order is one of the orders in which entries are wanted.
type order uint8

const (
	byEmployee order = iota
	byAsked
	byStart
	byEnd
	byLocation
)

// query is a request, read.
type query struct {
	selected  selection
	orders    []order
	days      civil.Range
	employees *commonv1.RefList
	// What commons is asked for before: the days of a symbolic period, and the
	// employees of a hyperfind query or of locations. If there are none of these,
	// nobody is true.
	period, hyperfind *commonv1.Ref
	locations         []*commonv1.Ref
	nobody            bool
	// excludeOvernight leaves out shifts that began before the first day;
	// excludeBreaks merges breaks into their neighbours.
	excludeOvernight, excludeBreaks bool
}

// onlyOpen tells whether nothing is asked for that employees have.
func (q *query) onlyOpen() bool { return q.selected&^selectOpen == 0 }

// parse reads the request in either of its dialects.
func parse(req *schedulingv1.MultiReadScheduleRequest) (*query, error) {
	q := &query{
		excludeOvernight: req.GetMultiReadOptions().GetExcludeOvernightShiftsOnStartDate(),
		excludeBreaks:    req.GetWhere().GetExcludeBreaks(),
	}
	var err error
	if q.selected, err = parseSelect(req.GetSelect()); err != nil {
		return nil, err
	}
	if q.orders, err = parseOrder(req.GetOrderBy()); err != nil {
		return nil, err
	}
	w := req.GetWhere()
	if err := exactlyOne("where", "employees, hyperFind and locations",
		w.GetEmployees() != nil, w.GetHyperFind() != nil, w.GetLocations() != nil); err != nil {
		return nil, err
	}
	return q, q.parseWhere(w)
}

// parseStatus reads the request for the status of schedules.
func parseStatus(req *schedulingv1.MultiReadScheduleStatusRequest) (*query, error) {
	w := req.GetWhere()
	if err := exactlyOne("where", "employees and hyperFind", w.GetEmployees() != nil, w.GetHyperFind() != nil); err != nil {
		return nil, err
	}
	q := &query{selected: selectAll}
	return q, q.parseWhere(&schedulingv1.ScheduleWhere{Employees: w.GetEmployees(), HyperFind: w.GetHyperFind()})
}

func (q *query) parseWhere(w *schedulingv1.ScheduleWhere) error {
	switch {
	case w.GetEmployees() != nil:
		return q.parseEmployees("where.employees", w.GetEmployees())
	case w.GetHyperFind() != nil:
		return q.parseHyperFind("where.hyperFind", w.GetHyperFind())
	default:
		return q.parseLocations("where.locations", w.GetLocations())
	}
}

// parseEmployees reads whose schedule is asked for, and when. A list that is
// not there is as good as an empty one, which means every employee.
func (q *query) parseEmployees(path string, e *schedulingv1.EmployeeSchedules) error {
	nested := e.GetEmployees() != nil || e.GetDateRange() != nil
	flat := e.GetEmployeeRefs() != nil || e.GetStartDate() != "" || e.GetEndDate() != ""
	if nested && flat {
		return bothForms(path, "employees with dateRange", "employeeRefs with startDate and endDate")
	}
	q.employees = e.GetEmployees()
	if flat {
		q.employees = e.GetEmployeeRefs()
	}
	return q.parseDays(path, e.GetDateRange(), e.GetStartDate(), e.GetEndDate())
}

func (q *query) parseHyperFind(path string, h *schedulingv1.HyperFindSchedules) error {
	nested := h.GetHyperFind() != nil || h.GetDateRange() != nil
	flat := h.GetHyperFindRef() != nil || h.GetStartDate() != "" || h.GetEndDate() != ""
	if nested && flat {
		return bothForms(path, "hyperFind with dateRange", "hyperFindRef with startDate and endDate")
	}
	q.hyperfind = h.GetHyperFind()
	if flat {
		q.hyperfind = h.GetHyperFindRef()
	}
	if q.hyperfind == nil || !given(q.hyperfind) {
		return fault.Invalid(codeMissing, path+".hyperFind is missing.")
	}
	return q.parseDays(path, h.GetDateRange(), h.GetStartDate(), h.GetEndDate())
}

func (q *query) parseLocations(path string, l *schedulingv1.LocationSchedules) error {
	nested := l.GetLocations() != nil || l.GetDateRange() != nil
	flat := l.GetLocationRefs() != nil || l.GetStartDate() != "" || l.GetEndDate() != ""
	if nested && flat {
		return bothForms(path, "locations with dateRange", "locationRefs with startDate and endDate")
	}
	list := l.GetLocations()
	if flat {
		list = l.GetLocationRefs()
	}
	if len(list.GetIds())+len(list.GetQualifiers())+len(list.GetRefs()) == 0 {
		return fault.Invalid(codeMissing, path+".locations is missing.")
	}
	if err := exactlyOne(path+".locations", "ids, qualifiers and refs",
		len(list.GetIds()) > 0, len(list.GetQualifiers()) > 0, len(list.GetRefs()) > 0); err != nil {
		return err
	}
	q.locations = list.GetRefs()
	for i := range list.GetIds() {
		q.locations = append(q.locations, &commonv1.Ref{Id: &list.Ids[i]})
	}
	for i := range list.GetQualifiers() {
		q.locations = append(q.locations, &commonv1.Ref{Qualifier: &list.Qualifiers[i]})
	}
	return q.parseDays(path, l.GetDateRange(), l.GetStartDate(), l.GetEndDate())
}

func bothForms(path, one, other string) error {
	return fault.Newf(codeOneCriterion, http.StatusBadRequest, "%s: give either %s or %s.", path, one, other)
}

func exactlyOne(path, names string, given ...bool) error {
	count := 0
	for _, g := range given {
		if g {
			count++
		}
	}
	switch count {
	case 0:
		return fault.Newf(codeNoCriterion, http.StatusBadRequest, "%s: give one of %s.", path, names)
	case 1:
		return nil
	}
	return fault.Newf(codeOneCriterion, http.StatusBadRequest, "%s: give exactly one of %s.", path, names)
}

// parseDays reads the days of a window, of which the last is included, or the
// name of a period.
func (q *query) parseDays(path string, r *commonv1.DateRange, start, end string) error {
	if r != nil {
		start, end = r.GetStartDate(), r.GetEndDate()
		path += ".dateRange"
	}
	if q.period = r.GetSymbolicPeriod(); q.period != nil {
		if start != "" || end != "" {
			return bothForms(path, "symbolicPeriod", "startDate and endDate")
		}
		return nil
	}
	first, last, err := parseDates(path+".startDate", start, path+".endDate", end)
	q.days = civil.Through(first, last)
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

// parseDate reads a date, pulled into the calendar of the product.
func parseDate(path, text string) (civil.Date, error) {
	d, err := civil.ParseDate(text)
	if err != nil {
		return 0, fault.Invalid(fault.CodeDate, path+": "+err.Error()+".")
	}
	return d.Clamp(), nil
}

func parseSelect(names []string) (selection, error) {
	if len(names) == 0 {
		return selectAll, nil
	}
	var selected selection
	for _, name := range names {
		part := partNamed(name)
		if part == 0 {
			return 0, fault.Newf(codeInvalidValue, http.StatusBadRequest, "select: %.40q is not known.", name)
		}
		selected |= part
	}
	return selected, nil
}

func partNamed(name string) selection {
	switch strings.ToUpper(name) {
	case "SHIFTS":
		return selectShifts
	case "PAYCODEEDITS":
		return selectPayCodeEdits
	case "LEAVEEDITS":
		return selectLeaveEdits
	case "AVAILABILITIES":
		return selectAvailabilities
	case "HOLIDAYS":
		return selectHolidays
	case "DAYLOCKS":
		return selectDayLocks
	case "EMPLOYEES":
		return selectEmployees
	case "OPENSHIFTSUMMARY":
		return selectOpenSummary
	case "OPENSHIFTS":
		return selectOpenShifts
	case "SCHEDULEDAYS":
		return selectDays
	case "SCHEDULETAGS":
		return selectTags
	case "EXPANDEDJOBS":
		return selectJobs
	case "ONCALLFLAG":
		return selectOnCall
	}
	return 0
}

func parseOrder(names []string) ([]order, error) {
	var orders []order
	for _, name := range names {
		switch strings.ToUpper(name) {
		case "EMPLOYEES":
			orders = append(orders, byEmployee)
		case "STARTDATE":
			orders = append(orders, byStart)
		case "ENDDATE":
			orders = append(orders, byEnd)
		case "LOCATIONS":
			orders = append(orders, byLocation)
		default:
			return nil, fault.Newf(codeInvalidValue, http.StatusBadRequest, "orderBy: %.40q is not known.", name)
		}
	}
	return orders, nil
}
