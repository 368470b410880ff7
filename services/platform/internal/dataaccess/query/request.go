package query

import (
	"cmp"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/cursor"
	"github.com/rotaloom/rotaloom/pkg/domain/reflist"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess/errcode"
)

// View determines the rows of a response.
type View struct {
	Number int32
	Name   string
	Kind   datav1.RowKind
	// Series means that there is a row for each period.
	Series bool
}

// Views returns the supported views.
func Views() []View {
	const employees, locations = datav1.RowKind_ROW_KIND_EMPLOYEE, datav1.RowKind_ROW_KIND_LOCATION
	return []View{
		{0, "EMP", employees, false},
		{1, "ORGANIZATION", locations, false},
		{2, "EMP_TIME_SERIES", employees, true},
		{3, "ORGANIZATION_TIME_SERIES", locations, true},
	}
}

// OfEmployees reports whether the rows of the view are employees. Otherwise they are locations.
func (v View) OfEmployees() bool { return v.Kind == datav1.RowKind_ROW_KIND_EMPLOYEE }

// Query is a parsed request. Rows and elements are not resolved yet.
type Query struct {
	*platformv1.MultiReadDataRequest
	View View
	// Refs name the rows, unless Hyperfind is set. In a view of locations, the hyperfind selects the employees
	// whose locations are the rows.
	Refs      []*datav1.DataRow
	Hyperfind *commonv1.Ref
	// SavedLocations is a location set with the rows.
	SavedLocations *commonv1.Ref
	// Rollup contains the location types of the rolled-up rows.
	Rollup []string
	dates  *platformv1.DataDateRange
	Period *commonv1.Ref
	// Days is set unless there is a symbolic period.
	Days    civil.Range
	Periods periods
	Label   LabelForm
	// Cursor is the page by cursor, or nil for a page by index.
	Cursor *cursor.Query[Position]
}

// Position is the place of a row in the order of pages by cursor.
type Position struct {
	// ID is the id of the employee or of the location.
	ID int64
	// Day is the first day of the period, as days since 1970; 0 in a view without a series.
	Day int32
}

// Compare orders positions: by id, and then by day.
func (p Position) Compare(other Position) int {
	return cmp.Or(cmp.Compare(p.ID, other.ID), cmp.Compare(p.Day, other.Day))
}

// Parse parses a request. It makes all checks that need no other data, in the specified order.
func Parse(req *platformv1.MultiReadDataRequest) (*Query, error) {
	q := &Query{MultiReadDataRequest: req}
	for _, check := range []func() error{q.parseView, q.parseSet, q.parseDates, q.parsePage} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	return q, nil
}

// ResolveColumn returns the key and the alias of a column in a request: the given ones or, without them, those
// that columnName means: the alias of a selected column or else a key.
func (q *Query) ResolveColumn(key string, alias *string, columnName string) (resolvedKey string, resolvedAlias *string) {
	if key != "" || alias != nil {
		return key, alias
	}
	for _, s := range q.GetSelect() {
		if s.Alias != nil && s.GetAlias() == columnName {
			return s.GetKey(), s.Alias
		}
	}
	return columnName, nil
}

func (q *Query) parseView() error {
	from := q.GetFrom()
	if from == nil {
		return errcode.Invalid(errcode.CodeNoFrom, "from is missing. Select a view and its rows.")
	}
	if from.GetView() == "" {
		return errcode.Invalid(errcode.CodeNoView, "from.view is missing. Use one of 0 to 3.")
	}
	for _, v := range Views() {
		if from.GetView() == string('0'+v.Number) || strings.EqualFold(from.GetView(), v.Name) {
			q.View = v
			return nil
		}
	}
	for _, work := range []string{"4", "5", "WORKUNIT", "WORKUNIT_TIMESERIES"} {
		if strings.EqualFold(from.GetView(), work) {
			return errcode.Invalid(errcode.CodeWorkUnits, "from.view: %s shows work units, which are not supported. Use the views 0 to 3.", work)
		}
	}
	return errcode.Invalid(errcode.CodeBadRequest, "from.view: %q must be one of 0 to 3.", errcode.Shorten(from.GetView()))
}

func (q *Query) parseSet() error {
	from := q.GetFrom()
	if q.View.OfEmployees() {
		set := from.GetEmployeeSet()
		refs, err := parseRefs("from.employeeSet.employees", set.GetEmployees())
		if err != nil {
			return err
		}
		if q.Refs, q.Hyperfind, q.dates = refs, set.GetHyperfind(), set.GetDateRange(); len(refs) == 0 && q.Hyperfind == nil {
			return errcode.Invalid(errcode.CodeNoSet, "from.employeeSet needs employees or hyperfind.")
		}
		return fault.AtMostOne(errcode.CodeBadRequest, "from.employeeSet", "employees and hyperfind", len(refs) > 0, q.Hyperfind != nil)
	}
	return q.parseLocationSet(from.GetLocationSet())
}

func (q *Query) parseLocationSet(set *platformv1.DataLocationSet) error {
	refs, err := parseRefs("from.locationSet.locations", set.GetLocations())
	if err != nil {
		return err
	}
	q.Refs, q.SavedLocations, q.Hyperfind, q.dates = refs, set.GetSavedLocations(), set.GetHyperfind(), set.GetDateRange()
	if err := fault.OneOf(errcode.CodeNoSet, errcode.CodeBadRequest, "from.locationSet", "locations, savedLocations and hyperfind",
		len(refs) > 0, q.SavedLocations != nil, q.Hyperfind != nil); err != nil {
		return err
	}
	if saved := q.SavedLocations; saved != nil && saved.Id == nil && saved.GetQualifier() == "" {
		return errcode.Invalid(errcode.CodeBadSet, "from.locationSet.savedLocations needs an id or a qualifier.")
	}
	for _, by := range set.GetRollupBy() {
		name := cmp.Or(by.GetKey(), by.GetSdmKey(), by.GetValue())
		if name == "" {
			return errcode.Invalid(errcode.CodeBadRequest, "from.locationSet.rollupBy: give the key, the sdmKey or the value of a location type.")
		}
		q.Rollup = append(q.Rollup, name)
	}
	return nil
}

// parseRefs returns the references in a list, which may use one of its kinds only.
func parseRefs(path string, list *commonv1.RefList) ([]*datav1.DataRow, error) {
	if _, err := reflist.AtMostOne(errcode.CodeBadRequest, path, list); err != nil {
		return nil, err
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
			return nil, errcode.Invalid(errcode.CodeBadRequest, "%s.refs: a ref needs an id or a qualifier.", path)
		}
		row := &datav1.DataRow{Id: ref.GetId()}
		if ref.Id == nil {
			row.Qualifier = ref.GetQualifier()
		}
		out = append(out, row)
	}
	for _, row := range out {
		if row.GetId() == 0 && row.GetQualifier() == "" {
			// An id of 0 would be read as a qualifier. -1 matches no row.
			row.Id = -1
		}
	}
	return out, nil
}

func (q *Query) parseDates() error {
	start, end := q.dates.GetStartDate(), q.dates.GetEndDate()
	q.Period = q.dates.GetSymbolicPeriod()
	switch {
	case q.Period != nil && (start != "" || end != ""):
		return errcode.Invalid(errcode.CodeBadRequest, "dateRange: give either startDate and endDate or symbolicPeriod.")
	case q.Period == nil && (start == "" || end == ""):
		return errcode.Invalid(errcode.CodeNoDates, "dateRange needs startDate and endDate, or symbolicPeriod.")
	case q.Period == nil:
		first, err := parseDay("dateRange.startDate", start)
		if err != nil {
			return err
		}
		last, err := parseDay("dateRange.endDate", end)
		if err != nil {
			return err
		}
		if q.Days, err = CheckedDays(first, last); err != nil {
			return err
		}
	}
	var err error
	if q.Periods.Increment, err = parseIncrement(q.dates.GetOptions().GetTimeIncrement()); err != nil {
		return err
	}
	q.Label, err = parseLabelForm(q.GetOptions().GetTimeIncrementFormat())
	return err
}

// parseDay parses a date, or the date of a date-time.
func parseDay(path, text string) (civil.Date, error) {
	if at, err := civil.ParseDateTime(text); err == nil {
		return at.Date.Clamp(), nil
	}
	day, err := civil.ParseDate(text)
	if err != nil {
		return 0, errcode.Invalid(fault.CodeDate, "%s: %s.", path, err)
	}
	return day.Clamp(), nil
}

// CheckedDays returns the range from first to last. It refuses ranges that are too long: the limit applies to
// the difference of the dates.
func CheckedDays(first, last civil.Date) (civil.Range, error) {
	if last < first {
		return civil.Range{}, errcode.Invalid(errcode.CodeDateOrder, "dateRange: endDate %s is before startDate %s.", last, first)
	}
	days := civil.Through(first, last)
	// A range from one New Year's Day to the next is permitted, as in the reference product.
	if err := errcode.Days.Check(days.Days() - 1); err != nil {
		return civil.Range{}, err
	}
	return days, nil
}

func (q *Query) parsePage() error {
	if len(q.GetSelect()) == 0 {
		return errcode.Invalid(errcode.CodeBadRequest, "select is missing. Name the data elements to read.")
	}
	switch strings.ToUpper(q.GetOptions().GetResponseType()) {
	case "", "TREE", "GRID":
	default:
		return errcode.Invalid(errcode.CodeBadRequest, "options.responseType: %q must be TREE or GRID.", errcode.Shorten(q.GetOptions().GetResponseType()))
	}
	return q.parseCursor()
}

// parseCursor reads the page by cursor. A cursor needs an order that does not change, so it refuses requests that
// sort or group rows by values.
func (q *Query) parseCursor() error {
	if q.After == nil {
		return nil
	}
	if len(q.GetSortBy()) > 0 || len(q.GetGroupBy()) > 0 {
		return errcode.Invalid(errcode.CodeBadRequest, "after: pages by cursor have the order of the ids of the rows. Leave sortBy and groupBy out, or ask for pages by index.")
	}
	fixed := q.Digestible()
	fixed.Index, fixed.After = q.Index, q.After
	var err error
	q.Cursor, err = cursor.Read[Position](fixed, "index")
	return err
}

// Digestible returns the part of the request that determines the result: everything except paging and caching.
func (q *Query) Digestible() *platformv1.MultiReadDataRequest {
	out := proto.CloneOf(q.MultiReadDataRequest)
	out.Index, out.Count, out.After = nil, nil, nil
	if o := out.GetOptions(); o != nil {
		o.RequestTag, o.Refresh, o.MetadataKey = nil, nil, nil
		o.IncludeColumnTotals = nil
	} else {
		out.Options = &platformv1.DataOptions{}
	}
	return out
}

// PlainIDs returns the distinct ids of a request that names its rows by ids only, or nil for other requests.
func (q *Query) PlainIDs() []int64 {
	if q.Hyperfind != nil || len(q.Rollup) > 0 || q.CheckCount(len(q.Refs)) != nil {
		return nil
	}
	seen := make(map[int64]bool, len(q.Refs))
	ids := make([]int64, 0, len(q.Refs))
	for _, r := range q.Refs {
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

// CheckCount refuses more rows than permitted.
func (q *Query) CheckCount(n int) error {
	if q.View.OfEmployees() {
		return errcode.Employees.Check(n)
	}
	return errcode.Locations.Check(n)
}

// Unknown returns the error for a row that does not exist for the caller.
func (q *Query) Unknown(asked *datav1.DataRow) error {
	switch {
	case q.View.OfEmployees() && asked.GetId() != 0:
		return errcode.Invalid(errcode.CodeUnreadable, "There is no employee with the id %d.", max(0, asked.GetId()))
	case q.View.OfEmployees():
		return errcode.Invalid(errcode.CodeNoEmployee, "There is no employee with the person number %q.", errcode.Shorten(asked.GetQualifier()))
	case asked.GetId() != 0:
		return errcode.Invalid(errcode.CodeNoStructure, "There is no location with the id %d.", max(0, asked.GetId()))
	}
	return errcode.Invalid(errcode.CodeNoLocation, "There is no location with the path %q on the last day.", errcode.Shorten(asked.GetQualifier()))
}
