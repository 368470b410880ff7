package timeoff

import (
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/employeesearch"
	"github.com/rotaloom/rotaloom/pkg/domain/reflist"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timeofffault"
)

// employeeDays limits one read: the number of employees times the number of days.
var employeeDays = policy.FindLimit[*timekeepingv1.TimeOffOfEmployees]("employees * days")

// Manager serves TimeOffService.
type Manager struct {
	timekeepingv1.UnsafeTimeOffServiceServer
	requests requests
}

var _ timekeepingv1.TimeOffServiceServer = (*Manager)(nil)

// NewManager returns the handler of TimeOffService.
func NewManager(deps Deps) *Manager { return &Manager{requests: newRequests(deps, managerSide)} }

// CreateTimeOff grants an employee time off.
func (h *Manager) CreateTimeOff(ctx context.Context, in *timekeepingv1.CreateTimeOffRequest) (*timekeepingv1.TimeOffRequest, error) {
	req, err := requestBody(in)
	if err != nil {
		return nil, err
	}
	employee, badEmployee := h.employee(ctx, req.GetEmployee())
	subtype, badSubtype := h.requests.subtype(ctx, req.GetRequestSubType())
	if badEmployee != nil || badSubtype != nil {
		var invalid error
		if badSubtype == nil {
			_, _, invalid = prepare(req, subtype)
		}
		return nil, fault.Join(badEmployee, badSubtype, invalid)
	}
	return h.requests.create(ctx, employee, req, subtype, approved)
}

// employee returns the employee of a new request.
func (h *Manager) employee(ctx context.Context, ref *commonv1.Ref) (*employee, error) {
	if ref == nil {
		return nil, missing("employee")
	}
	employees, err := h.requests.directory.employees(ctx, []*commonv1.Ref{ref})
	if err != nil {
		return nil, err
	}
	return &employees[0], nil
}

// requestBody returns the request in a body: the body itself, or its property timeOffRequest.
func requestBody(in *timekeepingv1.CreateTimeOffRequest) (*timekeepingv1.TimeOffRequest, error) {
	req := &timekeepingv1.TimeOffRequest{
		Employee: in.GetEmployee(), RequestSubType: in.GetRequestSubType(), Periods: in.GetPeriods(), CommentNotes: in.GetCommentNotes(),
		Position: in.GetPosition(), CreateOpenShiftsExcludedOn: in.GetCreateOpenShiftsExcludedOn(),
	}
	if in.GetTimeOffRequest() == nil {
		return req, nil
	}
	if !proto.Equal(req, &timekeepingv1.TimeOffRequest{}) {
		return nil, invalid("timeOffRequest", "has all of the request, and nothing of it may stand beside")
	}
	return in.GetTimeOffRequest(), nil
}

// GetTimeOff returns one request, or 404.
func (h *Manager) GetTimeOff(ctx context.Context, req *timekeepingv1.GetTimeOffRequest) (*timekeepingv1.TimeOffRequest, error) {
	return h.requests.get(ctx, req.GetId())
}

// MultiReadTimeOff returns requests, selected by ids, or by employees and first day.
func (h *Manager) MultiReadTimeOff(ctx context.Context, req *timekeepingv1.MultiReadTimeOffRequest) (*timekeepingv1.TimeOffRequestList, error) {
	where := req.GetWhere()
	if err := fault.ExactlyOne(timeofffault.CodeOnlyOne, "where", "employees, hyperfind, ids and states",
		where.GetEmployees() != nil, where.GetHyperfind() != nil, where.GetIds() != nil, where.GetStates() != nil); err != nil {
		return nil, err
	}
	switch {
	case where.GetIds() != nil:
		return h.requests.withIDs(ctx, where.GetIds().GetTimeOffRequestIds())
	case where.GetHyperfind() != nil:
		return h.ofHyperfind(ctx, where.GetHyperfind())
	case where.GetStates() != nil:
		statuses, err := completion(where.GetStates().GetCompletionState())
		if err != nil {
			return nil, err
		}
		return h.ofEmployees(ctx, "where.states", where.GetStates(), statuses)
	}
	if where.GetEmployees().GetCompletionState() != "" {
		return nil, invalid("where.employees.completionState", "stands in where.states")
	}
	return h.ofEmployees(ctx, "where.employees", where.GetEmployees(), nil)
}

func (h *Manager) ofEmployees(ctx context.Context, path string, named *timekeepingv1.TimeOffOfEmployees, statuses []status) (*timekeepingv1.TimeOffRequestList, error) {
	days, err := parseDays(path, named.GetStartDate(), named.GetEndDate())
	if err != nil {
		return nil, err
	}
	found, unknown, err := h.ofList(ctx, named.GetEmployeeRefs(), days, statuses)
	if err != nil {
		return nil, err
	}
	items, failure, err := rpc.PartialList(ctx, found.GetItems(), unknown)
	return &timekeepingv1.TimeOffRequestList{Items: items, Failure: failure}, err
}

// ofList returns the requests of the employees in a list, and the unknown employees. An empty list
// stands for all employees that the caller may see.
func (h *Manager) ofList(ctx context.Context, list *commonv1.RefList, days civil.Range, statuses []status) (*timekeepingv1.TimeOffRequestList, []rpc.UnknownEmployee, error) {
	count := reflist.Len(list)
	if count == 0 {
		var err error
		if count, err = h.requests.directory.count(ctx); err != nil {
			return nil, nil, err
		}
	}
	if err := employeeDays.Check(count * days.Days()); err != nil {
		return nil, nil, err
	}
	employees, unknown, err := h.requests.directory.findListed(ctx, list)
	if err != nil {
		return nil, nil, err
	}
	found, err := h.requests.readRequests(ctx, employees, days, statuses)
	return found, unknown, err
}

func (h *Manager) ofHyperfind(ctx context.Context, named *timekeepingv1.TimeOffOfHyperfind) (*timekeepingv1.TimeOffRequestList, error) {
	const path = "where.hyperfind"
	days, err := parseDays(path, named.GetStartDate(), named.GetEndDate())
	if err != nil {
		return nil, err
	}
	if !timeofffault.Named(named.GetHyperfindRef()) {
		return nil, missing(path + ".hyperfindRef")
	}
	list, err := employeesearch.Find(ctx, h.requests.Commons, named.GetHyperfindRef(), nil, days)
	if err != nil {
		return nil, err
	}
	if len(list.GetIds()) == 0 {
		return &timekeepingv1.TimeOffRequestList{}, nil
	}
	found, _, err := h.ofList(ctx, list, days, nil)
	if fault.HasCode(err, codeEmployeeUnknown) {
		return &timekeepingv1.TimeOffRequestList{}, nil // The employees were deleted after they were found.
	}
	return found, err
}

// ApplyUpdateTimeOff changes the status of a request.
func (h *Manager) ApplyUpdateTimeOff(ctx context.Context, req *timekeepingv1.ApplyUpdateTimeOffRequest) (*timekeepingv1.TimeOffRequest, error) {
	return h.requests.change(ctx, req)
}

// ListTimeOffSubtypes returns the request subtypes of time off. They are the same for all
// employees. An employee in the request must exist.
func (h *Manager) ListTimeOffSubtypes(ctx context.Context, req *timekeepingv1.ListTimeOffSubtypesRequest) (*timekeepingv1.TimeOffSubtypeList, error) {
	if req.EmployeeId != nil || req.PersonNumber != nil {
		if _, err := h.requests.directory.employees(ctx, []*commonv1.Ref{{Id: req.EmployeeId, Qualifier: req.PersonNumber}}); err != nil {
			return nil, err
		}
	}
	return h.requests.subtypes(ctx)
}

// ReadTimeOffAccruals returns the accrual balances of an employee.
func (h *Manager) ReadTimeOffAccruals(ctx context.Context, req *timekeepingv1.ReadTimeOffAccrualsRequest) (*timekeepingv1.TimeOffAccrualList, error) {
	employees, err := h.requests.directory.employees(ctx, []*commonv1.Ref{{Id: req.EmployeeId, Qualifier: req.PersonNumber}})
	if err != nil {
		return nil, err
	}
	return h.requests.accruals(ctx, &employees[0], req.SubtypeId, req.GetSubtypeName(), req.GetDate())
}
