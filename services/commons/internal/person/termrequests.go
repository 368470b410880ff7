package person

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// TermRequests serves TermRequestService.
type TermRequests struct {
	commonsv1.UnsafeTermRequestServiceServer
	pool *pgxpool.Pool
}

// TermRequests answers the server of TermRequestService over the same persons.
func (h *Handler) TermRequests() *TermRequests { return &TermRequests{pool: h.pool} }

// ListTermRequests answers what is to be carried out for persons, in order.
func (t *TermRequests) ListTermRequests(ctx context.Context, req *commonsv1.ListTermRequestsRequest) (*commonsv1.ListTermRequestsResponse, error) {
	if n := len(req.GetPersonIds()); n > maxResolved {
		return nil, fault.Invalid(fault.CodeBadRequest, fmt.Sprintf("%d persons are more than the allowed %d.", n, maxResolved))
	}
	rows, err := t.pool.Query(ctx, readTermRequests, tenantOf(ctx), req.GetPersonIds())
	if err != nil {
		return nil, err
	}
	out := &commonsv1.ListTermRequestsResponse{}
	err = eachRequest(rows, func(r askedRow) {
		n := len(out.Requests)
		if n == 0 || out.Requests[n-1].GetPersonId() != r.person || out.Requests[n-1].GetNumber() != r.number {
			out.Requests = append(out.Requests, &commonsv1.TermRequest{PersonId: r.person, Number: r.number})
			n++
		}
		last := out.Requests[n-1]
		last.Terms = append(last.Terms, wireTerm(r.askedTerm))
	})
	return out, err
}

func wireTerm(a askedTerm) *commonsv1.RequestedTerm {
	out := &commonsv1.RequestedTerm{EmploymentTermId: a.id}
	if !a.days.Empty() {
		out.From, out.To = a.days.From.String(), a.days.To.String()
	}
	if a.original != nil {
		out.OriginalFrom = a.original.String()
	}
	return out
}
