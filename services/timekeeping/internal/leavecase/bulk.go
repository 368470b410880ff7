package leavecase

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/domain/reflist"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavesetup"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
)

// MaxRead is the maximum number of cases or edits in one response, and of employee days in one
// request.
var MaxRead = policy.Max[*timekeepingv1.MultiReadLeaveCasesRequest]("Leave Cases, employees * days")

// MultiCreateLeaveCases stores new cases: either all or none, or every valid one.
func (h *Handler) MultiCreateLeaveCases(ctx context.Context, req *timekeepingv1.MultiCreateLeaveCasesRequest) (*timekeepingv1.LeaveCaseList, error) {
	inputs := req.GetBody().GetLeaveCases()
	if len(inputs) == 0 {
		return nil, fault.Invalid(CodeEmptyBody, "The body is empty.")
	}
	known, err := h.findEmployees(ctx, inputs)
	if err != nil {
		return nil, err
	}
	var out *bulk.Outcome[*timekeepingv1.LeaveCase, *timekeepingv1.LeaveCase]
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		out, err = bulk.Run(inputs, req.GetPartialSuccess(), func(_ int, in *timekeepingv1.LeaveCase) (*timekeepingv1.LeaveCase, error) {
			d, who, err := h.draft(ctx, in, known)
			if err != nil {
				return nil, err
			}
			if err := checkProfile(ctx, tx, who.ID, d.body); err != nil {
				return nil, err
			}
			var id int64
			// The savepoint keeps the transaction usable if a code is not unique.
			err = pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) (err error) {
				id, err = insert(ctx, tx, who.ID, d)
				return err
			})
			if err != nil {
				return nil, err
			}
			return newCase(id, who, d).toProto(), nil
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	done, failure, err := rpc.BulkResult(ctx, out)
	return &timekeepingv1.LeaveCaseList{LeaveCases: done, Failure: failure}, err
}

// findEmployees finds the employees of new cases with one query.
func (h *Handler) findEmployees(ctx context.Context, inputs []*timekeepingv1.LeaveCase) (map[person.Key]person.Person, error) {
	var keys []person.Key
	for _, in := range inputs {
		if key, err := personKey(employeeRef(in)); err == nil {
			keys = append(keys, key)
		}
	}
	return h.persons.Find(ctx, keys)
}

// MultiReadLeaveCases returns the cases that refs name, in their order, or the cases of employees
// that overlap a range of days.
func (h *Handler) MultiReadLeaveCases(ctx context.Context, req *timekeepingv1.MultiReadLeaveCasesRequest) (*timekeepingv1.LeaveCaseList, error) {
	status, err := statusFilter(req.GetCaseStatus())
	if err != nil {
		return nil, err
	}
	found, unknown, err := h.criteria(ctx, req)
	if err != nil {
		return nil, err
	}
	var list []*timekeepingv1.LeaveCase
	for _, c := range found {
		if status == nil || c.StatusID() == status.ID {
			list = append(list, c.toProto())
		}
	}
	list, failure, err := rpc.PartialList(ctx, list, unknown)
	return &timekeepingv1.LeaveCaseList{LeaveCases: list, Failure: failure}, err
}

// criteria returns the cases that match a request, and the unknown employees.
func (h *Handler) criteria(ctx context.Context, req *timekeepingv1.MultiReadLeaveCasesRequest) ([]*Case, []rpc.UnknownEmployee, error) {
	if len(req.GetLeaveCases()) > 0 {
		if req.GetEmployees() != nil || req.GetDateRange() != nil {
			return nil, nil, fault.Invalid(fault.CodeInput, "Give either leaveCases, or employees with dateRange.")
		}
		visible, err := h.persons.Visible(ctx)
		if err != nil {
			return nil, nil, err
		}
		found, err := Find(ctx, h.pool, visible, req.GetLeaveCases(), false)
		return found, nil, err
	}
	employees, unknown, err := Employees(ctx, h.persons, req.GetEmployees())
	if err != nil {
		return nil, nil, err
	}
	days, err := h.periods.Days(ctx, "Leave Cases", len(employees), req.GetDateRange())
	if err != nil {
		return nil, nil, err
	}
	found, err := OfEmployees(ctx, h.pool, employees, days, MaxRead+1)
	if err == nil && len(found) > MaxRead {
		return nil, nil, tooMany("leave cases", MaxRead)
	}
	return found, unknown, err
}

func statusFilter(ref *commonv1.Ref) (*leavesetup.Entry, error) {
	if ref == nil {
		return nil, nil
	}
	if !names(ref) {
		return nil, fault.Invalid(CodeStatusIDMissing, "caseStatus needs an id or a qualifier.")
	}
	found, ok := leavesetup.Statuses().Find(ref)
	if !ok {
		return nil, fault.Invalid(CodeStatusUnknown, "caseStatus is not known: "+Describe(ref)+".")
	}
	return &found, nil
}

// Employees returns the ids of the employees that a list names, without duplicates, and the unknown
// refs. It returns an error if all employees of the list are unknown.
func Employees(ctx context.Context, persons *person.Directory, list *commonv1.RefList) ([]int64, []rpc.UnknownEmployee, error) {
	refs, err := reflist.AtMostOne(fault.CodeInput, "employees", list)
	if err != nil {
		return nil, nil, err
	}
	if len(refs) == 0 {
		return nil, nil, fault.Invalid(CodeEmployeesEmpty, "employees is empty.")
	}
	keys := make([]person.Key, len(refs))
	for i, ref := range refs {
		var err error
		if keys[i], err = personKey(ref); err != nil {
			return nil, nil, err
		}
	}
	return persons.IDs(ctx, keys, unknownEmployee)
}

// employeeRef returns the ref of the employee of a case; an empty ref if the case has no employee.
func employeeRef(in *timekeepingv1.LeaveCase) *commonv1.Ref {
	if in.GetEmployee() == nil {
		return &commonv1.Ref{}
	}
	return &commonv1.Ref{Id: in.GetEmployee().Id, Qualifier: in.GetEmployee().Qualifier}
}

func personKey(ref *commonv1.Ref) (person.Key, error) {
	switch {
	case ref.Id != nil && ref.GetId() != 0:
		return person.Key{ID: ref.GetId()}, nil
	case ref.Id == nil && ref.GetQualifier() != "":
		return person.Key{Number: ref.GetQualifier()}, nil
	}
	return person.Key{}, fault.Invalid(CodeEmployeeIDMissing, "An employee needs an id or a qualifier.")
}

func unknownEmployee(key person.Key) *fault.Error {
	return fault.Invalid(CodeEmployeeUnknown, key.Unknown().Message)
}

// Unknown returns the error for a ref of an unknown case.
func Unknown(ref *commonv1.Ref) *fault.Error {
	return fault.Invalid(CodeCaseUnknown, "There is no leave case with "+describeCase(ref)+".")
}

func describeCase(ref *commonv1.Ref) string {
	if ref.Id != nil {
		return "the " + Describe(ref)
	}
	return "the code " + Describe(ref)
}

func findCase(found []*Case, ref *commonv1.Ref) *Case {
	for _, c := range found {
		if ref.Id != nil && c.ID == ref.GetId() || ref.Id == nil && strings.EqualFold(c.Code(), ref.GetQualifier()) {
			return c
		}
	}
	return nil
}
