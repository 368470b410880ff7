package employmentterm

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/setupref"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/setupuse"
)

// properties are the kinds of objects that terms refer to.
var properties = map[schedulingv1.EmploymentTermProperty]setupref.Property{
	schedulingv1.EmploymentTermProperty_EMPLOYMENT_TERM_PROPERTY_PAY_CODE:  setupref.PayCode,
	schedulingv1.EmploymentTermProperty_EMPLOYMENT_TERM_PROPERTY_WORK_RULE: setupref.WorkRule,
	schedulingv1.EmploymentTermProperty_EMPLOYMENT_TERM_PROPERTY_PAY_RULE:  setupref.PayRule,
}

// FindEmploymentTermUse returns the name of a term that refers to an object of another service or, without
// such a term, the entry or the pattern of a schedule that refers to the object.
func (h *Handler) FindEmploymentTermUse(ctx context.Context, req *schedulingv1.FindEmploymentTermUseRequest) (*schedulingv1.FindEmploymentTermUseResponse, error) {
	tenantID := tenant.Of(ctx)
	kind, ok := properties[req.GetProperty()]
	if !ok {
		return nil, fault.Invalid(fault.CodeBadRequest, "property is missing, or unknown.")
	}
	terms, err := collect(ctx, h.pool, `SELECT id, version, body FROM employment_term WHERE tenant_id = $1 ORDER BY id`, tenantID)
	if err != nil {
		return nil, err
	}
	for _, t := range terms {
		if setupref.RefersTo(t.term.ProtoReflect(), kind, req.GetId(), req.GetName()) {
			return &schedulingv1.FindEmploymentTermUseResponse{EmploymentTerm: t.term.GetName()}, nil
		}
	}
	use, err := setupuse.Find(ctx, h.pool, kind, req.GetId(), req.GetName())
	return &schedulingv1.FindEmploymentTermUseResponse{ScheduleUse: use}, err
}
