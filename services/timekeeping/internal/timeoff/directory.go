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
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timeofffault"
)

// Codes of the specified API for employees in requests.
const (
	// codeEmployeeUnknown (400): the employee does not exist, or the caller cannot see them.
	codeEmployeeUnknown = "WFS-103401"
	// codeEmployeeMissing (400): the request does not name an employee.
	codeEmployeeMissing = "WFS-103407"
)

// employee is the employee of a request for time off.
type employee struct {
	ID           int64
	PersonNumber string
	// Clocks are the clocks of the employee's wall-clock times.
	Clocks civil.Clocks
}

// Persons finds persons; [person.Directory] implements it.
type Persons interface {
	Find(ctx context.Context, keys []person.Key) (map[person.Key]person.Person, error)
	Visible(ctx context.Context) (rowvisibility.Set, error)
	CountEverybody(ctx context.Context) (int, error)
	Everybody(ctx context.Context) ([]person.Person, error)
}

// directory finds the employees of requests. Do not call it inside a transaction.
type directory struct {
	persons Persons
	zones   civil.Zones
}

// employees returns the employees that refs name, in the same order. The qualifier of an employee
// is the person number. A ref to an unknown or invisible employee is the error WFS-103401. A ref
// without id and qualifier is the error WFS-103407.
func (d *directory) employees(ctx context.Context, refs []*commonv1.Ref) ([]employee, error) {
	out, unknown, err := d.findKnown(ctx, refs)
	if err == nil && len(unknown) > 0 {
		err = unknown[0].Err
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// findKnown does the same as employees, but leaves out unknown employees and returns their errors.
func (d *directory) findKnown(ctx context.Context, refs []*commonv1.Ref) ([]employee, []rpc.UnknownEmployee, error) {
	keys := make([]person.Key, len(refs))
	for i, ref := range refs {
		if !timeofffault.Named(ref) {
			return nil, nil, fault.Invalid(codeEmployeeMissing, "An employee needs an id or a qualifier.")
		}
		keys[i] = personKey(ref)
	}
	found, err := d.persons.Find(ctx, keys)
	if err != nil {
		return nil, nil, err
	}
	var out []employee
	var unknown []rpc.UnknownEmployee
	var refused *fault.Error
	for _, ref := range refs {
		p, ok := found[personKey(ref)]
		if !ok {
			err := fault.Newf(codeEmployeeUnknown, http.StatusBadRequest, "Employee not found: %s.", employeesearch.Describe(ref))
			unknown = append(unknown, rpc.UnknownEmployee{Ref: ref, Err: err})
			continue
		}
		if refused == nil {
			refused = p.Refused
		}
		e, err := d.newEmployee(p)
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

// personKey returns the key for a ref. The id has priority.
func personKey(ref *commonv1.Ref) person.Key {
	if ref.Id != nil {
		return person.Key{ID: ref.GetId()}
	}
	return person.Key{Number: ref.GetQualifier()}
}

// findListed returns the employees of a list, in its order. An empty list stands for all employees that
// the caller may see. It also returns the errors of unknown employees, and fails if all employees
// of the list are unknown. A list of more than one kind is the error WFS-111207.
func (d *directory) findListed(ctx context.Context, list *commonv1.RefList) ([]employee, []rpc.UnknownEmployee, error) {
	refs, err := reflist.AtMostOne(timeofffault.CodeOnlyOne, "The list of employees", list)
	if err != nil {
		return nil, nil, err
	}
	if len(refs) == 0 {
		all, err := d.everybody(ctx)
		return all, nil, err
	}
	known, unknown, err := d.findKnown(ctx, refs)
	if err == nil && len(known) == 0 && len(unknown) > 0 {
		err = unknown[0].Err
	}
	return known, unknown, err
}

func (d *directory) everybody(ctx context.Context) ([]employee, error) {
	persons, err := d.persons.Everybody(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]employee, len(persons))
	for i, p := range persons {
		if out[i], err = d.newEmployee(p); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// count returns the number of employees that an empty list stands for.
func (d *directory) count(ctx context.Context) (int, error) {
	return d.persons.CountEverybody(ctx)
}

func (d *directory) newEmployee(p person.Person) (employee, error) {
	clocks, err := p.Clocks(&d.zones)
	if err != nil {
		return employee{}, fmt.Errorf("timeoff: the time zone of person %d: %w", p.ID, err)
	}
	return employee{ID: p.ID, PersonNumber: p.Number, Clocks: clocks}, nil
}
