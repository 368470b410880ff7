package timeoff

import (
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timeofffault"
)

// Employee serves EmployeeTimeOffService.
type Employee struct {
	timekeepingv1.UnsafeEmployeeTimeOffServiceServer
	requests requests
}

var _ timekeepingv1.EmployeeTimeOffServiceServer = (*Employee)(nil)

// NewEmployee returns the handler of EmployeeTimeOffService.
func NewEmployee(deps Deps) *Employee { return &Employee{requests: newRequests(deps, employeeSide)} }

// CreateEmployeeTimeOff submits a request of the caller. If the subtype has automatic approval, it
// also approves the request.
func (h *Employee) CreateEmployeeTimeOff(ctx context.Context, req *timekeepingv1.TimeOffRequest) (*timekeepingv1.TimeOffRequest, error) {
	self, err := h.self(ctx, req.GetEmployee())
	if err != nil {
		return nil, err
	}
	subtype, err := h.requests.subtype(ctx, req.GetRequestSubType())
	if err != nil {
		return nil, err
	}
	as := submitted
	if subtype.GetAutomaticApproval() {
		as = approved
	}
	return h.requests.create(ctx, self, req, subtype, as)
}

// GetEmployeeTimeOff returns one request of the caller, or 404.
func (h *Employee) GetEmployeeTimeOff(ctx context.Context, req *timekeepingv1.GetTimeOffRequest) (*timekeepingv1.TimeOffRequest, error) {
	return h.requests.get(ctx, req.GetId())
}

// MultiReadEmployeeTimeOff returns requests of the caller, selected by ids or by first day.
func (h *Employee) MultiReadEmployeeTimeOff(ctx context.Context, req *timekeepingv1.MultiReadEmployeeTimeOffRequest) (*timekeepingv1.TimeOffRequestList, error) {
	where := req.GetWhere()
	if err := fault.ExactlyOne(timeofffault.CodeOnlyOne, "where", "employee and ids", where.GetEmployee() != nil, where.GetIds() != nil); err != nil {
		return nil, err
	}
	if where.GetIds() != nil {
		return h.requests.withIDs(ctx, where.GetIds().GetTimeOffRequestIds())
	}
	self, err := h.self(ctx, where.GetEmployee().GetEmployeeRef())
	if err != nil {
		return nil, err
	}
	days, err := parseDays("where.employee", where.GetEmployee().GetStartDate(), where.GetEmployee().GetEndDate())
	if err != nil {
		return nil, err
	}
	return h.requests.readRequests(ctx, []employee{*self}, days, nil)
}

// ApplyUpdateEmployeeTimeOff changes the status of a request of the caller.
func (h *Employee) ApplyUpdateEmployeeTimeOff(ctx context.Context, req *timekeepingv1.ApplyUpdateTimeOffRequest) (*timekeepingv1.EmployeeTimeOffUpdate, error) {
	changed, err := h.requests.change(ctx, req)
	if err != nil {
		return nil, err
	}
	return &timekeepingv1.EmployeeTimeOffUpdate{
		StateCode: "STATE_SUCCESS", StatusMessage: changed.GetCurrentStatus().GetName(), TimeOff: changed,
	}, nil
}

// ListEmployeeTimeOffSubtypes returns the request subtypes of time off.
func (h *Employee) ListEmployeeTimeOffSubtypes(ctx context.Context, _ *timekeepingv1.ListEmployeeTimeOffSubtypesRequest) (*timekeepingv1.TimeOffSubtypeList, error) {
	return h.requests.subtypes(ctx)
}

// ReadEmployeeTimeOffAccruals returns the accrual balances of the caller.
func (h *Employee) ReadEmployeeTimeOffAccruals(ctx context.Context, req *timekeepingv1.ReadEmployeeTimeOffAccrualsRequest) (*timekeepingv1.TimeOffAccrualList, error) {
	self, err := h.self(ctx, nil)
	if err != nil {
		return nil, err
	}
	return h.requests.accruals(ctx, self, req.SubtypeId, req.GetSubtypeName(), req.GetDate())
}

// self returns the caller as an employee. An employee in the request must be the caller.
func (h *Employee) self(ctx context.Context, named *commonv1.Ref) (*employee, error) {
	p, ok := authn.From(ctx)
	if !ok || p.PersonID <= 0 {
		return nil, fault.Invalid(CodeNotAllowed, "Your user is not an employee, and has no time off.")
	}
	refs := []*commonv1.Ref{{Id: proto.Int64(p.PersonID)}}
	employees, err := h.requests.directory.employees(ctx, refs)
	if err != nil {
		return nil, err
	}
	self := &employees[0]
	if timeofffault.Named(named) {
		if !refMatches(named, self) {
			return nil, fault.Invalid(CodeNotAllowed, "This operation is for your own requests. Use the operations of timeoff for other employees.")
		}
	}
	return self, nil
}

// refMatches reports whether a ref names an employee. The id has priority.
func refMatches(ref *commonv1.Ref, employee *employee) bool {
	if ref.Id != nil {
		return ref.GetId() == employee.ID
	}
	return ref.GetQualifier() == employee.PersonNumber
}
