// Package employeeschedulepattern assigns schedule patterns to single employees. They are above the
// patterns from employment terms. Propagation, locks, deletions and history work the same for both.
package employeeschedulepattern

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/domain/jobpath"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/asof"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patternassignment"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/proposal"
)

// codeEmpty (400): the list of operations is empty. Name at least one.
const codeEmpty = "WFS-100605"

// Directory finds the requested employees that the caller may see, like [projection.Resolver]. Do
// not use it in a transaction.
type Directory interface {
	Employees(ctx context.Context, refs []*commonv1.Ref) ([]projection.Employee, error)
	Visible(ctx context.Context) (rowvisibility.Set, error)
}

// Deps are the dependencies of a Handler.
type Deps struct {
	Pool        *pg.Pool
	Definitions *patterndefinition.Definitions
	// Instants finds the past instants of requests.
	Instants  *asof.Instants
	Directory Directory
	Schedules Schedules
	// JobPaths warns of jobs of patterns that no location has. It may be nil.
	JobPaths *jobpath.Checker
	// Builder is the configuration for clients.
	Builder *schedulingv1.PatternBuilder
	// Propagations is used by requests that wait.
	Propagations patternassignment.Propagations
}

// Handler serves EmployeeSchedulePatternService.
type Handler struct {
	schedulingv1.UnsafeEmployeeSchedulePatternServiceServer

	assignments *patternassignment.Assignments
	schedules   Schedules
	builder     *schedulingv1.PatternBuilder
}

var _ schedulingv1.EmployeeSchedulePatternServiceServer = (*Handler)(nil)

// New returns a Handler.
func New(deps Deps) *Handler {
	return &Handler{builder: deps.Builder, schedules: deps.Schedules, assignments: patternassignment.New(patternassignment.Employees(), patternassignment.Deps{
		Pool: deps.Pool, Definitions: deps.Definitions, JobPaths: deps.JobPaths, Instants: deps.Instants, Propagations: deps.Propagations, Visible: deps.Directory.Visible, Unknown: projection.UnknownEmployee,
		Owners: func(ctx context.Context, refs []*commonv1.Ref) ([]patternassignment.Owner, error) {
			employees, err := deps.Directory.Employees(ctx, refs)
			owners := make([]patternassignment.Owner, len(employees))
			for i, e := range employees {
				owners[i] = patternassignment.Owner{ID: e.ID, Name: e.PersonNumber, Inherits: true}
			}
			return owners, err
		},
	})}
}

// Undo undoes a change of assignments of employees, as [propagation.Undo] says.
func (h *Handler) Undo(ctx context.Context, request *propagation.UndoRequest) (int64, []*schedulingv1.LaterDecision, error) {
	return h.assignments.Undo(ctx, request)
}

// ProposeUndo returns the decision of Undo.
func (h *Handler) ProposeUndo(ctx context.Context, request *propagation.UndoRequest) (proposal.Decide, error) {
	return h.assignments.ProposeUndo(ctx, request)
}

// GetEmployeeSchedulePattern returns one assignment, or the error 404.
func (h *Handler) GetEmployeeSchedulePattern(ctx context.Context, req *schedulingv1.GetEmployeeSchedulePatternRequest) (*schedulingv1.EmployeeSchedulePattern, error) {
	found, err := h.assignments.Get(ctx, req.GetId())
	return toEmployee(found), err
}

// GetEmployeePatternBuilder returns the configuration of pattern propagation.
func (h *Handler) GetEmployeePatternBuilder(context.Context, *schedulingv1.GetPatternBuilderRequest) (*schedulingv1.PatternBuilder, error) {
	return h.builder, nil
}

// DeleteEmployeeSchedulePattern removes an assignment, or returns the error 404.
func (h *Handler) DeleteEmployeeSchedulePattern(ctx context.Context, req *schedulingv1.DeleteEmployeeSchedulePatternRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, h.assignments.Delete(ctx, req.GetId(), patternassignment.Options{})
}

// ApplyCreateEmployeeSchedulePatterns assigns patterns to employees: all of them or, with partial
// success, the valid ones. It starts one propagation.
func (h *Handler) ApplyCreateEmployeeSchedulePatterns(ctx context.Context, req *schedulingv1.ApplyCreateEmployeeSchedulePatternsRequest) (*schedulingv1.EmployeeSchedulePatternResults, error) {
	inputs := req.GetBody().GetEmployeeSchedulePatterns().GetDo().GetEmployeeSchedulePatternCreates()
	if len(inputs) == 0 {
		return nil, fault.Invalid(codeEmpty, "employeeSchedulePatterns.do.employeeSchedulePatternCreates needs at least one element.")
	}
	creates := make([]*schedulingv1.GroupSchedulePatternCreate, len(inputs))
	for i, input := range inputs {
		creates[i] = &schedulingv1.GroupSchedulePatternCreate{Override: input.Override, AllowDuplicate: input.AllowDuplicate, GroupSchedulePattern: toOwner(input.GetEmployeeSchedulePattern())}
	}
	outcome, err := h.assignments.Create(ctx, creates, patternassignment.Options{Partial: req.GetPartialSuccess()})
	if err != nil {
		return nil, err
	}
	converted := convert(outcome, func(i int, _ *schedulingv1.GroupSchedulePatternCreate) *schedulingv1.EmployeeSchedulePatternCreate {
		return inputs[i]
	}, toResult)
	list, failure, err := patternassignment.BulkResult(ctx, converted, req.GetBody().GetOptions().GetDetailedPartialSuccess())
	return &schedulingv1.EmployeeSchedulePatternResults{Results: list, Failure: failure}, err
}

// ApplyUpdateEmployeeSchedulePatterns changes or removes assignments: all of them or, with partial
// success, the valid ones. It starts one propagation. Alternatively it restores schedules, which
// needs no propagation.
func (h *Handler) ApplyUpdateEmployeeSchedulePatterns(ctx context.Context, req *schedulingv1.ApplyUpdateEmployeeSchedulePatternsRequest) (*schedulingv1.EmployeeSchedulePatternResults, error) {
	if req.GetBody().GetRestore() != nil {
		return h.restore(ctx, req.GetBody(), req.GetPartialSuccess())
	}
	outcome, err := h.assignments.Update(ctx, toUpdate(req.GetBody()), patternassignment.Options{Partial: req.GetPartialSuccess()})
	if err != nil {
		return nil, err
	}
	withInput := req.GetBody().GetOptions().GetDetailedPartialSuccess()
	out := &schedulingv1.EmployeeSchedulePatternResults{}
	if outcome.ByID != nil {
		out.Results, out.Failure, err = patternassignment.BulkResult(ctx, convert(outcome.ByID, unchangedInput, toResult), withInput)
		return out, err
	}
	lists, failure, err := patternassignment.BulkResult(ctx, convert(outcome.ByOwner, unchangedInput, toResults), withInput)
	for _, list := range lists {
		out.Results = append(out.Results, list.GetResults()...)
	}
	out.Failure = failure
	return out, err
}

// MultiReadEmployeeSchedulePatterns returns the assignments of employees, their history, or both.
func (h *Handler) MultiReadEmployeeSchedulePatterns(ctx context.Context, req *schedulingv1.MultiReadEmployeeSchedulePatternsRequest) (*schedulingv1.MultiReadEmployeeSchedulePatternsResponse, error) {
	asOf := req.GetBody().GetMultiReadOptions().GetAsOfDateTime()
	selected, err := patternassignment.ParseSelection(req.GetBody().GetSelect(), "ESP", "HISTORY", asOf != "")
	if err != nil {
		return nil, err
	}
	employees := req.GetBody().GetWhere().GetEmployees()
	if len(employees.GetEmployeeRefs()) == 0 {
		return nil, fault.Invalid(codeEmpty, "where.employees.employeeRefs needs at least one element.")
	}
	patterns, histories, err := h.assignments.Read(ctx, selected, patternassignment.ReadOptions{
		Path: "where.employees", Refs: employees.GetEmployeeRefs(), StartDate: employees.GetStartDate(), EndDate: employees.GetEndDate(),
		AsOf: asOf,
	})
	if err != nil {
		return nil, err
	}
	response := &schedulingv1.MultiReadEmployeeSchedulePatternsResponse{}
	if selected.Current {
		response.EmployeeSchedulePatterns = &schedulingv1.EmployeeSchedulePatternList{EmployeeSchedulePatterns: convertList(patterns, toEmployee)}
	}
	if selected.History {
		response.EmployeeSchedulePatternHistories = &schedulingv1.EmployeeSchedulePatternHistoryList{Histories: convertList(histories, toHistory)}
	}
	return response, nil
}
