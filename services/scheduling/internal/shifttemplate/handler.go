package shifttemplate

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/domain/reflist"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/namedstore"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
)

const (
	// path is where a template stands in the request for one.
	path = "shiftTemplate"
	// refsPath is where the templates are named that are read or deleted.
	refsPath = "where.refs.templateRefs"
)

// Handler serves ShiftTemplateService.
type Handler struct {
	schedulingv1.UnsafeShiftTemplateServiceServer

	pool      *pg.Pool
	store     *Store
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
func New(pool *pg.Pool, store *Store, rules patterndefinition.Rules, directory Directory) *Handler {
	return &Handler{pool: pool, store: store, rules: rules, directory: directory}
}

// GetShiftTemplate returns one template, or 404.
func (h *Handler) GetShiftTemplate(ctx context.Context, req *schedulingv1.GetShiftTemplateRequest) (*schedulingv1.ShiftTemplate, error) {
	tenantID := tenant.Of(ctx)
	return h.store.Get(ctx, h.pool, tenantID, req.GetId())
}

// UpdateShiftTemplate replaces a template. A version in the body must be the
// one that is stored; without a version whatever is stored is replaced.
func (h *Handler) UpdateShiftTemplate(ctx context.Context, req *schedulingv1.UpdateShiftTemplateRequest) (*schedulingv1.ShiftTemplate, error) {
	tenantID := tenant.Of(ctx)
	given := req.GetShiftTemplate()
	if given == nil {
		given = &schedulingv1.ShiftTemplate{}
	}
	if err := patterndefinition.Codes().CheckID(req.GetId(), given.Id); err != nil {
		return nil, err
	}
	version, err := patterndefinition.Codes().Version(path, given.GetVersion())
	if err != nil {
		return nil, err
	}
	template, err := prepare(h.rules, path, given)
	if err != nil {
		return nil, err
	}
	return h.store.Replace(ctx, h.pool, tenantID, req.GetId(), template, version)
}

// DeleteShiftTemplate deletes a template, which must have the version in the request
// when there is one, or returns 404.
func (h *Handler) DeleteShiftTemplate(ctx context.Context, req *schedulingv1.DeleteShiftTemplateRequest) (*emptypb.Empty, error) {
	tenantID := tenant.Of(ctx)
	if err := h.store.Delete(ctx, h.pool, tenantID, req.GetId(), req.Version); err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, nil
}

// ListShiftTemplates returns all templates, or the one with the given name in
// a list of one, or 404 when there is none.
func (h *Handler) ListShiftTemplates(ctx context.Context, req *schedulingv1.ListShiftTemplatesRequest) (*schedulingv1.ShiftTemplateList, error) {
	tenantID := tenant.Of(ctx)
	list, err := h.store.List(ctx, h.pool, tenantID, req.Name)
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
	tenantID := tenant.Of(ctx)
	template, err := prepare(h.rules, path, given)
	if err != nil {
		return nil, err
	}
	return h.store.CreateOne(ctx, h.pool, tenantID, template)
}

// MultiCreateShiftTemplates stores new templates, all or, with partial success,
// those that can be.
func (h *Handler) MultiCreateShiftTemplates(ctx context.Context, req *schedulingv1.MultiCreateShiftTemplatesRequest) (*schedulingv1.ShiftTemplateList, error) {
	tenantID := tenant.Of(ctx)
	given := req.GetBody().GetShiftTemplates()
	if len(given) == 0 {
		return nil, fault.Invalid(patterndefinition.CodeNothing, "At least one shift template is needed.")
	}
	list := make([]namedstore.New[*schedulingv1.ShiftTemplate], len(given))
	for i, t := range given {
		prepared, err := prepare(h.rules, fmt.Sprintf("%ss[%d]", path, i), t)
		list[i] = namedstore.New[*schedulingv1.ShiftTemplate]{Input: t, Stored: prepared, Err: err}
	}
	outcome, err := h.store.Create(ctx, h.pool, tenantID, list, req.GetPartialSuccess())
	if err != nil {
		return nil, err
	}
	done, failure, err := rpc.BulkResult(ctx, outcome)
	return &schedulingv1.ShiftTemplateList{ShiftTemplates: done, Failure: failure}, err
}

// MultiUpdateShiftTemplates replaces templates, all or, with partial success,
// those that can be. A version in a template must be the one that is stored.
func (h *Handler) MultiUpdateShiftTemplates(ctx context.Context, req *schedulingv1.MultiUpdateShiftTemplatesRequest) (*schedulingv1.ShiftTemplateList, error) {
	tenantID := tenant.Of(ctx)
	given := req.GetBody().GetShiftTemplates()
	if len(given) == 0 {
		return nil, fault.Invalid(patterndefinition.CodeNothing, "At least one shift template is needed.")
	}
	list := make([]namedstore.Change[*schedulingv1.ShiftTemplate], len(given))
	for i, t := range given {
		c := &list[i]
		c.Path, c.Input = fmt.Sprintf("%ss[%d]", path, i), t
		if c.Version, c.Err = patterndefinition.Codes().Version(c.Path, t.GetVersion()); c.Err == nil {
			c.Stored, c.Err = prepare(h.rules, c.Path, t)
		}
	}
	outcome, err := h.store.ReplaceMany(ctx, h.pool, tenantID, list, req.GetPartialSuccess())
	if err != nil {
		return nil, err
	}
	done, failure, err := rpc.BulkResult(ctx, outcome)
	return &schedulingv1.ShiftTemplateList{ShiftTemplates: done, Failure: failure}, err
}

// MultiDeleteShiftTemplates deletes the templates that are named, all or none.
func (h *Handler) MultiDeleteShiftTemplates(ctx context.Context, req *schedulingv1.MultiDeleteShiftTemplatesRequest) (*emptypb.Empty, error) {
	tenantID := tenant.Of(ctx)
	refs, err := oneList(req.GetWhere().GetRefs().GetTemplateRefs())
	if err != nil {
		return nil, err
	}
	if len(refs) == 0 {
		return nil, patterndefinition.Missing(refsPath)
	}
	return &emptypb.Empty{}, h.store.DeleteMany(ctx, h.pool, tenantID, refsPath, refs)
}

// MultiReadShiftTemplates returns the templates that are named, in the order of
// the names; all when none are. All are open to every employee.
func (h *Handler) MultiReadShiftTemplates(ctx context.Context, req *schedulingv1.MultiReadShiftTemplatesRequest) (*schedulingv1.ShiftTemplateList, error) {
	tenantID := tenant.Of(ctx)
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
	refs, err := oneList(req.GetWhere().GetRefs().GetTemplateRefs())
	if err != nil {
		return nil, err
	}
	list, err := h.store.Read(ctx, h.pool, tenantID, refsPath, refs)
	if err != nil {
		return nil, err
	}
	return &schedulingv1.ShiftTemplateList{ShiftTemplates: list}, nil
}

// oneList is the one list of a RefList that has items, as refs.
func oneList(list *commonv1.RefList) ([]*commonv1.Ref, error) {
	if reflist.CountKinds(list) > 1 {
		return nil, fault.Invalid(patterndefinition.CodeOnlyOne,
			refsPath+" takes only one of ids, qualifiers and refs.")
	}
	return reflist.Refs(list), nil
}
