package requested

import (
	"context"
	"fmt"
	"net/http"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/card"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardfault"
)

// Set are employees and days that a request names.
type Set struct {
	// IDs are those of the employees, each once.
	IDs  []int64
	Days civil.Range
	// Unknown are the employees that do not exist for the caller. At least one other is known.
	Unknown []rpc.UnknownEmployee
}

// Set returns the employees and the days of a set, which stands at a place of the request. It
// refuses a set of which no employee is known, unless a hyperfind finds nobody.
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
		if list, err = f.found(ctx, set.GetHyperFind(), days); err != nil || len(list.GetIds()) == 0 {
			return Set{Days: days}, err
		}
	}
	keys, err := Keys(path+".employees", list)
	if err != nil {
		return Set{}, err
	}
	if n := len(keys) * days.Days(); n > card.MaxEmployeeDays {
		return Set{}, fault.New(timecardfault.CodeLimit, http.StatusRequestEntityTooLarge,
			fmt.Sprintf("%d employees on %d days are %d employees * days; at most %d are allowed.", len(keys), days.Days(), n, card.MaxEmployeeDays))
	}
	ids, missing, err := f.persons.IDs(ctx, tenant.Of(ctx), keys, unknown)
	if set.GetHyperFind() != nil {
		// The request does not name an employee who was found, and is gone since.
		if fault.HasCode(err, timecardfault.CodeReference) {
			err = nil
		}
		missing = nil
	}
	return Set{IDs: ids, Days: days, Unknown: missing}, err
}

// found returns the employees whom a hyperfind finds on some days.
func (f *Finder) found(ctx context.Context, query *commonv1.Ref, days civil.Range) (*commonv1.RefList, error) {
	response, err := f.commons.ExecuteHyperfind(ctx, &commonsv1.ExecuteHyperfindRequest{
		Hyperfind: query, Threshold: proto.Int64(card.MaxEmployees),
		DateRange: &commonv1.DateRange{StartDate: days.From.String(), EndDate: (days.To - 1).String()},
	})
	if err != nil {
		refused := fault.FromError(err)
		switch refused.Status {
		case http.StatusRequestEntityTooLarge:
			return nil, fault.New(timecardfault.CodeLimit, refused.Status, fmt.Sprintf("where.hyperFind finds more than %d employees.", card.MaxEmployees)).WithCause(err)
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

// Keys returns whom a list names, at a place of the request, each once.
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
		key, err := KeyOf(ref)
		if err != nil {
			return nil, err
		}
		if !seen[key] {
			seen[key], keys = true, append(keys, key)
		}
	}
	return keys, nil
}

// KeyOf returns whom a ref names.
func KeyOf(ref *commonv1.Ref) (person.Key, error) {
	switch {
	case ref != nil && ref.Id != nil && ref.GetId() != 0:
		return person.Key{ID: ref.GetId()}, nil
	case ref != nil && ref.Id == nil && ref.GetQualifier() != "":
		return person.Key{Number: ref.GetQualifier()}, nil
	}
	return person.Key{}, timecardfault.Missing("The id or the qualifier of an employee")
}

// In returns the person whom a ref names, of those who were found.
func In(found map[person.Key]person.Person, ref *commonv1.Ref) (person.Person, error) {
	key, err := KeyOf(ref)
	if err != nil {
		return person.Person{}, err
	}
	who, ok := found[key]
	if !ok {
		return who, unknown(key)
	}
	if who.Refused != nil {
		return who, who.Refused
	}
	return who, nil
}

func unknown(key person.Key) *fault.Error {
	return fault.Invalid(timecardfault.CodeReference, key.Unknown().Message)
}
