// Package requested finds out whom and which days a request for timecards names.
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
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/card"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardfault"
)

// Finder finds employees and days.
type Finder struct {
	persons *person.Directory
	commons Commons
}

// Commons is what timecards ask of commons.
type Commons interface {
	ReadSymbolicPeriod(context.Context, *commonsv1.ReadSymbolicPeriodRequest, ...grpc.CallOption) (*commonsv1.SymbolicPeriodSpan, error)
	ExecuteHyperfind(context.Context, *commonsv1.ExecuteHyperfindRequest, ...grpc.CallOption) (*commonsv1.HyperfindResponse, error)
}

// New returns a Finder of the persons of a directory.
func New(persons *person.Directory, commons Commons) *Finder {
	return &Finder{persons: persons, commons: commons}
}

// Employee finds an employee whom the caller sees.
func (f *Finder) Employee(ctx context.Context, ref *commonv1.Ref) (int64, person.Person, error) {
	var none person.Person
	tenantID, err := tenant.Of(ctx)
	if err != nil {
		return 0, none, err
	}
	key, err := KeyOf(ref)
	if err != nil {
		return 0, none, err
	}
	found, err := f.persons.Find(ctx, tenantID, []person.Key{key})
	if err != nil {
		return 0, none, err
	}
	who, err := In(found, ref)
	return tenantID, who, err
}

// Self finds the caller.
func (f *Finder) Self(ctx context.Context) (int64, person.Person, error) {
	p, ok := authn.From(ctx)
	if !ok || p.PersonID <= 0 {
		return 0, person.Person{}, fault.Invalid(timecardfault.CodeOwn, "The user is no employee, and has no timecard of their own.")
	}
	return f.Employee(ctx, &commonv1.Ref{Id: proto.Int64(p.PersonID)})
}

// Days returns the days of a range, which stands at a place of the request.
func (f *Finder) Days(ctx context.Context, path string, r *commonv1.DateRange) (civil.Range, error) {
	start, end := r.GetStartDate(), r.GetEndDate()
	switch {
	case r.GetSymbolicPeriod() != nil && (start != "" || end != ""):
		return civil.Range{}, timecardfault.Invalid("%s.dateRange must have dates or a symbolicPeriod, not both", path)
	case r.GetSymbolicPeriod() != nil:
		span, err := f.symbolic(ctx, r.GetSymbolicPeriod())
		if err != nil {
			return civil.Range{}, err
		}
		start, end = span.GetStartDate(), span.GetEndDate()
	case start == "" || end == "":
		return civil.Range{}, fault.Invalid(timecardfault.CodeNoRange, path+".dateRange needs startDate and endDate, or a symbolicPeriod.")
	}
	first, err := civil.ParseDate(start)
	if err != nil {
		return civil.Range{}, fault.Invalid(fault.CodeDate, path+".dateRange.startDate: "+err.Error()+".")
	}
	last, err := civil.ParseDate(end)
	if err != nil {
		return civil.Range{}, fault.Invalid(fault.CodeDate, path+".dateRange.endDate: "+err.Error()+".")
	}
	days := civil.Through(first, last)
	switch {
	case days.Empty():
		return days, fault.Invalid(timecardfault.CodeNoRange, path+".dateRange.endDate is before startDate.")
	case first < card.First || last > card.Last:
		return days, timecardfault.Invalid("%s.dateRange must be from %s to %s", path, card.First, card.Last)
	case days.Days() > card.MaxDays:
		return days, fault.New(timecardfault.CodeLimit, http.StatusRequestEntityTooLarge, fmt.Sprintf("%s.dateRange has %d days; at most %d are allowed.", path, days.Days(), card.MaxDays))
	}
	return days, nil
}

// symbolic returns the days of a symbolic period.
func (f *Finder) symbolic(ctx context.Context, period *commonv1.Ref) (*commonsv1.SymbolicPeriodSpan, error) {
	name := period.GetQualifier()
	if period.Id != nil {
		name = strconv.FormatInt(period.GetId(), 10)
	}
	span, err := f.commons.ReadSymbolicPeriod(ctx, &commonsv1.ReadSymbolicPeriodRequest{
		Where: &commonsv1.SymbolicPeriodWhere{CurrentTenant: proto.Bool(true), SymbolicPeriodId: &name},
	})
	if err != nil {
		if status := fault.FromError(err).Status; status == http.StatusBadRequest || status == http.StatusNotFound {
			return nil, fault.New(timecardfault.CodePeriod, http.StatusBadRequest, fmt.Sprintf("There is no symbolic period %.100q.", name)).WithCause(err)
		}
		return nil, err
	}
	return span, nil
}

// Dates makes a range of days of what a query names.
func Dates(period, start, end string) *commonv1.DateRange {
	dates := &commonv1.DateRange{StartDate: start, EndDate: end}
	if period == "" {
		return dates
	}
	dates.SymbolicPeriod = &commonv1.Ref{Qualifier: &period}
	if id, err := strconv.ParseInt(period, 10, 64); err == nil {
		dates.SymbolicPeriod = &commonv1.Ref{Id: &id}
	}
	return dates
}
