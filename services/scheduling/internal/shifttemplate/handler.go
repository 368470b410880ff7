package shifttemplate

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/domain/reflist"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/setup"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
)

// refsPath is the position of the references to templates that are read or deleted.
const refsPath = "where.refs.templateRefs"

// Handler serves ShiftTemplateService.
type Handler struct {
	schedulingv1.UnsafeShiftTemplateServiceServer

	resource  setup.Resource[*schedulingv1.ShiftTemplate]
	rules     patterndefinition.Rules
	directory Directory
}

// codeNoEmployee (400): a criterion names no employee.
const codeNoEmployee = "WFS-103407"

// Directory finds the employees that requests name, as
// [projection.Resolver.Employees] does.
type Directory interface {
	Employees(ctx context.Context, refs []*commonv1.Ref) ([]projection.Employee, error)
}

var _ schedulingv1.ShiftTemplateServiceServer = (*Handler)(nil)

// New returns a Handler that keeps templates in the database of the pool.
func New(pool *pg.Pool, rules patterndefinition.Rules, directory Directory) *Handler {
	return &Handler{rules: rules, directory: directory, resource: setup.Resource[*schedulingv1.ShiftTemplate]{
		Kind: Kind(), Pool: pool,
		Prepare: func(path string, t *schedulingv1.ShiftTemplate) (*schedulingv1.ShiftTemplate, error) {
			return t, rules.Shift(path, t)
		},
	}}
}

// GetShiftTemplate returns one template, or 404.
func (h *Handler) GetShiftTemplate(ctx context.Context, req *schedulingv1.GetShiftTemplateRequest) (*schedulingv1.ShiftTemplate, error) {
	return h.resource.Get(ctx, req.GetId())
}

// UpdateShiftTemplate replaces a template. A version in the body must be the
// one that is stored; without a version whatever is stored is replaced.
func (h *Handler) UpdateShiftTemplate(ctx context.Context, req *schedulingv1.UpdateShiftTemplateRequest) (*schedulingv1.ShiftTemplate, error) {
	return h.resource.Update(ctx, req.GetId(), req.GetShiftTemplate())
}

// DeleteShiftTemplate deletes a template, which must have the version in the request
// when there is one, or returns 404.
func (h *Handler) DeleteShiftTemplate(ctx context.Context, req *schedulingv1.DeleteShiftTemplateRequest) (*emptypb.Empty, error) {
	return h.resource.Delete(ctx, req.GetId(), req.Version)
}

// ListShiftTemplates returns all templates, or the one with the given name in
// a list of one, or 404 when there is none.
func (h *Handler) ListShiftTemplates(ctx context.Context, req *schedulingv1.ListShiftTemplatesRequest) (*schedulingv1.ShiftTemplateList, error) {
	list, err := h.resource.List(ctx, nil, req.Name)
	if err == nil && req.Name != nil && len(list) == 0 {
		err = fault.NotFound(patterndefinition.CodeUnknown, fmt.Sprintf("There is no shift template with the name %.100q.", req.GetName()))
	}
	if err != nil {
		return nil, err
	}
	return &schedulingv1.ShiftTemplateList{ShiftTemplates: list}, nil
}

// CreateShiftTemplate stores a new template. An id or a version in the body is
// ignored.
func (h *Handler) CreateShiftTemplate(ctx context.Context, given *schedulingv1.ShiftTemplate) (*schedulingv1.ShiftTemplate, error) {
	return h.resource.Create(ctx, given)
}

// MultiCreateShiftTemplates stores new templates, all or, with partial success,
// those that can be.
func (h *Handler) MultiCreateShiftTemplates(ctx context.Context, req *schedulingv1.MultiCreateShiftTemplatesRequest) (*schedulingv1.ShiftTemplateList, error) {
	given := req.GetBody().GetShiftTemplates()
	if len(given) == 0 {
		return nil, fault.Invalid(patterndefinition.CodeNothing, "At least one shift template is needed.")
	}
	stored, failure, err := h.resource.CreateMany(ctx, given, req.GetPartialSuccess())
	return &schedulingv1.ShiftTemplateList{ShiftTemplates: stored, Failure: failure}, err
}

// MultiUpdateShiftTemplates replaces templates, all or, with partial success,
// those that can be. A version in a template must be the one that is stored.
func (h *Handler) MultiUpdateShiftTemplates(ctx context.Context, req *schedulingv1.MultiUpdateShiftTemplatesRequest) (*schedulingv1.ShiftTemplateList, error) {
	given := req.GetBody().GetShiftTemplates()
	if len(given) == 0 {
		return nil, fault.Invalid(patterndefinition.CodeNothing, "At least one shift template is needed.")
	}
	stored, failure, err := h.resource.UpdateMany(ctx, given, req.GetPartialSuccess())
	return &schedulingv1.ShiftTemplateList{ShiftTemplates: stored, Failure: failure}, err
}

// MultiDeleteShiftTemplates deletes the templates that are named, all or none.
func (h *Handler) MultiDeleteShiftTemplates(ctx context.Context, req *schedulingv1.MultiDeleteShiftTemplatesRequest) (*emptypb.Empty, error) {
	refs, err := reflist.AtMostOne(req.GetWhere().GetRefs().GetTemplateRefs(), refsPath, patterndefinition.CodeOnlyOne)
	if err != nil {
		return nil, err
	}
	if len(refs) == 0 {
		return nil, patterndefinition.Missing(refsPath)
	}
	return h.resource.DeleteMany(ctx, refsPath, refs)
}

// MultiReadShiftTemplates returns the templates that are named, in the order of
// the names; all when none are. All are open to every employee.
func (h *Handler) MultiReadShiftTemplates(ctx context.Context, req *schedulingv1.MultiReadShiftTemplatesRequest) (*schedulingv1.ShiftTemplateList, error) {
	if employee := req.GetWhere().GetEmployee(); employee != nil {
		if req.GetWhere().GetRefs() != nil {
			return nil, fault.Invalid(patterndefinition.CodeOnlyOne, "where takes only one of refs and employee.")
		}
		if !patterndefinition.Named(employee.GetEmployeeRef()) {
			return nil, fault.Invalid(codeNoEmployee, "where.employee.employeeRef is missing.")
		}
		if _, err := h.directory.Employees(ctx, []*commonv1.Ref{employee.GetEmployeeRef()}); err != nil {
			return nil, err
		}
	}
	refs, err := reflist.AtMostOne(req.GetWhere().GetRefs().GetTemplateRefs(), refsPath, patterndefinition.CodeOnlyOne)
	if err != nil {
		return nil, err
	}
	list, err := h.resource.Read(ctx, refsPath, refs)
	if err != nil {
		return nil, err
	}
	return &schedulingv1.ShiftTemplateList{ShiftTemplates: list}, nil
}
