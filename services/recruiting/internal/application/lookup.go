package application

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
)

// LookUpEasyApply returns the applications of the candidate with an e-mail address, in the order of their
// creation. Without such a candidate, the list is empty.
func (h *Handler) LookUpEasyApply(ctx context.Context, req *recruitingv1.LookUpEasyApplyRequest) (*recruitingv1.EasyApplyList, error) {
	email := strings.ToLower(strings.TrimSpace(req.GetEmail()))
	if email == "" {
		return nil, missing("email")
	}
	visible := Visible(ctx)
	args := pgx.NamedArgs{"tenant": tenant.Of(ctx), "email": email}
	for name, value := range visible.Args {
		args[name] = value
	}
	sql := `SELECT r.id::text, r.body FROM application r JOIN candidate c ON c.tenant_id = r.tenant_id AND c.id = r.candidate_id
WHERE r.tenant_id = @tenant AND c.email = @email AND NOT c.deleted AND NOT r.deleted`
	if visible.SQL != "" {
		sql += " AND (" + visible.SQL + ")"
	}
	if id := req.GetOpportunity().GetId(); id != "" {
		args["opportunity"] = id
		sql += " AND r.opportunity_id = @opportunity::uuid"
	}
	list, err := pg.Collect(ctx, h.pool, scanEasyApply, sql+" ORDER BY r.created_at, r.id", args)
	if err != nil {
		return nil, fmt.Errorf("look applications up: %w", err)
	}
	return &recruitingv1.EasyApplyList{Items: list}, nil
}

// scanEasyApply reads the id and the body of an application.
func scanEasyApply(row pgx.CollectableRow) (*recruitingv1.EasyApply, error) {
	a, out := &application{}, &recruitingv1.EasyApply{}
	var body []byte
	if err := row.Scan(&out.Id, &body); err != nil {
		return nil, err
	}
	if err := proto.Unmarshal(body, a); err != nil {
		return nil, fmt.Errorf("decode application %s: %w", out.GetId(), err)
	}
	out.Candidate, out.Opportunity = &recruitingv1.IdRef{Id: a.GetCandidate().GetId()}, a.GetOpportunity()
	out.AppliedDate, out.IsProcessed = a.GetAppliedDate(), a.GetIsProcessed()
	out.Links = []*recruitingv1.Link{{Href: "/v1/recruiting/applications/" + out.GetId(), Rel: "self"}}
	return out, nil
}
