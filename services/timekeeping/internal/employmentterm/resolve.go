package employmentterm

import (
	"context"
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// maxResolved bounds ids and names of one call between services.
const maxResolved = 10000

// ResolveEmploymentTerms returns what other domains keep of the terms with the
// given ids or names. Unknown ones are left out.
func (h *Handler) ResolveEmploymentTerms(ctx context.Context, req *timekeepingv1.ResolveEmploymentTermsRequest) (*timekeepingv1.ResolveEmploymentTermsResponse, error) {
	tenantID, err := tenant.Of(ctx)
	if err != nil {
		return nil, err
	}
	if n := len(req.GetIds()) + len(req.GetNames()); n > maxResolved {
		return nil, fault.Invalid(fault.CodeBadRequest, fmt.Sprintf("%d employment terms are more than the allowed %d.", n, maxResolved))
	}
	found, err := collect(ctx, h.pool, `SELECT id, version, body FROM employment_term
		WHERE tenant_id = $1 AND (id = ANY($2)
		   OR lower(name) = ANY(SELECT lower(q.text) FROM unnest($3::text[]) AS q (text)))
		ORDER BY id`, tenantID, req.GetIds(), req.GetNames())
	if err != nil {
		return nil, err
	}
	out := &timekeepingv1.ResolveEmploymentTermsResponse{}
	for _, r := range found {
		out.EmploymentTerms = append(out.EmploymentTerms, r.changed(false))
	}
	return out, nil
}
