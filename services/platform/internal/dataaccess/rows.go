package dataaccess

import (
	"context"
	"strconv"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/policy"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess/errcode"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess/query"
)

// maxHyperfind is the largest number of persons that an executed hyperfind may find. It is high enough to
// report by how many the limit is exceeded.
var maxHyperfind = int64(policy.Max[*commonsv1.ExecuteHyperfindRequest]("employees in the response"))

// finder finds the rows of a request in commons.
type finder struct {
	rows       datav1.DataRowServiceClient
	hyperfinds commonsv1.HyperfindServiceClient
	periods    commonsv1.SymbolicPeriodServiceClient
	sets       commonsv1.LocationSetServiceClient
}

// resolve resolves the names in a request: the days of a symbolic period, the beginning of weeks and pay
// periods, and the locations of a set.
func (f finder) resolve(ctx context.Context, q *query.Query) error {
	if err := f.resolveDays(ctx, q); err != nil {
		return err
	}
	if err := f.resolvePeriods(ctx, q); err != nil {
		return err
	}
	return f.resolveSet(ctx, q)
}

// resolvePeriods determines where weeks and pay periods begin, from the symbolic periods.
func (f finder) resolvePeriods(ctx context.Context, q *query.Query) error {
	name := q.Periods.Symbolic()
	if name == "" || !q.View.Series {
		return nil
	}
	first, last, err := f.span(ctx, name)
	if err != nil {
		return err
	}
	q.Periods.One = civil.Through(first, last)
	return nil
}

// resolveSet resolves the locations of a set, on the last day.
func (f finder) resolveSet(ctx context.Context, q *query.Query) error {
	if q.SavedLocations == nil {
		return nil
	}
	sets := &commonsv1.LocationSetRefs{Refs: []*commonv1.Ref{q.SavedLocations}}
	response, err := f.sets.MultiReadLocationSets(ctx, &commonsv1.MultiReadLocationSetsRequest{Where: &commonsv1.LocationSetWhere{
		AllDetails: proto.Bool(true), Context: "ORG", Date: (q.Days.To - 1).String(), LocationSets: sets,
	}})
	if err != nil {
		return replaceCode(err, errcode.CodeBadSet, "The saved locations cannot be used: ")
	}
	if failure := response.GetFailure(); failure != nil {
		return errcode.Invalid(errcode.CodeBadSet, "The saved locations cannot be used: %s", failure.GetMessage())
	}
	if len(response.GetLocationSets()) == 0 {
		return errcode.Invalid(errcode.CodeBadSet, "The saved locations cannot be used: there is no such location set.")
	}
	for _, set := range response.GetLocationSets() {
		for _, ref := range set.GetNodeRefs() {
			q.Refs = append(q.Refs, &datav1.DataRow{Id: ref.GetId()})
		}
	}
	return nil
}

// resolveDays resolves the days of a symbolic period.
func (f finder) resolveDays(ctx context.Context, q *query.Query) error {
	if q.Period == nil {
		return nil
	}
	name := q.Period.GetQualifier()
	if q.Period.Id != nil {
		name = strconv.FormatInt(q.Period.GetId(), 10)
	}
	first, last, err := f.span(ctx, name)
	if err != nil {
		return replaceCode(err, errcode.CodeNoPeriod, "The symbolic period cannot be used: ")
	}
	q.Days, err = query.CheckedDays(first, last)
	return err
}

// span returns the first and the last day of a symbolic period.
func (f finder) span(ctx context.Context, name string) (first, last civil.Date, err error) {
	span, err := f.periods.ReadSymbolicPeriod(ctx, &commonsv1.ReadSymbolicPeriodRequest{
		Where: &commonsv1.SymbolicPeriodWhere{CurrentTenant: proto.Bool(true), SymbolicPeriodId: &name},
	})
	if err != nil {
		return 0, 0, err
	}
	if first, err = civil.ParseDate(span.GetStartDate()); err != nil {
		return 0, 0, err
	}
	last, err = civil.ParseDate(span.GetEndDate())
	return first, last, err
}

// find returns the distinct rows of a request, in the requested order.
func (f finder) find(ctx context.Context, q *query.Query) ([]*datav1.DataRow, error) {
	if q.Hyperfind != nil {
		rows, err := f.execute(ctx, q)
		if err != nil || q.View.OfEmployees() {
			return rows, err
		}
		return f.workplaces(ctx, q, rows)
	}
	refs := distinct(q.Refs, func(r *datav1.DataRow) row { return row{r.GetId(), r.GetQualifier()} })
	if err := q.CheckCount(len(refs)); err != nil {
		return nil, err
	}
	found, err := f.rows.FindDataRows(ctx, &datav1.FindDataRowsRequest{RowKind: q.View.Kind, Rows: refs, Day: (q.Days.To - 1).String()})
	if err != nil {
		return nil, err
	}
	for i, r := range found.GetRows() {
		if r.GetId() == 0 {
			return nil, q.Unknown(refs[i])
		}
	}
	rows := distinct(found.GetRows(), func(r *datav1.DataRow) row { return row{id: r.GetId()} })
	if len(q.Rollup) == 0 {
		return rows, nil
	}
	return f.rollUp(ctx, q, rows)
}

// workplaces returns the locations of the employees' primary jobs on the last day, rolled up if requested.
func (f finder) workplaces(ctx context.Context, q *query.Query, employees []*datav1.DataRow) ([]*datav1.DataRow, error) {
	found, err := f.rows.FindEmployeeLocations(ctx, &datav1.FindEmployeeLocationsRequest{EmployeeIds: rowIDs(employees), Day: (q.Days.To - 1).String()})
	switch {
	case err != nil:
		return nil, err
	case len(q.Rollup) > 0:
		return f.rollUp(ctx, q, found.GetRows())
	}
	return found.GetRows(), q.CheckCount(len(found.GetRows()))
}

func rowIDs(rows []*datav1.DataRow) []int64 {
	ids := make([]int64, len(rows))
	for i := range rows {
		ids[i] = rows[i].GetId()
	}
	return ids
}

// rollUp returns the locations of the requested types above the given locations.
func (f finder) rollUp(ctx context.Context, q *query.Query, rows []*datav1.DataRow) ([]*datav1.DataRow, error) {
	found, err := f.rows.RollUpDataRows(ctx, &datav1.RollUpDataRowsRequest{LocationIds: rowIDs(rows), Types: q.Rollup, Day: (q.Days.To - 1).String()})
	if err != nil {
		return nil, replaceCode(err, errcode.CodeBadRequest, "from.locationSet.rollupBy: ")
	}
	return found.GetRows(), q.CheckCount(len(found.GetRows()))
}

// row identifies a row.
type row struct {
	id        int64
	qualifier string
}

func distinct(list []*datav1.DataRow, key func(*datav1.DataRow) row) []*datav1.DataRow {
	seen := make(map[row]bool, len(list))
	var out []*datav1.DataRow
	for _, r := range list {
		if k := key(r); !seen[k] {
			seen[k] = true
			out = append(out, r)
		}
	}
	return out
}

// execute returns the persons of a hyperfind that the caller may see.
func (f finder) execute(ctx context.Context, q *query.Query) ([]*datav1.DataRow, error) {
	response, err := f.hyperfinds.ExecuteHyperfind(ctx, &commonsv1.ExecuteHyperfindRequest{
		Hyperfind: q.Hyperfind, Threshold: proto.Int64(maxHyperfind),
		DateRange: &commonv1.DateRange{StartDate: q.Days.From.String(), EndDate: (q.Days.To - 1).String()},
	})
	if err != nil {
		f := fault.FromError(err)
		if limits := f.Details.GetLimits(); f.Code == errcode.CodeHyperfindMost && len(limits) > 0 && q.View.OfEmployees() {
			// Report the limit of information access instead.
			return nil, errcode.Employees.Fault(int(limits[0].GetActual()))
		}
		code := errcode.CodeHyperfind
		if q.Hyperfind.Id != nil {
			code = errcode.CodeBadSet
		}
		return nil, replaceCode(err, code, "The hyperfind cannot be used: ")
	}
	refs := response.GetResult().GetRefs().GetRefs()
	if q.View.OfEmployees() {
		if err := q.CheckCount(len(refs)); err != nil {
			return nil, err
		}
	}
	out := make([]*datav1.DataRow, len(refs))
	for i, ref := range refs {
		out[i] = &datav1.DataRow{Id: ref.GetId(), Qualifier: ref.GetQualifier()}
	}
	return out, nil
}

// replaceCode gives an error of another service a code of information access if the request caused it. Other
// errors stay unchanged.
func replaceCode(err error, code, text string) error {
	f := fault.FromError(err)
	if f.Status != 400 && f.Status != 404 {
		return err
	}
	return errcode.Invalid(code, "%s%s", text, f.Message).WithCause(err)
}
