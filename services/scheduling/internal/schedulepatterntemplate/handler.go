package schedulepatterntemplate

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/domain/jobpath"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/setup"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/setupref"
)

// Handler serves SchedulePatternTemplateService.
type Handler struct {
	schedulingv1.UnsafeSchedulePatternTemplateServiceServer

	resource setup.Resource[*schedulingv1.SchedulePattern]
}

var _ schedulingv1.SchedulePatternTemplateServiceServer = (*Handler)(nil)

// New returns a Handler that stores templates in the database of the pool. jobs warns of jobs that no location has; it
// may be nil.
func New(pool *pg.Pool, definitions *patterndefinition.Definitions, jobs *jobpath.Checker) *Handler {
	return &Handler{resource: setup.Resource[*schedulingv1.SchedulePattern]{
		Kind: Kind(), Pool: pool,
		Prepare: func(path string, p *schedulingv1.SchedulePattern) (*schedulingv1.SchedulePattern, error) {
			return p, definitions.Check(patterndefinition.Request{Path: path, Pattern: p})
		},
		AfterCommit: func(ctx context.Context, sent ...*schedulingv1.SchedulePattern) error {
			return jobs.Warn(ctx, patterndefinition.PatternJobs(sent...))
		},
		Show: func(ctx context.Context, list ...*schedulingv1.SchedulePattern) error {
			return setupref.Show(ctx, pool, list...)
		},
	}}
}

// GetSchedulePatternTemplate returns one template, or the error 404.
func (h *Handler) GetSchedulePatternTemplate(ctx context.Context, req *schedulingv1.GetSchedulePatternTemplateRequest) (*schedulingv1.SchedulePattern, error) {
	return h.resource.Get(ctx, req.GetId())
}

// UpdateSchedulePatternTemplate replaces the template with the id in the path or, without one, with
// the name in the query.
func (h *Handler) UpdateSchedulePatternTemplate(ctx context.Context, req *schedulingv1.UpdateSchedulePatternTemplateRequest) (*schedulingv1.SchedulePattern, error) {
	id, err := h.find(ctx, req.GetId(), req.Name)
	if err != nil {
		return nil, err
	}
	return h.resource.Update(ctx, id, req.GetSchedulePattern())
}

// DeleteSchedulePatternTemplate deletes the template with the id in the path or, without one, with
// the name in the query.
func (h *Handler) DeleteSchedulePatternTemplate(ctx context.Context, req *schedulingv1.DeleteSchedulePatternTemplateRequest) (*emptypb.Empty, error) {
	id, err := h.find(ctx, req.GetId(), req.Name)
	if err != nil {
		return nil, err
	}
	return h.resource.Delete(ctx, id, nil)
}

// find returns the id of the template. An unknown id in the path later leads to the error 404, but
// an unknown name is an invalid parameter.
func (h *Handler) find(ctx context.Context, id int64, name *string) (int64, error) {
	if id != 0 {
		return id, nil
	}
	if name == nil || *name == "" {
		return 0, patterndefinition.Missing("name")
	}
	list, err := h.resource.List(ctx, nil, name)
	if err != nil {
		return 0, err
	}
	if len(list) == 0 {
		return 0, patterndefinition.Unknown("name", "schedule pattern template", &commonv1.Ref{Qualifier: name})
	}
	return list[0].GetId(), nil
}

// ListSchedulePatternTemplates returns all templates, or a list with the template of the given
// name. The list is empty if there is none.
func (h *Handler) ListSchedulePatternTemplates(ctx context.Context, req *schedulingv1.ListSchedulePatternTemplatesRequest) (*schedulingv1.SchedulePatternList, error) {
	list, err := h.resource.List(ctx, nil, req.Name)
	if err != nil {
		return nil, err
	}
	// Details are included unless they are declined.
	if req.AllDetails != nil && !req.GetAllDetails() {
		for i, p := range list {
			list[i] = withoutDetails(p)
		}
	}
	return &schedulingv1.SchedulePatternList{SchedulePatterns: list}, nil
}

// CreateSchedulePatternTemplate stores a new template. It ignores an id in the body.
func (h *Handler) CreateSchedulePatternTemplate(ctx context.Context, input *schedulingv1.SchedulePattern) (*schedulingv1.SchedulePattern, error) {
	return h.resource.Create(ctx, input)
}

// MultiCreateSchedulePatternTemplates stores new templates: all or none or, with partial success,
// the valid ones.
func (h *Handler) MultiCreateSchedulePatternTemplates(ctx context.Context, req *schedulingv1.MultiCreateSchedulePatternTemplatesRequest) (*schedulingv1.SchedulePatternList, error) {
	patterns := req.GetBody().GetSchedulePatterns()
	if len(patterns) == 0 {
		return nil, fault.Invalid(patterndefinition.CodeNothing, "At least one schedule pattern is needed.")
	}
	stored, failure, err := h.resource.CreateMany(ctx, patterns, req.GetPartialSuccess())
	return &schedulingv1.SchedulePatternList{SchedulePatterns: stored, Failure: failure}, err
}

// MultiUpdateSchedulePatternTemplates replaces templates: all or none or, with partial success, the
// valid ones.
func (h *Handler) MultiUpdateSchedulePatternTemplates(ctx context.Context, req *schedulingv1.MultiUpdateSchedulePatternTemplatesRequest) (*schedulingv1.SchedulePatternList, error) {
	patterns := req.GetBody().GetSchedulePatterns()
	if len(patterns) == 0 {
		return nil, fault.Invalid(patterndefinition.CodeNothing, "At least one schedule pattern is needed.")
	}
	stored, failure, err := h.resource.UpdateMany(ctx, patterns, req.GetPartialSuccess())
	return &schedulingv1.SchedulePatternList{SchedulePatterns: stored, Failure: failure}, err
}

// MultiDeleteSchedulePatternTemplates deletes the requested templates, all or none.
func (h *Handler) MultiDeleteSchedulePatternTemplates(ctx context.Context, req *schedulingv1.MultiDeleteSchedulePatternTemplatesRequest) (*emptypb.Empty, error) {
	if len(req.GetRefs()) == 0 {
		return nil, fault.Invalid(patterndefinition.CodeNothing, "At least one ref of a schedule pattern template is needed.")
	}
	return h.resource.DeleteMany(ctx, "refs", req.GetRefs())
}

// MultiReadSchedulePatternTemplates returns the requested templates in the order of the request, or
// all templates without a request.
func (h *Handler) MultiReadSchedulePatternTemplates(ctx context.Context, req *schedulingv1.MultiReadSchedulePatternTemplatesRequest) (*schedulingv1.SchedulePatternList, error) {
	list, err := h.resource.Read(ctx, "refs", req.GetRefs())
	if err != nil {
		return nil, err
	}
	return &schedulingv1.SchedulePatternList{SchedulePatterns: list}, nil
}
