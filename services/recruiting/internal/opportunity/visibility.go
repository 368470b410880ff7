package opportunity

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

// Visible returns the condition for the opportunities that the caller may see: all of them, or those
// that name the caller's person or are shared with it or with everyone. The row of the opportunity is
// "r".
func Visible(ctx context.Context) record.Condition {
	person, restricted := record.Restricted(ctx)
	if !restricted {
		return record.Condition{}
	}
	return record.Condition{SQL: condition("r"), Args: pgx.NamedArgs{"visible_person": person}}
}

// VisibleThrough returns the condition for the rows "r" of another table that belong to opportunities
// that the caller may see. The column of the table has the id of the opportunity.
func VisibleThrough(ctx context.Context, column string) record.Condition {
	person, restricted := record.Restricted(ctx)
	if !restricted {
		return record.Condition{}
	}
	return record.Condition{
		SQL:  "EXISTS (SELECT FROM opportunity o WHERE o.tenant_id = r.tenant_id AND o.id = r." + column + " AND (" + condition("o") + "))",
		Args: pgx.NamedArgs{"visible_person": person},
	}
}

// VisibleRow returns the condition on a row of the table opportunity with an alias, for statements that
// join the table, such as the ones of candidates: ok is false if all rows are visible. The argument
// @visible_person has the returned value.
func VisibleRow(ctx context.Context, alias string) (sql string, person int64, ok bool) {
	person, restricted := record.Restricted(ctx)
	return condition(alias), person, restricted
}

func condition(alias string) string {
	return fmt.Sprintf(`%[1]s.is_shared_with_everyone OR @visible_person IN (%[1]s.recruiter_id, %[1]s.hiring_manager_id, %[1]s.onboarding_owner_id)
OR EXISTS (SELECT FROM opportunity_recruiter s WHERE s.tenant_id = %[1]s.tenant_id AND s.opportunity_id = %[1]s.id AND s.person_id = @visible_person)`, alias)
}

// ListOpportunityRecruiters returns the recruiters that an opportunity is shared with.
func (h *Handler) ListOpportunityRecruiters(ctx context.Context, req *byID) (*recruitingv1.OpportunityRecruiterList, error) {
	r, err := Opportunities.Get(ctx, h.pool, req.GetId(), Visible(ctx))
	if err != nil {
		return nil, err
	}
	list, err := pg.Collect(ctx, h.pool, scanRecruiter, `SELECT person_id, shared_at FROM opportunity_recruiter
		WHERE tenant_id = $1 AND opportunity_id = $2 ORDER BY shared_at, person_id`, tenant.Of(ctx), r.ID)
	return &recruitingv1.OpportunityRecruiterList{Items: list}, err
}

func scanRecruiter(row pgx.CollectableRow) (*recruitingv1.OpportunityRecruiter, error) {
	var person int64
	var at time.Time
	err := row.Scan(&person, &at)
	return &recruitingv1.OpportunityRecruiter{Id: record.PersonGUID(person), SharedAt: record.Moment(at.UnixMicro())}, err
}

// ShareOpportunity shares an opportunity with a recruiter. The time of its last change becomes the
// present, so that the recruiter's incremental reads find it.
func (h *Handler) ShareOpportunity(ctx context.Context, req *recruitingv1.ShareOpportunityRequest) (out *recruitingv1.OpportunityRecruiter, err error) {
	if req.GetBody().GetId() == "" {
		return nil, missing("id")
	}
	persons, err := h.persons.Resolve(ctx, map[string]string{"id": req.GetBody().GetId()})
	if err != nil {
		return nil, err
	}
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		r, err := Opportunities.Lock(ctx, tx, req.GetId(), Visible(ctx))
		if err != nil {
			return err
		}
		list, err := pg.Collect(ctx, tx, scanRecruiter, `INSERT INTO opportunity_recruiter (tenant_id, opportunity_id, person_id) VALUES ($1, $2, $3)
			ON CONFLICT DO NOTHING RETURNING person_id, shared_at`, tenant.Of(ctx), r.ID, persons["id"].GetPersonId())
		switch {
		case err != nil:
			return fmt.Errorf("share an opportunity: %w", err)
		case len(list) == 0:
			return fault.Conflict(CodeShared, "The opportunity is shared with this recruiter already.").WithMembers("id")
		}
		out = list[0]
		return Opportunities.Touch(ctx, tx, r.ID)
	})
	return out, err
}
