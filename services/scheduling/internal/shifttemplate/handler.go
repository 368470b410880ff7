package shifttemplate

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/domain/jobpath"
	"github.com/rotaloom/rotaloom/pkg/domain/reflist"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/setup"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/setupref"
)

// refsPath is the path of the references to templates in reads and deletions.
const refsPath = "where.refs.templateRefs"

// Handler serves ShiftTemplateService.
type Handler struct {
	schedulingv1.UnsafeShiftTemplateServiceServer

	resource  setup.Resource[*schedulingv1.ShiftTemplate]
	rules     patterndefinition.Rules
	directory Directory
}

// codeNoEmployee (400): a criterion has no employee.
const codeNoEmployee = "WFS-103407"

// Directory finds the employees of requests, like [projection.Resolver.Employees].
type Directory interface {
	Employees(ctx context.Context, refs []*commonv1.Ref) ([]projection.Employee, error)
}

var _ schedulingv1.ShiftTemplateServiceServer = (*Handler)(nil)

// New returns a Handler that stores templates in the database of the pool. jobs warns of jobs that no location has; it
// may be nil.
func New(pool *pg.Pool, rules patterndefinition.Rules, directory Directory, jobs *jobpath.Checker) *Handler {
	return &Handler{rules: rules, directory: directory, resource: setup.Resource[*schedulingv1.ShiftTemplate]{
		Kind: Kind(), Pool: pool,
		Prepare: func(path string, t *schedulingv1.ShiftTemplate) (*schedulingv1.ShiftTemplate, error) {
			return t, rules.Shift(path, t)
		},
		AfterCommit: func(ctx context.Context, sent ...*schedulingv1.ShiftTemplate) error {
			return jobs.Warn(ctx, patterndefinition.ShiftJobs(sent...))
		},
		Show: func(ctx context.Context, list ...*schedulingv1.ShiftTemplate) error {
			return setupref.Show(ctx, pool, list...)
		},
	}}
}

// GetShiftTemplate returns one template, or the error 404.
func (h *Handler) GetShiftTemplate(ctx context.Context, req *schedulingv1.GetShiftTemplateRequest) (*schedulingv1.ShiftTemplate, error) {
	return h.resource.Get(ctx, req.GetId())
}

// UpdateShiftTemplate replaces a template. If the body has a version, it must match the stored one.
func (h *Handler) UpdateShiftTemplate(ctx context.Context, req *schedulingv1.UpdateShiftTemplateRequest) (*schedulingv1.ShiftTemplate, error) {
	return h.resource.Update(ctx, req.GetId(), req.GetShiftTemplate())
}

// DeleteShiftTemplate deletes a template, or returns the error 404. If the request has a version,
// it must match.
func (h *Handler) DeleteShiftTemplate(ctx context.Context, req *schedulingv1.DeleteShiftTemplateRequest) (*emptypb.Empty, error) {
	return h.resource.Delete(ctx, req.GetId(), req.Version)
}

// ListShiftTemplates returns all templates, or a list with the template of the given name. An
// unknown name is the error 404.
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

// CreateShiftTemplate stores a new template. It ignores an id or a version in the body.
func (h *Handler) CreateShiftTemplate(ctx context.Context, input *schedulingv1.ShiftTemplate) (*schedulingv1.ShiftTemplate, error) {
	return h.resource.Create(ctx, input)
}

// MultiCreateShiftTemplates stores new templates: all or none or, with partial success, the valid
// ones.
func (h *Handler) MultiCreateShiftTemplates(ctx context.Context, req *schedulingv1.MultiCreateShiftTemplatesRequest) (*schedulingv1.ShiftTemplateList, error) {
	templates := req.GetBody().GetShiftTemplates()
	if len(templates) == 0 {
		return nil, fault.Invalid(patterndefinition.CodeNothing, "At least one shift template is needed.")
	}
	stored, failure, err := h.resource.CreateMany(ctx, templates, req.GetPartialSuccess())
	return &schedulingv1.ShiftTemplateList{ShiftTemplates: stored, Failure: failure}, err
}

// MultiUpdateShiftTemplates replaces templates: all or none or, with partial success, the valid
// ones. If a template has a version, it must match the stored one.
func (h *Handler) MultiUpdateShiftTemplates(ctx context.Context, req *schedulingv1.MultiUpdateShiftTemplatesRequest) (*schedulingv1.ShiftTemplateList, error) {
	templates := req.GetBody().GetShiftTemplates()
	if len(templates) == 0 {
		return nil, fault.Invalid(patterndefinition.CodeNothing, "At least one shift template is needed.")
	}
	stored, failure, err := h.resource.UpdateMany(ctx, templates, req.GetPartialSuccess())
	return &schedulingv1.ShiftTemplateList{ShiftTemplates: stored, Failure: failure}, err
}

// MultiDeleteShiftTemplates deletes the requested templates, all or none.
func (h *Handler) MultiDeleteShiftTemplates(ctx context.Context, req *schedulingv1.MultiDeleteShiftTemplatesRequest) (*emptypb.Empty, error) {
	refs, err := reflist.AtMostOne(patterndefinition.CodeOnlyOne, refsPath, req.GetWhere().GetRefs().GetTemplateRefs())
	if err != nil {
		return nil, err
	}
	if len(refs) == 0 {
		return nil, patterndefinition.Missing(refsPath)
	}
	return h.resource.DeleteMany(ctx, refsPath, refs)
}

// MultiReadShiftTemplates returns the requested templates in the order of the request, or all
// templates without a request. Every employee can use all templates.
func (h *Handler) MultiReadShiftTemplates(ctx context.Context, req *schedulingv1.MultiReadShiftTemplatesRequest) (*schedulingv1.ShiftTemplateList, error) {
	employee := req.GetWhere().GetEmployee()
	if err := fault.AtMostOne(patterndefinition.CodeOnlyOne, "where", "refs and employee", req.GetWhere().GetRefs() != nil, employee != nil); err != nil {
		return nil, err
	}
	if employee != nil {
		if !patterndefinition.Named(employee.GetEmployeeRef()) {
			return nil, fault.Invalid(codeNoEmployee, "where.employee.employeeRef is missing.")
		}
		if _, err := h.directory.Employees(ctx, []*commonv1.Ref{employee.GetEmployeeRef()}); err != nil {
			return nil, err
		}
	}
	refs, err := reflist.AtMostOne(patterndefinition.CodeOnlyOne, refsPath, req.GetWhere().GetRefs().GetTemplateRefs())
	if err != nil {
		return nil, err
	}
	list, err := h.resource.Read(ctx, refsPath, refs)
	if err != nil {
		return nil, err
	}
	return &schedulingv1.ShiftTemplateList{ShiftTemplates: list}, nil
}
