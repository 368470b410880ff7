package membership

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// maxCounted bounds the terms of one count.
const maxCounted = 1000

// The index by term holds all that is needed.
const countMembers = `SELECT employment_term_id, count(DISTINCT person_id) FROM membership
	WHERE tenant_id = $1 AND employment_term_id = ANY($2) GROUP BY employment_term_id`

// CountMembers returns how many persons were, are or will be on each of the
// terms, without the terms that have none.
func (h *Handler) CountMembers(ctx context.Context, req *timekeepingv1.CountMembersRequest) (*timekeepingv1.CountMembersResponse, error) {
	tenantID, err := tenant.Of(ctx)
	if err != nil {
		return nil, err
	}
	if n := len(req.GetEmploymentTermIds()); n > maxCounted {
		return nil, fault.Invalid(fault.CodeBadRequest, fmt.Sprintf("%d employment terms are more than the allowed %d.", n, maxCounted))
	}
	rows, err := h.pool.Query(ctx, countMembers, tenantID, req.GetEmploymentTermIds())
	if err != nil {
		return nil, fmt.Errorf("count members: %w", err)
	}
	counts, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*timekeepingv1.MemberCount, error) {
		count := &timekeepingv1.MemberCount{}
		return count, row.Scan(&count.EmploymentTermId, &count.Persons)
	})
	if err != nil {
		return nil, fmt.Errorf("count members: %w", err)
	}
	return &timekeepingv1.CountMembersResponse{Counts: counts}, nil
}
