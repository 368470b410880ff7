package query

import (
	"cmp"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/reflist"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess/errcode"
)

// View is what the rows of a response are.
type View struct {
	Number int32
	Name   string
	Kind   datav1.RowKind
	// Series says that there is a row for each period.
	Series bool
}

// Views are those that are served.
func Views() []View {
	const employees, locations = datav1.RowKind_ROW_KIND_EMPLOYEE, datav1.RowKind_ROW_KIND_LOCATION
	return []View{
		{0, "EMP", employees, false},
		{1, "ORGANIZATION", locations, false},
		{2, "EMP_TIME_SERIES", employees, true},
		{3, "ORGANIZATION_TIME_SERIES", locations, true},
	}
}

// OfEmployees reports whether the rows of the view are employees; they are locations
// otherwise.
func (v View) OfEmployees() bool { return v.Kind == datav1.RowKind_ROW_KIND_EMPLOYEE }

// Query is a request of which all is known but the rows and the elements.
type Query struct {
	*platformv1.MultiReadDataRequest
	View View
	// Refs name the rows; hyperfind does instead when it is not nil. Of a view of
	// locations they are those of the employees whom it finds.
	Refs      []*datav1.DataRow
	Hyperfind *commonv1.Ref
	// SavedLocations is a location set that names the rows.
	SavedLocations *commonv1.Ref
	// Rollup names the types that locations are rolled up to.
	Rollup []string
	dates  *platformv1.DataDateRange
	Period *commonv1.Ref
	// Days are known when there is no symbolic period.
	Days    civil.Range
	Periods periods
	Label   LabelForm
}

// Parse reads a request. It checks what can be known of it alone, in the order
// in which it is said.
func Parse(req *platformv1.MultiReadDataRequest) (*Query, error) {
	q := &Query{MultiReadDataRequest: req}
	for _, check := range []func() error{q.parseView, q.parseSet, q.parseDates, q.parsePage} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	return q, nil
}

// Named returns the key and the alias of a column that a request names: by these, or, when
// it gives neither, by columnName, which is the alias of what is selected or else a key.
func (q *Query) Named(key string, alias *string, columnName string) (ofKey string, ofAlias *string) {
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
		return errcode.Invalid(errcode.CodeNoFrom, "from is missing.")
	}
	if from.GetView() == "" {
		return errcode.Invalid(errcode.CodeNoView, "from.view is missing.")
	}
	for _, v := range Views() {
		if from.GetView() == string('0'+v.Number) || strings.EqualFold(from.GetView(), v.Name) {
			q.View = v
			return nil
		}
	}
	for _, work := range []string{"4", "5", "WORKUNIT", "WORKUNIT_TIMESERIES"} {
		if strings.EqualFold(from.GetView(), work) {
			return errcode.Invalid(errcode.CodeWorkUnits, "from.view: %s shows work units, and there are none here. Use the views 0 to 3.", work)
		}
	}
	return errcode.Invalid(errcode.CodeBadRequest, "from.view: %q is none of 0 to 3.", errcode.Shortened(from.GetView()))
}

func (q *Query) parseSet() error {
	from := q.GetFrom()
	if q.View.OfEmployees() {
		set := from.GetEmployeeSet()
		refs, err := refsOf("from.employeeSet.employees", set.GetEmployees())
		if err != nil {
			return err
		}
		if q.Refs, q.Hyperfind, q.dates = refs, set.GetHyperfind(), set.GetDateRange(); len(refs) == 0 && q.Hyperfind == nil {
			return errcode.Invalid(errcode.CodeNoSet, "from.employeeSet needs employees or hyperfind.")
		}
		if len(refs) > 0 && q.Hyperfind != nil {
			return errcode.Invalid(errcode.CodeBadRequest, "from.employeeSet: give either employees or hyperfind.")
		}
		return nil
	}
	return q.parseLocationSet(from.GetLocationSet())
}

func (q *Query) parseLocationSet(set *platformv1.DataLocationSet) error {
	refs, err := refsOf("from.locationSet.locations", set.GetLocations())
	if err != nil {
		return err
	}
	q.Refs, q.SavedLocations, q.Hyperfind, q.dates = refs, set.GetSavedLocations(), set.GetHyperfind(), set.GetDateRange()
	given := reflist.CountTrue(len(refs) > 0, q.SavedLocations != nil, q.Hyperfind != nil)
	switch saved := q.SavedLocations; {
	case given == 0:
		return errcode.Invalid(errcode.CodeNoSet, "from.locationSet needs locations, savedLocations or hyperfind.")
	case given > 1:
		return errcode.Invalid(errcode.CodeBadRequest, "from.locationSet: give one of locations, savedLocations and hyperfind.")
	case saved != nil && saved.Id == nil && saved.GetQualifier() == "":
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

// refsOf returns the names of a list, of which exactly one kind may be given.
func refsOf(path string, list *commonv1.RefList) ([]*datav1.DataRow, error) {
	if reflist.CountKinds(list) > 1 {
		return nil, errcode.Invalid(errcode.CodeBadRequest, "%s: give one of ids, qualifiers and refs.", path)
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
			// An id of 0 would be taken for a qualifier; nothing has it.
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

// parseDay reads a date, or the date of a date-time.
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

// CheckedDays returns a range of which both ends are included, and no longer than
// allowed: the limit is on the difference of the dates.
func CheckedDays(first, last civil.Date) (civil.Range, error) {
	if last < first {
		return civil.Range{}, errcode.Invalid(errcode.CodeDateOrder, "dateRange: endDate %s is before startDate %s.", last, first)
	}
	days := civil.Through(first, last)
	// A year from one new year to the next passes, as in the reference product.
	if n := days.Days() - 1; n > errcode.MaxDays {
		return civil.Range{}, errcode.TooManyDays(n)
	}
	return days, nil
}

func (q *Query) parsePage() error {
	if len(q.GetSelect()) == 0 {
		return errcode.Invalid(errcode.CodeBadRequest, "select is missing.")
	}
	switch strings.ToUpper(q.GetOptions().GetResponseType()) {
	case "", "TREE", "GRID":
	default:
		return errcode.Invalid(errcode.CodeBadRequest, "options.responseType: %q is neither TREE nor GRID.", errcode.Shortened(q.GetOptions().GetResponseType()))
	}
	return nil
}

// Digestible is the part of the request that decides what the result is: all
// but the page and how the result is kept.
func (q *Query) Digestible() *platformv1.MultiReadDataRequest {
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

// PlainIDs returns the ids of a request that names its rows by nothing else,
// each once; nil when it names them in another way.
func (q *Query) PlainIDs() []int64 {
	if q.Hyperfind != nil || len(q.Rollup) > 0 || len(q.Refs) > errcode.MaxEmployees || !q.View.OfEmployees() && len(q.Refs) > errcode.MaxLocations {
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

// CheckCount refuses more rows than a request may have.
func (q *Query) CheckCount(n int) error {
	switch {
	case q.View.OfEmployees() && n > errcode.MaxEmployees:
		return errcode.TooManyEmployees(n)
	case !q.View.OfEmployees() && n > errcode.MaxLocations:
		return errcode.TooManyLocations(n)
	}
	return nil
}

// Unknown is the error of a row that is not there for the caller.
func (q *Query) Unknown(asked *datav1.DataRow) error {
	switch {
	case q.View.OfEmployees() && asked.GetId() != 0:
		return errcode.Invalid(errcode.CodeUnreadable, "There is no employee with the id %d.", max(0, asked.GetId()))
	case q.View.OfEmployees():
		return errcode.Invalid(errcode.CodeNoEmployee, "There is no employee with the person number %q.", errcode.Shortened(asked.GetQualifier()))
	case asked.GetId() != 0:
		return errcode.Invalid(errcode.CodeNoStructure, "There is no location with the id %d.", max(0, asked.GetId()))
	}
	return errcode.Invalid(errcode.CodeNoLocation, "There is no location with the path %q on the last day.", errcode.Shortened(asked.GetQualifier()))
}
