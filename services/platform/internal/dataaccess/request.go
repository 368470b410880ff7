package dataaccess

import (
	"cmp"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

// view is what the rows of an answer are.
type view struct {
	number int32
	name   string
	kind   datav1.RowKind
	// series says that there is a row for each period.
	series bool
}

// views are those that are served.
func views() []view {
	const employees, locations = datav1.RowKind_ROW_KIND_EMPLOYEE, datav1.RowKind_ROW_KIND_LOCATION
	return []view{
		{0, "EMP", employees, false}, {1, "ORGANIZATION", locations, false},
		{2, "EMP_TIME_SERIES", employees, true}, {3, "ORGANIZATION_TIME_SERIES", locations, true},
	}
}

func (v view) ofEmployees() bool { return v.kind == datav1.RowKind_ROW_KIND_EMPLOYEE }

// query is a request of which all is known but the rows and the elements.
type query struct {
	*platformv1.MultiReadDataRequest
	view view
	// refs name the rows; hyperfind does instead when it is not nil. Of a view of
	// locations they are those of the employees whom it finds.
	refs      []*datav1.DataRow
	hyperfind *commonv1.Ref
	// savedLocations is a location set that names the rows.
	savedLocations *commonv1.Ref
	// rollup names the types that locations are rolled up to.
	rollup []string
	dates  *platformv1.DataDateRange
	period *commonv1.Ref
	// days are known when there is no symbolic period.
	days    civil.Range
	periods periods
	label   labelForm
}

// parse reads a request. It checks what can be told of it alone, in the order
// in which it is said.
func parse(req *platformv1.MultiReadDataRequest) (*query, error) {
	q := &query{MultiReadDataRequest: req}
	for _, check := range []func() error{q.parseView, q.parseSet, q.parseDates, q.parsePage} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	return q, nil
}

func (q *query) parseView() error {
	from := q.GetFrom()
	if from == nil {
		return invalid(CodeNoFrom, "from is missing.")
	}
	if from.GetView() == "" {
		return invalid(CodeNoView, "from.view is missing.")
	}
	for _, v := range views() {
		if from.GetView() == string('0'+v.number) || strings.EqualFold(from.GetView(), v.name) {
			q.view = v
			return nil
		}
	}
	for _, work := range []string{"4", "5", "WORKUNIT", "WORKUNIT_TIMESERIES"} {
		if strings.EqualFold(from.GetView(), work) {
			return invalid(CodeWorkUnits, "from.view: %s shows work units, and there are none here. Use the views 0 to 3.", work)
		}
	}
	return invalid(CodeBadRequest, "from.view: %q is none of 0 to 3.", shortened(from.GetView()))
}

func (q *query) parseSet() error {
	from := q.GetFrom()
	if q.view.ofEmployees() {
		set := from.GetEmployeeSet()
		refs, err := refsOf("from.employeeSet.employees", set.GetEmployees())
		if err != nil {
			return err
		}
		if q.refs, q.hyperfind, q.dates = refs, set.GetHyperfind(), set.GetDateRange(); len(refs) == 0 && q.hyperfind == nil {
			return invalid(CodeNoSet, "from.employeeSet needs employees or hyperfind.")
		}
		if len(refs) > 0 && q.hyperfind != nil {
			return invalid(CodeBadRequest, "from.employeeSet: give either employees or hyperfind.")
		}
		return nil
	}
	return q.parseLocationSet(from.GetLocationSet())
}

func (q *query) parseLocationSet(set *platformv1.DataLocationSet) error {
	refs, err := refsOf("from.locationSet.locations", set.GetLocations())
	if err != nil {
		return err
	}
	q.refs, q.savedLocations, q.hyperfind, q.dates = refs, set.GetSavedLocations(), set.GetHyperfind(), set.GetDateRange()
	given := 0
	for _, is := range []bool{len(refs) > 0, q.savedLocations != nil, q.hyperfind != nil} {
		if is {
			given++
		}
	}
	switch saved := q.savedLocations; {
	case given == 0:
		return invalid(CodeNoSet, "from.locationSet needs locations, savedLocations or hyperfind.")
	case given > 1:
		return invalid(CodeBadRequest, "from.locationSet: give one of locations, savedLocations and hyperfind.")
	case saved != nil && saved.Id == nil && saved.GetQualifier() == "":
		return invalid(CodeBadSet, "from.locationSet.savedLocations needs an id or a qualifier.")
	}
	for _, by := range set.GetRollupBy() {
		name := cmp.Or(by.GetKey(), by.GetSdmKey(), by.GetValue())
		if name == "" {
			return invalid(CodeBadRequest, "from.locationSet.rollupBy: give the key, the sdmKey or the value of a location type.")
		}
		q.rollup = append(q.rollup, name)
	}
	return nil
}

// refsOf returns the names of a list, of which exactly one kind may be given.
func refsOf(path string, list *commonv1.RefList) ([]*datav1.DataRow, error) {
	kinds := 0
	for _, n := range []int{len(list.GetIds()), len(list.GetQualifiers()), len(list.GetRefs())} {
		kinds += min(n, 1)
	}
	if kinds > 1 {
		return nil, invalid(CodeBadRequest, "%s: give one of ids, qualifiers and refs.", path)
	}
	var out []*datav1.DataRow
	for _, id := range list.GetIds() {
		out = append(out, &datav1.DataRow{Id: id})
	}
	for _, qualifier := range list.GetQualifiers() {
		out = append(out, &datav1.DataRow{Qualifier: qualifier})
	}
	for _, ref := range list.GetRefs() {
		if ref.Id == nil && ref.GetQualifier() == "" {
			return nil, invalid(CodeBadRequest, "%s.refs: a ref needs an id or a qualifier.", path)
		}
		row := &datav1.DataRow{Id: ref.GetId()}
		if ref.Id == nil {
			row.Qualifier = ref.GetQualifier()
		}
		out = append(out, row)
	}
	for _, row := range out {
		if row.GetId() == 0 && row.GetQualifier() == "" {
			// An id of 0 would be taken for a qualifier; nothing has it.
			row.Id = -1
		}
	}
	return out, nil
}

func (q *query) parseDates() error {
	start, end := q.dates.GetStartDate(), q.dates.GetEndDate()
	q.period = q.dates.GetSymbolicPeriod()
	switch {
	case q.period != nil && (start != "" || end != ""):
		return invalid(CodeBadRequest, "dateRange: give either startDate and endDate or symbolicPeriod.")
	case q.period == nil && (start == "" || end == ""):
		return invalid(CodeNoDates, "dateRange needs startDate and endDate, or symbolicPeriod.")
	case q.period == nil:
		first, err := parseDay("dateRange.startDate", start)
		if err != nil {
			return err
		}
		last, err := parseDay("dateRange.endDate", end)
		if err != nil {
			return err
		}
		if q.days, err = checkedDays(first, last); err != nil {
			return err
		}
	}
	var err error
	if q.periods.increment, err = parseIncrement(q.dates.GetOptions().GetTimeIncrement()); err != nil {
		return err
	}
	q.label, err = parseLabelForm(q.GetOptions().GetTimeIncrementFormat())
	return err
}

// parseDay reads a date, or the date of a date-time.
func parseDay(path, text string) (civil.Date, error) {
	if at, err := civil.ParseDateTime(text); err == nil {
		return at.Date.Clamp(), nil
	}
	day, err := civil.ParseDate(text)
	if err != nil {
		return 0, invalid(fault.CodeDate, "%s: %s.", path, err)
	}
	return day.Clamp(), nil
}

// checkedDays returns a range of which both ends are included.
func checkedDays(first, last civil.Date) (civil.Range, error) {
	if last < first {
		return civil.Range{}, invalid(CodeDateOrder, "dateRange: endDate %s is before startDate %s.", last, first)
	}
	days := civil.Through(first, last)
	if n := days.Days(); n > maxDays {
		return civil.Range{}, tooManyDays(n)
	}
	return days, nil
}

func (q *query) parsePage() error {
	if q.Index != nil && q.GetIndex() < 0 {
		return invalid(CodeBadRequest, "index must not be negative.")
	}
	if q.Count != nil && q.GetCount() <= 0 {
		return invalid(CodeBadRequest, "count must be above 0.")
	}
	if len(q.GetSelect()) == 0 {
		return invalid(CodeBadRequest, "select is missing.")
	}
	switch strings.ToUpper(q.GetOptions().GetResponseType()) {
	case "", "TREE", "GRID":
	default:
		return invalid(CodeBadRequest, "options.responseType: %q is neither TREE nor GRID.", shortened(q.GetOptions().GetResponseType()))
	}
	return nil
}

// digestible is the part of the request that decides what the result is: all
// but the page and how the result is kept.
func (q *query) digestible() *platformv1.MultiReadDataRequest {
	out := proto.CloneOf(q.MultiReadDataRequest)
	out.Index, out.Count = nil, nil
	if o := out.GetOptions(); o != nil {
		o.RequestTag, o.Refresh, o.MetadataKey = nil, nil, nil
		o.IncludeColumnTotals = nil
	} else {
		out.Options = &platformv1.DataOptions{}
	}
	return out
}

// plainIDs returns the ids of a request that names its rows by nothing else,
// each once; nil when it names them in another way.
func (q *query) plainIDs() []int64 {
	if q.hyperfind != nil || len(q.rollup) > 0 || len(q.refs) > maxEmployees || !q.view.ofEmployees() && len(q.refs) > maxLocations {
		return nil
	}
	seen := make(map[int64]bool, len(q.refs))
	ids := make([]int64, 0, len(q.refs))
	for _, r := range q.refs {
		if r.GetId() <= 0 {
			return nil
		}
		if !seen[r.GetId()] {
			seen[r.GetId()] = true
			ids = append(ids, r.GetId())
		}
	}
	return ids
}

// checkCount refuses more rows than a request may have.
func (q *query) checkCount(n int) error {
	switch {
	case q.view.ofEmployees() && n > maxEmployees:
		return tooManyEmployees(n)
	case !q.view.ofEmployees() && n > maxLocations:
		return tooManyLocations(n)
	}
	return nil
}

// unknown is the error of a row that is not there for the caller.
func (q *query) unknown(asked *datav1.DataRow) error {
	switch {
	case q.view.ofEmployees() && asked.GetId() != 0:
		return invalid(CodeUnreadable, "There is no employee with the id %d.", max(0, asked.GetId()))
	case q.view.ofEmployees():
		return invalid(CodeNoEmployee, "There is no employee with the person number %q.", shortened(asked.GetQualifier()))
	case asked.GetId() != 0:
		return invalid(CodeNoStructure, "There is no location with the id %d.", max(0, asked.GetId()))
	}
	return invalid(CodeNoLocation, "There is no location with the path %q on the last day.", shortened(asked.GetQualifier()))
}
