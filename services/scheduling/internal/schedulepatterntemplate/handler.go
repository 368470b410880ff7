package schedulepatterntemplate

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/namedstore"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
)

// path is where a template stands in the request for one.
const path = "schedulePattern"

// Handler serves SchedulePatternTemplateService.
type Handler struct {
	schedulingv1.UnsafeSchedulePatternTemplateServiceServer

	pool        *pg.Pool
	store       *Store
	definitions *patterndefinition.Definitions
}

var _ schedulingv1.SchedulePatternTemplateServiceServer = (*Handler)(nil)

// New returns a Handler that keeps templates in the database of the pool.
func New(pool *pg.Pool, store *Store, definitions *patterndefinition.Definitions) *Handler {
	return &Handler{pool: pool, store: store, definitions: definitions}
}

// GetSchedulePatternTemplate returns one template, or 404.
func (h *Handler) GetSchedulePatternTemplate(ctx context.Context, req *schedulingv1.GetSchedulePatternTemplateRequest) (*schedulingv1.SchedulePattern, error) {
	tenantID := tenant.Of(ctx)
	found, version, err := h.store.GetWithVersion(ctx, h.pool, tenantID, req.GetId())
	if err != nil {
		return nil, err
	}
	return found, rpc.SetVersion(ctx, version)
}

// UpdateSchedulePatternTemplate replaces the template with the id in the path,
// or, without one, with the name in the query.
func (h *Handler) UpdateSchedulePatternTemplate(ctx context.Context, req *schedulingv1.UpdateSchedulePatternTemplateRequest) (*schedulingv1.SchedulePattern, error) {
	tenantID := tenant.Of(ctx)
	id, err := h.find(ctx, req.GetId(), req.Name)
	if err != nil {
		return nil, err
	}
	given := req.GetSchedulePattern()
	if err := patterndefinition.Codes().CheckID(id, idOf(given)); err != nil {
		return nil, err
	}
	list, err := h.prepare(ctx, []*schedulingv1.SchedulePattern{given}, []string{path})
	if err != nil {
		return nil, err
	}
	if list[0].Err != nil {
		return nil, list[0].Err
	}
	stored, version, err := h.store.ReplaceWithVersion(ctx, h.pool, tenantID, id, given, nil)
	if err != nil {
		return nil, err
	}
	return stored, rpc.SetVersion(ctx, version)
}

// DeleteSchedulePatternTemplate deletes the template with the id in the path,
// or, without one, with the name in the query.
func (h *Handler) DeleteSchedulePatternTemplate(ctx context.Context, req *schedulingv1.DeleteSchedulePatternTemplateRequest) (*emptypb.Empty, error) {
	tenantID := tenant.Of(ctx)
	id, err := h.find(ctx, req.GetId(), req.Name)
	if err != nil {
		return nil, err
	}
	if err := h.store.Delete(ctx, h.pool, tenantID, id, nil); err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, nil
}

// find returns the id of the template that is meant. A path with an id returns
// 404 when it names nothing, which the store does; a name is a parameter.
func (h *Handler) find(ctx context.Context, id int64, name *string) (int64, error) {
	tenantID := tenant.Of(ctx)
	if id != 0 {
		return id, nil
	}
	if name == nil || *name == "" {
		return 0, patterndefinition.Missing("name")
	}
	list, err := h.store.List(ctx, h.pool, tenantID, name)
	if err != nil {
		return 0, err
	}
	if len(list) == 0 {
		return 0, patterndefinition.Unknown("name", "schedule pattern template", &commonv1.Ref{Qualifier: name})
	}
	return list[0].GetId(), nil
}

// ListSchedulePatternTemplates returns all templates, or the one with the given
// name in a list of one; the list is empty when there is none.
func (h *Handler) ListSchedulePatternTemplates(ctx context.Context, req *schedulingv1.ListSchedulePatternTemplatesRequest) (*schedulingv1.SchedulePatternList, error) {
	tenantID := tenant.Of(ctx)
	list, err := h.store.List(ctx, h.pool, tenantID, req.Name)
	if err != nil {
		return nil, err
	}
	// Details are shown unless they are declined.
	if req.AllDetails != nil && !req.GetAllDetails() {
		for i, p := range list {
			list[i] = short(p)
		}
	}
	return &schedulingv1.SchedulePatternList{SchedulePatterns: list}, nil
}

// CreateSchedulePatternTemplate stores a new template. An id in the body is
// ignored.
func (h *Handler) CreateSchedulePatternTemplate(ctx context.Context, given *schedulingv1.SchedulePattern) (*schedulingv1.SchedulePattern, error) {
	tenantID := tenant.Of(ctx)
	list, err := h.prepare(ctx, []*schedulingv1.SchedulePattern{given}, []string{path})
	if err != nil {
		return nil, err
	}
	if list[0].Err != nil {
		return nil, list[0].Err
	}
	stored, err := h.store.CreateOne(ctx, h.pool, tenantID, given)
	if err != nil {
		return nil, err
	}
	return stored, rpc.SetVersion(ctx, namedstore.FirstVersion)
}

// MultiCreateSchedulePatternTemplates stores new templates, all or, with
// partial success, those that can be.
func (h *Handler) MultiCreateSchedulePatternTemplates(ctx context.Context, req *schedulingv1.MultiCreateSchedulePatternTemplatesRequest) (*schedulingv1.SchedulePatternList, error) {
	tenantID := tenant.Of(ctx)
	given := req.GetBody().GetSchedulePatterns()
	if len(given) == 0 {
		return nil, fault.Invalid(patterndefinition.CodeNothing, "At least one schedule pattern is needed.")
	}
	list, err := h.prepare(ctx, given, pathsOf(given))
	if err != nil {
		return nil, err
	}
	outcome, err := h.store.Create(ctx, h.pool, tenantID, list, req.GetPartialSuccess())
	if err != nil {
		return nil, err
	}
	done, failure, err := rpc.BulkResult(ctx, outcome)
	return &schedulingv1.SchedulePatternList{SchedulePatterns: done, Failure: failure}, err
}

// MultiUpdateSchedulePatternTemplates replaces templates, all or, with partial
// success, those that can be.
func (h *Handler) MultiUpdateSchedulePatternTemplates(ctx context.Context, req *schedulingv1.MultiUpdateSchedulePatternTemplatesRequest) (*schedulingv1.SchedulePatternList, error) {
	tenantID := tenant.Of(ctx)
	given := req.GetBody().GetSchedulePatterns()
	if len(given) == 0 {
		return nil, fault.Invalid(patterndefinition.CodeNothing, "At least one schedule pattern is needed.")
	}
	paths := pathsOf(given)
	checked, err := h.prepare(ctx, given, paths)
	if err != nil {
		return nil, err
	}
	list := make([]namedstore.Change[*schedulingv1.SchedulePattern], len(given))
	for i := range checked {
		list[i] = namedstore.Change[*schedulingv1.SchedulePattern]{New: checked[i], Path: paths[i]}
	}
	outcome, err := h.store.ReplaceMany(ctx, h.pool, tenantID, list, req.GetPartialSuccess())
	if err != nil {
		return nil, err
	}
	done, failure, err := rpc.BulkResult(ctx, outcome)
	return &schedulingv1.SchedulePatternList{SchedulePatterns: done, Failure: failure}, err
}

// MultiDeleteSchedulePatternTemplates deletes the templates that are named, all
// or none.
func (h *Handler) MultiDeleteSchedulePatternTemplates(ctx context.Context, req *schedulingv1.MultiDeleteSchedulePatternTemplatesRequest) (*emptypb.Empty, error) {
	tenantID := tenant.Of(ctx)
	if len(req.GetRefs()) == 0 {
		return nil, fault.Invalid(patterndefinition.CodeNothing, "At least one ref of a schedule pattern template is needed.")
	}
	return &emptypb.Empty{}, h.store.DeleteMany(ctx, h.pool, tenantID, "refs", req.GetRefs())
}

// pathsOf is where templates stand in a request for several.
func pathsOf(given []*schedulingv1.SchedulePattern) []string {
	paths := make([]string, len(given))
	for i := range given {
		paths[i] = fmt.Sprintf("%ss[%d]", path, i)
	}
	return paths
}

// MultiReadSchedulePatternTemplates returns the templates that are named, in
// the order of the names; all when none are.
func (h *Handler) MultiReadSchedulePatternTemplates(ctx context.Context, req *schedulingv1.MultiReadSchedulePatternTemplatesRequest) (*schedulingv1.SchedulePatternList, error) {
	tenantID := tenant.Of(ctx)
	list, err := h.store.Read(ctx, h.pool, tenantID, "refs", req.GetRefs())
	if err != nil {
		return nil, err
	}
	return &schedulingv1.SchedulePatternList{SchedulePatterns: list}, nil
}

// prepare checks templates: each has a name, and could be assigned as it is.
func (h *Handler) prepare(ctx context.Context, given []*schedulingv1.SchedulePattern, paths []string) ([]namedstore.New[*schedulingv1.SchedulePattern], error) {
	tenantID := tenant.Of(ctx)
	asked := make([]patterndefinition.Request, len(given))
	for i, p := range given {
		asked[i] = patterndefinition.Request{Path: paths[i], Pattern: p}
	}
	errs, err := h.definitions.Validate(ctx, h.pool, tenantID, asked)
	if err != nil {
		return nil, err
	}
	list := make([]namedstore.New[*schedulingv1.SchedulePattern], len(given))
	for i, p := range given {
		if err := patterndefinition.Codes().CheckName(paths[i], p.GetName()); err != nil {
			errs[i] = err
		}
		list[i] = namedstore.New[*schedulingv1.SchedulePattern]{Input: p, Stored: p, Err: errs[i]}
	}
	return list, nil
}
