package membership

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// maxPage bounds the persons of one response to another service.
const maxPage = 10000

// ListMemberships returns, in the order of the person ids, everything that
// persons have: the persons who were, are or will be on a term, or those asked
// for. A person asked for who never had an assignment is there with version 0.
func (h *Handler) ListMemberships(ctx context.Context, req *timekeepingv1.ListMembershipsRequest) (*timekeepingv1.ListMembershipsResponse, error) {
	tenantID, err := tenant.Of(ctx)
	if err != nil {
		return nil, err
	}
	if (req.GetEmploymentTermId() == 0) == (len(req.GetPersonIds()) == 0) {
		return nil, fault.Invalid(fault.CodeBadRequest, "Exactly one of employmentTermId and personIds is needed.")
	}
	if n := len(req.GetPersonIds()); n > maxPage {
		return nil, fault.Invalid(fault.CodeBadRequest, fmt.Sprintf("%d persons are more than the allowed %d.", n, maxPage))
	}
	size := int(req.GetPageSize())
	if size <= 0 || size > maxPage {
		size = maxPage
	}
	persons := req.GetPersonIds()
	if len(persons) == 0 {
		var err error
		if persons, err = onTerm(ctx, h.pool, tenantID, req.GetEmploymentTermId(), req.GetAfterPersonId(), size+1); err != nil {
			return nil, err
		}
	}
	return page(ctx, h.pool, tenantID, persons, req.GetAfterPersonId(), size)
}

// onTerm returns the next persons with an assignment to a term.
func onTerm(ctx context.Context, db pg.Querier, tenantID, termID, after int64, limit int) ([]int64, error) {
	rows, err := db.Query(ctx, `SELECT DISTINCT person_id FROM membership
		WHERE tenant_id = $1 AND employment_term_id = $2 AND person_id > $3
		ORDER BY person_id LIMIT $4`, tenantID, termID, after, limit)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}

// page returns the first persons after one, up to size.
func page(ctx context.Context, db pg.Querier, tenantID int64, persons []int64, after int64, size int) (*timekeepingv1.ListMembershipsResponse, error) {
	// Versions and assignments come from one statement, hence one snapshot:
	// a list never goes under the version of another one.
	rows, err := db.Query(ctx, `WITH q AS (
			SELECT DISTINCT p.id FROM unnest($2::bigint[]) AS p (id) WHERE p.id > $3 ORDER BY p.id LIMIT $4)
		SELECT q.id, coalesce(h.version, 0), m.employment_term_id, m.from_date, m.to_date
		FROM q
		LEFT JOIN membership_head h ON h.tenant_id = $1 AND h.person_id = q.id
		LEFT JOIN membership m ON m.tenant_id = $1 AND m.person_id = q.id
		ORDER BY q.id, m.from_date`, tenantID, persons, after, size+1)
	if err != nil {
		return nil, err
	}
	out := &timekeepingv1.ListMembershipsResponse{}
	var id, version int64
	var term *int64
	var from, to *civil.Date
	_, err = pgx.ForEachRow(rows, []any{&id, &version, &term, &from, &to}, func() error {
		n := len(out.Persons)
		if n == 0 || out.Persons[n-1].GetPersonId() != id {
			out.Persons = append(out.Persons, &timekeepingv1.PersonMemberships{PersonId: id, Version: version})
			n++
		}
		if term != nil {
			p := out.Persons[n-1]
			p.Memberships = append(p.Memberships, &timekeepingv1.Membership{
				EmploymentTermId: *term, From: from.String(), To: to.String(),
			})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list memberships: %w", err)
	}
	if len(out.Persons) > size {
		out.Persons, out.More = out.Persons[:size], true
	}
	return out, nil
}
