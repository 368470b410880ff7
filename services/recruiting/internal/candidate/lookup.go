package candidate

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

// LookUpCandidates returns the candidate with an e-mail address, if the caller may see it.
func (h *Handler) LookUpCandidates(ctx context.Context, req *recruitingv1.LookUpCandidatesRequest) (*recruitingv1.FoundCandidateList, error) {
	email := strings.ToLower(strings.TrimSpace(req.GetEmail()))
	if email == "" {
		return nil, missing("email")
	}
	ids, err := pg.Collect(ctx, h.pool, pgx.RowTo[string], `SELECT id::text FROM candidate WHERE tenant_id = $1 AND email = $2`, tenant.Of(ctx), email)
	out := &recruitingv1.FoundCandidateList{}
	for _, id := range ids {
		r, err := h.get(ctx, id)
		switch {
		case fault.HasCode(err, CodeUnknown):
			continue
		case err != nil:
			return nil, err
		}
		out.Items = append(out.Items, &recruitingv1.FoundCandidate{Id: r.ID, Links: show(r).GetLinks()})
	}
	return out, err
}

// GetCandidateUserNameEmail returns the e-mail address of a candidate, and its user name if it is an employee
// that the caller may see.
func (h *Handler) GetCandidateUserNameEmail(ctx context.Context, req *byID) (*recruitingv1.CandidateUserNameEmail, error) {
	r, err := h.get(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	out := &recruitingv1.CandidateUserNameEmail{Email: r.Body.GetContactInfo().GetEmail()}
	person, ok := record.PersonID(r.Body.GetPersonId())
	if !ok {
		return out, nil
	}
	contacts, err := h.contacts.ResolveContacts(ctx, &commonsv1.ResolveContactsRequest{Ids: []int64{person}})
	for _, contact := range contacts.GetPersons() {
		out.UserName = contact.GetUserName()
	}
	return out, err
}
