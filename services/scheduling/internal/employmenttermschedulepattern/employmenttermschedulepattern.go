// Package employmenttermschedulepattern assigns schedule patterns to employment terms, which pass
// them on to their employees. The API calls a term a group, and an assignment a group schedule
// pattern.
package employmenttermschedulepattern

import (
	"context"
	"net/http"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/domain/jobpath"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/asof"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employmentterm"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patternassignment"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/proposal"
)

// Settings are the operator's settings. Zero values mean the defaults.
type Settings struct {
	GovernedDays int32 `name:"governed-days" env:"GOVERNED_DAYS" default:"60" help:"Days in the pattern builder's configuration. Clients of the reference product read them; they have no other effect."`
}

const defaultGovernedDays = 60

// Builder returns the configuration that clients of the reference product request. Schedules have
// no horizon here.
func (s Settings) Builder() *schedulingv1.PatternBuilder {
	days := s.GovernedDays
	if days <= 0 {
		days = defaultGovernedDays
	}
	return &schedulingv1.PatternBuilder{GovernedDays: proto.Int32(days)}
}

// Terms finds employment terms.
type Terms interface {
	// Terms returns the terms in the order of the references, or the error WFS-106607 if one of
	// them does not exist.
	Terms(ctx context.Context, refs []*commonv1.Ref) ([]employmentterm.Term, error)
}

// Deps are the dependencies of a Handler.
type Deps struct {
	Pool        *pg.Pool
	Definitions *patterndefinition.Definitions
	// Instants finds the past instants of requests.
	Instants *asof.Instants
	Terms    Terms
	// Propagations is used by requests that wait.
	Propagations patternassignment.Propagations
	// JobPaths warns of jobs of patterns that no location has. It may be nil.
	JobPaths *jobpath.Checker
	// Previews finds the previews that requests apply.
	Previews proposal.Previews
}

// Handler serves EmploymentTermSchedulePatternService.
type Handler struct {
	schedulingv1.UnsafeEmploymentTermSchedulePatternServiceServer

	assignments *patternassignment.Assignments
	previews    proposal.Previews
	settings    Settings
}

var _ schedulingv1.EmploymentTermSchedulePatternServiceServer = (*Handler)(nil)

// New returns a Handler.
func New(settings Settings, deps Deps) *Handler {
	return &Handler{settings: settings, previews: deps.Previews, assignments: patternassignment.New(patternassignment.Terms(), patternassignment.Deps{
		Pool: deps.Pool, Definitions: deps.Definitions, JobPaths: deps.JobPaths, Instants: deps.Instants, Propagations: deps.Propagations,
		Owners: func(ctx context.Context, refs []*commonv1.Ref) ([]patternassignment.Owner, error) {
			terms, err := deps.Terms.Terms(ctx, refs)
			owners := make([]patternassignment.Owner, len(terms))
			for i, t := range terms {
				owners[i] = patternassignment.Owner{ID: t.ID, Name: t.Name, Inherits: t.AllowsInheritance}
			}
			return owners, err
		},
		// All users with the permission may see all terms.
		Visible: func(context.Context) (rowvisibility.Set, error) { return rowvisibility.AllPersons(), nil },
	})}
}

// Undo undoes a change of assignments of terms, as [propagation.Undo] says.
func (h *Handler) Undo(ctx context.Context, request *propagation.UndoRequest) (int64, []*schedulingv1.LaterDecision, error) {
	return h.assignments.Undo(ctx, request)
}

// ProposeUndo returns the decision of Undo.
func (h *Handler) ProposeUndo(ctx context.Context, request *propagation.UndoRequest) (proposal.Decide, error) {
	return h.assignments.ProposeUndo(ctx, request)
}

// Assignments returns the assignments of employment terms.
func (h *Handler) Assignments() *patternassignment.Assignments { return h.assignments }

// GetEmploymentTermSchedulePattern returns one assignment, or the error 404.
func (h *Handler) GetEmploymentTermSchedulePattern(ctx context.Context, req *schedulingv1.GetEmploymentTermSchedulePatternRequest) (*schedulingv1.GroupSchedulePattern, error) {
	return h.assignments.Get(ctx, req.GetId())
}

// GetPatternBuilder returns the configuration of pattern propagation.
func (h *Handler) GetPatternBuilder(context.Context, *schedulingv1.GetPatternBuilderRequest) (*schedulingv1.PatternBuilder, error) {
	return h.settings.Builder(), nil
}

// ApplyCreateEmploymentTermSchedulePatterns assigns patterns to terms: all of them or, with partial
// success, the valid ones. It starts one propagation.
func (h *Handler) ApplyCreateEmploymentTermSchedulePatterns(ctx context.Context, req *schedulingv1.ApplyCreateGroupSchedulePatternsRequest) (*schedulingv1.GroupSchedulePatternResults, error) {
	body := req.GetBody()
	inputs := body.GetGroupSchedulePatterns().GetDo().GetGroupSchedulePatternCreates()
	if len(inputs) == 0 {
		return nil, fault.Invalid(patterndefinition.CodeNothing, "groupSchedulePatterns.do.groupSchedulePatternCreates needs at least one element.")
	}
	preview, err := h.previews.Find(req.PreviewId, body)
	if err != nil {
		return nil, err
	}
	outcome, err := h.assignments.Create(ctx, inputs, patternassignment.Options{Partial: req.GetPartialSuccess(), Preview: preview})
	if err != nil {
		return nil, err
	}
	withInput := body.GetOptions().GetDetailedPartialSuccess() || body.GetFormatForTransactionAssistant()
	list, failure, err := patternassignment.BulkResult(ctx, outcome, withInput)
	return &schedulingv1.GroupSchedulePatternResults{Results: list, Failure: failure}, err
}

// ApplyUpdateEmploymentTermSchedulePatterns changes or removes assignments: all of them or, with
// partial success, the valid ones. It starts one propagation.
func (h *Handler) ApplyUpdateEmploymentTermSchedulePatterns(ctx context.Context, req *schedulingv1.ApplyUpdateGroupSchedulePatternsRequest) (*schedulingv1.GroupSchedulePatternResults, error) {
	body := req.GetBody()
	preview, err := h.previews.Find(req.PreviewId, body)
	if err != nil {
		return nil, err
	}
	outcome, err := h.assignments.Update(ctx, body, patternassignment.Options{Partial: req.GetPartialSuccess(), Preview: preview})
	if err != nil {
		return nil, err
	}
	withInput := body.GetOptions().GetDetailedPartialSuccess() || body.GetFormatForTransactionAssistant()
	out := &schedulingv1.GroupSchedulePatternResults{}
	if outcome.ByID != nil {
		out.Results, out.Failure, err = patternassignment.BulkResult(ctx, outcome.ByID, withInput)
		return out, err
	}
	lists, failure, err := patternassignment.BulkResult(ctx, outcome.ByOwner, withInput)
	for _, list := range lists {
		out.Results = append(out.Results, list.GetResults()...)
	}
	out.Failure = failure
	return out, err
}

// DeleteEmploymentTermSchedulePattern removes an assignment, or returns the error 404.
func (h *Handler) DeleteEmploymentTermSchedulePattern(ctx context.Context, req *schedulingv1.DeleteEmploymentTermSchedulePatternRequest) (*emptypb.Empty, error) {
	preview, err := h.previews.Find(req.PreviewId, &schedulingv1.DeleteGroupSchedulePatterns{Ids: []int64{req.GetId()}})
	if err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, h.assignments.Delete(ctx, req.GetId(), patternassignment.Options{Preview: preview})
}

// MultiReadEmploymentTermSchedulePatterns returns the assignments of terms, their history, or both.
func (h *Handler) MultiReadEmploymentTermSchedulePatterns(ctx context.Context, req *schedulingv1.MultiReadGroupSchedulePatternsRequest) (*schedulingv1.MultiReadGroupSchedulePatternsResponse, error) {
	asOf := req.GetBody().GetMultiReadOptions().GetAsOfDateTime()
	selected, err := patternassignment.ParseSelection(req.GetBody().GetSelect(), "gsp", "history", asOf != "")
	if err != nil {
		return nil, err
	}
	groups := req.GetBody().GetWhere().GetGroups()
	if len(groups.GetGroupRefs()) == 0 {
		return nil, fault.New(patterndefinition.CodeNothing, http.StatusBadRequest, "where.groups.groupRefs needs at least one element.")
	}
	patterns, histories, err := h.assignments.Read(ctx, selected, patternassignment.ReadOptions{
		Path: "where.groups", Refs: groups.GetGroupRefs(), StartDate: groups.GetStartDate(), EndDate: groups.GetEndDate(),
		AsOf: asOf,
	})
	if err != nil {
		return nil, err
	}
	response := &schedulingv1.MultiReadGroupSchedulePatternsResponse{}
	if selected.Current {
		response.GroupSchedulePatterns = &schedulingv1.GroupSchedulePatternList{GroupSchedulePatterns: patterns}
	}
	if selected.History {
		response.GroupSchedulePatternHistories = &schedulingv1.GroupSchedulePatternHistoryList{Histories: histories}
	}
	return response, nil
}
