package timeoff

import (
	"context"
	"fmt"
	"net/http"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/employeesearch"
	"github.com/rotaloom/rotaloom/pkg/domain/reflist"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timeofffault"
)

// Codes of the specified API for employees who are named.
const (
	// codeEmployeeUnknown (400): there is no such employee, or the caller does not see them.
	codeEmployeeUnknown = "WFS-103401"
	// codeEmployeeMissing (400): an employee is not named.
	codeEmployeeMissing = "WFS-103407"
)

// employee is an employee whose time off it is.
type employee struct {
	ID           int64
	PersonNumber string
	// Zone is where the employee's wall-clock times are.
	Clocks civil.Clocks
}

// Persons finds persons, as [person.Directory] does.
type Persons interface {
	Find(ctx context.Context, tenantID int64, keys []person.Key) (map[person.Key]person.Person, error)
	Visible(ctx context.Context) (rowvisibility.Set, error)
	CountEverybody(ctx context.Context, tenantID int64) (int, error)
	Everybody(ctx context.Context, tenantID int64) ([]person.Person, error)
}

// directory finds the employees that requests name. It has no place in a transaction.
type directory struct {
	persons Persons
	zones   civil.Zones
}

// employees returns the employees that refs name, in the same order; the qualifier of an
// employee is the person number. A ref that names nobody whom the caller may see is the error
// WFS-103401, one without id and qualifier WFS-103407.
func (d *directory) employees(ctx context.Context, refs []*commonv1.Ref) ([]employee, error) {
	out, unknown, err := d.known(ctx, refs)
	if err == nil && len(unknown) > 0 {
		err = unknown[0].Err
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// known is employees without those that are unknown, whose errors it returns.
func (d *directory) known(ctx context.Context, refs []*commonv1.Ref) ([]employee, []rpc.UnknownEmployee, error) {
	tenantID := tenant.Of(ctx)
	keys := make([]person.Key, len(refs))
	for i, ref := range refs {
		if !timeofffault.Named(ref) {
			return nil, nil, fault.Invalid(codeEmployeeMissing, "An employee is named by neither id nor qualifier.")
		}
		keys[i] = keyOf(ref)
	}
	found, err := d.persons.Find(ctx, tenantID, keys)
	if err != nil {
		return nil, nil, err
	}
	var out []employee
	var unknown []rpc.UnknownEmployee
	var refused *fault.Error
	for _, ref := range refs {
		p, ok := found[keyOf(ref)]
		if !ok {
			err := fault.Newf(codeEmployeeUnknown, http.StatusBadRequest, "Employee not found: %s.", employeesearch.Describe(ref))
			unknown = append(unknown, rpc.UnknownEmployee{Ref: ref, Err: err})
			continue
		}
		if refused == nil {
			refused = p.Refused
		}
		e, err := d.employeeOf(p)
		if err != nil {
			return nil, nil, err
		}
		out = append(out, e)
	}
	if refused != nil {
		return nil, nil, refused
	}
	return out, unknown, nil
}

// keyOf returns whom a ref names. The id wins.
func keyOf(ref *commonv1.Ref) person.Key {
	if ref.Id != nil {
		return person.Key{ID: ref.GetId()}
	}
	return person.Key{Number: ref.GetQualifier()}
}

// listed returns the employees that a list names, in its order, and for an empty list
// everybody whom the caller may see. It returns the errors of unknown employees beside the
// others, and refuses a list of which no employee is known. More than one list in it is the error
// WFS-111207.
func (d *directory) listed(ctx context.Context, list *commonv1.RefList) ([]employee, []rpc.UnknownEmployee, error) {
	switch reflist.CountKinds(list) {
	case 0:
		all, err := d.everybody(ctx)
		return all, nil, err
	case 1:
		known, unknown, err := d.known(ctx, reflist.Refs(list))
		if err == nil && len(known) == 0 && len(unknown) > 0 {
			err = unknown[0].Err
		}
		return known, unknown, err
	default:
		return nil, nil, fault.Invalid(timeofffault.CodeOnlyOne, "Give exactly one of ids, qualifiers and refs.")
	}
}

func (d *directory) everybody(ctx context.Context) ([]employee, error) {
	tenantID := tenant.Of(ctx)
	persons, err := d.persons.Everybody(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	out := make([]employee, len(persons))
	for i, p := range persons {
		if out[i], err = d.employeeOf(p); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// count returns how many employees an empty list stands for.
func (d *directory) count(ctx context.Context) (int, error) {
	tenantID := tenant.Of(ctx)
	return d.persons.CountEverybody(ctx, tenantID)
}

func (d *directory) employeeOf(p person.Person) (employee, error) {
	clocks, err := p.Clocks(&d.zones)
	if err != nil {
		return employee{}, fmt.Errorf("timeoff: the time zone of person %d: %w", p.ID, err)
	}
	return employee{ID: p.ID, PersonNumber: p.Number, Clocks: clocks}, nil
}
