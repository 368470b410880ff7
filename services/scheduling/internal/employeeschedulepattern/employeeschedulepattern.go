// Package employeeschedulepattern puts schedule patterns on single employees. They lie
// above those that the employee has from employment terms, and go with them through
// everything else: propagation, locks, deletions and the history.
package employeeschedulepattern

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patternassignment"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
)

// codeEmpty (400): the list of what is to be done is empty. Name at least one.
const codeEmpty = "WFS-100605"

// Directory finds the employees that requests name, of those whom the caller may see,
// as [projection.Resolver] does. It must not be used in a transaction.
type Directory interface {
	Employees(ctx context.Context, refs []*commonv1.Ref) ([]projection.Employee, error)
	Visible(ctx context.Context) (rowvisibility.Set, error)
}

// Deps are what a Handler works with.
type Deps struct {
	Pool        *pg.Pool
	Definitions *patterndefinition.Definitions
	Directory   Directory
	Schedules   Schedules
	// Builder is the configuration that is shown.
	Builder *schedulingv1.PatternBuilder
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
		Pool: deps.Pool, Definitions: deps.Definitions, Visible: deps.Directory.Visible,
		Owners: func(ctx context.Context, refs []*commonv1.Ref) ([]patternassignment.Owner, error) {
			employees, err := deps.Directory.Employees(ctx, refs)
			owners := make([]patternassignment.Owner, len(employees))
			for i, e := range employees {
				owners[i] = patternassignment.Owner{ID: e.ID, Name: e.PersonNumber, Inherits: true}
			}
			return owners, err
		},
		// Employees have no members to wait for.
	})}
}

// GetEmployeeSchedulePattern returns one assignment, or 404.
func (h *Handler) GetEmployeeSchedulePattern(ctx context.Context, req *schedulingv1.GetEmployeeSchedulePatternRequest) (*schedulingv1.EmployeeSchedulePattern, error) {
	found, err := h.assignments.Get(ctx, req.GetId())
	return ofEmployee(found), err
}

// GetEmployeePatternBuilder returns the configuration of pattern propagation.
func (h *Handler) GetEmployeePatternBuilder(context.Context, *schedulingv1.GetPatternBuilderRequest) (*schedulingv1.PatternBuilder, error) {
	return h.builder, nil
}

// DeleteEmployeeSchedulePattern removes an assignment, or returns 404.
func (h *Handler) DeleteEmployeeSchedulePattern(ctx context.Context, req *schedulingv1.DeleteEmployeeSchedulePatternRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, h.assignments.Delete(ctx, req.GetId())
}

// ApplyCreateEmployeeSchedulePatterns assigns patterns to employees, all or, with
// partial success, those that can be. It starts one propagation for all.
func (h *Handler) ApplyCreateEmployeeSchedulePatterns(ctx context.Context, req *schedulingv1.ApplyCreateEmployeeSchedulePatternsRequest) (*schedulingv1.EmployeeSchedulePatternResults, error) {
	inputs := req.GetBody().GetEmployeeSchedulePatterns().GetDo().GetEmployeeSchedulePatternCreates()
	if len(inputs) == 0 {
		return nil, fault.Invalid(codeEmpty, "employeeSchedulePatterns.do.employeeSchedulePatternCreates needs at least one element.")
	}
	creates := make([]*schedulingv1.GroupSchedulePatternCreate, len(inputs))
	for i, input := range inputs {
		creates[i] = &schedulingv1.GroupSchedulePatternCreate{Override: input.Override, GroupSchedulePattern: toOwner(input.GetEmployeeSchedulePattern())}
	}
	outcome, err := h.assignments.Create(ctx, creates, req.GetPartialSuccess())
	if err != nil {
		return nil, err
	}
	made := convert(outcome, func(i int, _ *schedulingv1.GroupSchedulePatternCreate) *schedulingv1.EmployeeSchedulePatternCreate {
		return inputs[i]
	}, resultOf)
	list, failure, err := patternassignment.BulkResult(ctx, made, req.GetBody().GetOptions().GetDetailedPartialSuccess())
	return &schedulingv1.EmployeeSchedulePatternResults{Results: list, Failure: failure}, err
}

// ApplyUpdateEmployeeSchedulePatterns changes or removes assignments, all or, with
// partial success, those that can be. It starts one propagation. Or it restores schedules,
// which needs none.
func (h *Handler) ApplyUpdateEmployeeSchedulePatterns(ctx context.Context, req *schedulingv1.ApplyUpdateEmployeeSchedulePatternsRequest) (*schedulingv1.EmployeeSchedulePatternResults, error) {
	if req.GetBody().GetRestore() != nil {
		return h.restore(ctx, req.GetBody(), req.GetPartialSuccess())
	}
	outcome, err := h.assignments.Update(ctx, updateOf(req.GetBody()), req.GetPartialSuccess())
	if err != nil {
		return nil, err
	}
	withInput := req.GetBody().GetOptions().GetDetailedPartialSuccess()
	out := &schedulingv1.EmployeeSchedulePatternResults{}
	if outcome.ByID != nil {
		out.Results, out.Failure, err = patternassignment.BulkResult(ctx, convert(outcome.ByID, asItIs, resultOf), withInput)
		return out, err
	}
	lists, failure, err := patternassignment.BulkResult(ctx, convert(outcome.ByOwner, asItIs, resultsOf), withInput)
	for _, list := range lists {
		out.Results = append(out.Results, list.GetResults()...)
	}
	out.Failure = failure
	return out, err
}

// MultiReadEmployeeSchedulePatterns returns the assignments of employees, what they
// were, or both.
func (h *Handler) MultiReadEmployeeSchedulePatterns(ctx context.Context, req *schedulingv1.MultiReadEmployeeSchedulePatternsRequest) (*schedulingv1.MultiReadEmployeeSchedulePatternsResponse, error) {
	selected, err := patternassignment.ParseSelection(req.GetBody().GetSelect(), "ESP", "HISTORY")
	if err != nil {
		return nil, err
	}
	employees := req.GetBody().GetWhere().GetEmployees()
	if len(employees.GetEmployeeRefs()) == 0 {
		return nil, fault.Invalid(codeEmpty, "where.employees.employeeRefs needs at least one element.")
	}
	patterns, histories, err := h.assignments.Read(ctx, selected, patternassignment.ReadOptions{
		Path: "where.employees", Refs: employees.GetEmployeeRefs(), StartDate: employees.GetStartDate(), EndDate: employees.GetEndDate(),
	})
	if err != nil {
		return nil, err
	}
	response := &schedulingv1.MultiReadEmployeeSchedulePatternsResponse{}
	if selected.Current {
		response.EmployeeSchedulePatterns = &schedulingv1.EmployeeSchedulePatternList{EmployeeSchedulePatterns: each(patterns, ofEmployee)}
	}
	if selected.History {
		response.EmployeeSchedulePatternHistories = &schedulingv1.EmployeeSchedulePatternHistoryList{Histories: each(histories, historyOf)}
	}
	return response, nil
}
