package requested

import (
	"context"
	"fmt"
	"net/http"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/calculation"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardfault"
)

// Set holds the employees and the days of a request.
type Set struct {
	// IDs are the ids of the employees, without duplicates.
	IDs  []int64
	Days civil.Range
	// Unknown are the employees that do not exist, or that the caller cannot see. At least one
	// other employee is known.
	Unknown []rpc.UnknownEmployee
}

// Set returns the employees and the days of a set; path is its position in the request. It returns
// an error if all its employees are unknown, unless a hyperfind has an empty result.
func (f *Finder) Set(ctx context.Context, path string, set *timekeepingv1.TimecardEmployeeSet) (Set, error) {
	days, err := f.Days(ctx, InRange(path+".dateRange", set.GetDateRange()))
	if err != nil {
		return Set{}, err
	}
	list := set.GetEmployees()
	if set.GetHyperFind() != nil {
		if list != nil {
			return Set{}, timecardfault.Invalid("%s must have employees or hyperFind, not both", path)
		}
		if list, err = f.executeHyperfind(ctx, set.GetHyperFind(), days); err != nil || len(list.GetIds()) == 0 {
			return Set{Days: days}, err
		}
	}
	keys, err := Keys(path+".employees", list)
	if err != nil {
		return Set{}, err
	}
	if n := len(keys) * days.Days(); n > calculation.MaxEmployeeDays {
		return Set{}, fault.New(timecardfault.CodeLimit, http.StatusRequestEntityTooLarge,
			fmt.Sprintf("%d employees on %d days are %d employees * days; at most %d are allowed.", len(keys), days.Days(), n, calculation.MaxEmployeeDays))
	}
	ids, missing, err := f.persons.IDs(rowvisibility.OnDays(ctx, days), keys, newUnknownError)
	if set.GetHyperFind() != nil {
		// A hyperfind can return an employee who is deleted before the next call. The request does
		// not name this employee, so it is not an error.
		if fault.HasCode(err, timecardfault.CodeReference) {
			err = nil
		}
		missing = nil
	}
	return Set{IDs: ids, Days: days, Unknown: missing}, err
}

// executeHyperfind returns the employees that a hyperfind returns for some days.
func (f *Finder) executeHyperfind(ctx context.Context, query *commonv1.Ref, days civil.Range) (*commonv1.RefList, error) {
	response, err := f.commons.ExecuteHyperfind(ctx, &commonsv1.ExecuteHyperfindRequest{
		Hyperfind: query, Threshold: proto.Int64(calculation.MaxEmployees),
		DateRange: &commonv1.DateRange{StartDate: days.From.String(), EndDate: (days.To - 1).String()},
	})
	if err != nil {
		refused := fault.FromError(err)
		switch refused.Status {
		case http.StatusRequestEntityTooLarge:
			return nil, fault.New(timecardfault.CodeLimit, refused.Status, fmt.Sprintf("where.hyperFind finds more than %d employees.", calculation.MaxEmployees)).WithCause(err)
		case http.StatusBadRequest, http.StatusNotFound:
			return nil, fault.New(timecardfault.CodeReference, http.StatusBadRequest, "where.hyperFind: "+refused.Message).WithCause(err)
		}
		return nil, err
	}
	out := &commonv1.RefList{}
	for _, ref := range response.GetResult().GetRefs().GetRefs() {
		out.Ids = append(out.Ids, ref.GetId())
	}
	return out, nil
}

// Keys returns the keys of the employees in a list, without duplicates; path is its position in the
// request.
func Keys(path string, list *commonv1.RefList) ([]person.Key, error) {
	refs := append([]*commonv1.Ref(nil), list.GetRefs()...)
	for _, id := range list.GetIds() {
		refs = append(refs, &commonv1.Ref{Id: &id})
	}
	for _, number := range list.GetQualifiers() {
		refs = append(refs, &commonv1.Ref{Qualifier: &number})
	}
	if len(refs) == 0 {
		return nil, timecardfault.Missing(path)
	}
	seen := make(map[person.Key]bool, len(refs))
	var keys []person.Key
	for _, ref := range refs {
		key, err := PersonKey(ref)
		if err != nil {
			return nil, err
		}
		if !seen[key] {
			seen[key], keys = true, append(keys, key)
		}
	}
	return keys, nil
}

// PersonKey returns the key for a ref.
func PersonKey(ref *commonv1.Ref) (person.Key, error) {
	switch {
	case ref != nil && ref.Id != nil && ref.GetId() != 0:
		return person.Key{ID: ref.GetId()}, nil
	case ref != nil && ref.Id == nil && ref.GetQualifier() != "":
		return person.Key{Number: ref.GetQualifier()}, nil
	}
	return person.Key{}, timecardfault.Missing("The id or the qualifier of an employee").WithMembers("employee")
}

// In returns the person that a ref names, from the found persons.
func In(found map[person.Key]person.Person, ref *commonv1.Ref) (person.Person, error) {
	key, err := PersonKey(ref)
	if err != nil {
		return person.Person{}, err
	}
	who, ok := found[key]
	if !ok {
		return who, newUnknownError(key)
	}
	if who.Refused != nil {
		return who, who.Refused
	}
	return who, nil
}

func newUnknownError(key person.Key) *fault.Error {
	return fault.Invalid(timecardfault.CodeReference, key.Unknown().Message)
}
