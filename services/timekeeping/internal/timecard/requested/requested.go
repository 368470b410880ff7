// Package requested resolves the employees and the days of requests for timecards.
package requested

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/calculation"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardfault"
)

// Finder finds employees and days.
type Finder struct {
	persons *person.Directory
	commons Commons
}

// Commons has the calls to commons that timecards need.
type Commons interface {
	ReadSymbolicPeriod(context.Context, *commonsv1.ReadSymbolicPeriodRequest, ...grpc.CallOption) (*commonsv1.SymbolicPeriodSpan, error)
	ExecuteHyperfind(context.Context, *commonsv1.ExecuteHyperfindRequest, ...grpc.CallOption) (*commonsv1.HyperfindResponse, error)
}

// New returns a Finder of the persons of a directory.
func New(persons *person.Directory, commons Commons) *Finder {
	return &Finder{persons: persons, commons: commons}
}

// Employee finds an employee that the caller can see.
func (f *Finder) Employee(ctx context.Context, ref *commonv1.Ref) (person.Person, error) {
	var none person.Person
	key, err := PersonKey(ref)
	if err != nil {
		return none, err
	}
	found, err := f.persons.Find(ctx, []person.Key{key})
	if err != nil {
		return none, err
	}
	return In(found, ref)
}

// EmployeeOn finds an employee that the caller can see on all of the days.
func (f *Finder) EmployeeOn(ctx context.Context, ref *commonv1.Ref, days civil.Range) (person.Person, error) {
	return f.Employee(rowvisibility.OnDays(ctx, days), ref)
}

// EmployeeOnAnyDay finds an employee that the caller can see on some day, and the persons whom the caller sees.
func (f *Finder) EmployeeOnAnyDay(ctx context.Context, ref *commonv1.Ref) (person.Person, rowvisibility.Set, error) {
	ctx = rowvisibility.OnAnyDay(ctx)
	who, err := f.Employee(ctx, ref)
	if err != nil {
		return who, rowvisibility.Set{}, err
	}
	visible, err := f.persons.Visible(ctx)
	return who, visible, err
}

// CheckDays returns the error for an unknown employee if the caller does not see the employee on all of
// the days.
func (f *Finder) CheckDays(ctx context.Context, ref *commonv1.Ref, who person.Person, days []civil.Range) error {
	visible, err := f.persons.Visible(rowvisibility.OnAnyDay(ctx))
	if err != nil {
		return err
	}
	for _, d := range days {
		if !visible.HasOn(who.ID, d) {
			authn.NoteNotVisible(ctx)
			_, err := In(nil, ref)
			return err
		}
	}
	return nil
}

// Self finds the caller.
func (f *Finder) Self(ctx context.Context) (person.Person, error) {
	p, ok := authn.From(ctx)
	if !ok || p.PersonID <= 0 {
		return person.Person{}, fault.Invalid(timecardfault.CodeOwn, "Your user is not an employee, and has no timecard.")
	}
	return f.Employee(ctx, &commonv1.Ref{Id: proto.Int64(p.PersonID)})
}

// Days returns the days that a request names.
func (f *Finder) Days(ctx context.Context, d Dates) (civil.Range, error) {
	start, end := d.given.GetStartDate(), d.given.GetEndDate()
	switch {
	case d.given.GetSymbolicPeriod() != nil && (start != "" || end != ""):
		return civil.Range{}, timecardfault.Invalid("%s and %s, or %s, must be given, not both", d.start, d.end, d.period)
	case d.given.GetSymbolicPeriod() != nil:
		span, err := f.symbolic(ctx, d)
		if err != nil {
			return civil.Range{}, err
		}
		start, end = span.GetStartDate(), span.GetEndDate()
	case start == "" || end == "":
		return civil.Range{}, fault.Invalid(timecardfault.CodeNoRange, fmt.Sprintf("%s and %s, or %s, must be given.", d.start, d.end, d.period))
	}
	first, err := civil.ParseDate(start)
	if err != nil {
		return civil.Range{}, fault.Invalid(fault.CodeDate, d.start+": "+err.Error()+".")
	}
	last, err := civil.ParseDate(end)
	if err != nil {
		return civil.Range{}, fault.Invalid(fault.CodeDate, d.end+": "+err.Error()+".")
	}
	days := civil.Through(first, last)
	switch {
	case days.Empty():
		return days, fault.Invalid(timecardfault.CodeNoRange, fmt.Sprintf("%s is before %s.", d.end, d.start))
	case first < calculation.First || last > calculation.Last:
		return days, timecardfault.Invalid("%s and %s must be from %s to %s", d.start, d.end, calculation.First, calculation.Last)
	case days.Days() > calculation.MaxDays:
		return days, fault.New(timecardfault.CodeLimit, http.StatusRequestEntityTooLarge,
			fmt.Sprintf("From %s to %s are %d days; at most %d are allowed.", d.start, d.end, days.Days(), calculation.MaxDays))
	}
	return days, nil
}

// symbolic returns the days of the symbolic period that a request names.
func (f *Finder) symbolic(ctx context.Context, d Dates) (*commonsv1.SymbolicPeriodSpan, error) {
	period := d.given.GetSymbolicPeriod()
	name := period.GetQualifier()
	if period.Id != nil {
		name = strconv.FormatInt(period.GetId(), 10)
	}
	where := &commonsv1.SymbolicPeriodWhere{SymbolicPeriodId: &name}
	if d.own {
		where.CurrentUser = proto.Bool(true)
	} else {
		where.CurrentTenant = proto.Bool(true)
	}
	span, err := f.commons.ReadSymbolicPeriod(ctx, &commonsv1.ReadSymbolicPeriodRequest{Where: where})
	if err != nil {
		if status := fault.FromError(err).Status; status == http.StatusBadRequest || status == http.StatusNotFound {
			return nil, fault.New(timecardfault.CodePeriod, http.StatusBadRequest, fmt.Sprintf("There is no symbolic period %.100q.", name)).WithCause(err)
		}
		return nil, err
	}
	return span, nil
}

// Dates holds the days that a request names, and the property names of its dates and of its
// symbolic period.
type Dates struct {
	given              *commonv1.DateRange
	start, end, period string
	// own says that a symbolic period is relative to the caller's today, and not to the tenant's.
	own bool
}

// Own returns the Dates of a request for the caller's own timecard: their symbolic period is
// relative to today in the caller's time zone.
func (d Dates) Own() Dates {
	d.own = true
	return d
}

// InRange returns the Dates of a range; path is its position in the request.
func InRange(path string, r *commonv1.DateRange) Dates {
	return Dates{given: r, start: path + ".startDate", end: path + ".endDate", period: path + ".symbolicPeriod"}
}

// withDates is a message with two dates.
type withDates interface {
	GetStartDate() string
	GetEndDate() string
}

// withTimeframe is a message with two dates or a timeframeId.
type withTimeframe interface {
	withDates
	GetTimeframeId() string
}

// InItem returns the Dates of an item of a request.
func InItem(item withTimeframe) Dates {
	return Dates{given: dateRange(item, item.GetTimeframeId()), start: "startDate", end: "endDate", period: "timeframeId"}
}

// InQuery returns the Dates of a query.
func InQuery(req withTimeframe) Dates {
	return Dates{given: dateRange(req, req.GetTimeframeId()), start: "start_date", end: "end_date", period: "timeframe_id"}
}

// InPeriodQuery returns the Dates of a query whose period has the longer name.
func InPeriodQuery(req interface {
	withDates
	GetSymbolicPeriodId() string
},
) Dates {
	return Dates{given: dateRange(req, req.GetSymbolicPeriodId()), start: "start_date", end: "end_date", period: "symbolic_period_id"}
}

// None reports whether the request names no days.
func (d Dates) None() bool { return proto.Equal(d.given, &commonv1.DateRange{}) }

func dateRange(req withDates, period string) *commonv1.DateRange {
	dates := &commonv1.DateRange{StartDate: req.GetStartDate(), EndDate: req.GetEndDate()}
	if period == "" {
		return dates
	}
	dates.SymbolicPeriod = &commonv1.Ref{Qualifier: &period}
	if id, err := strconv.ParseInt(period, 10, 64); err == nil {
		dates.SymbolicPeriod = &commonv1.Ref{Id: &id}
	}
	return dates
}
