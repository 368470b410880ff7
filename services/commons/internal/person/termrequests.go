package person

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/record"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
)

// TermRequests serves TermRequestService.
type TermRequests struct {
	commonsv1.UnsafeTermRequestServiceServer
	pool *pg.Pool
}

// TermRequests returns a server of TermRequestService that uses the same persons.
func (h *Handler) TermRequests() *TermRequests { return &TermRequests{pool: h.pool} }

// ListTermRequests returns the pending requests for terms of persons, in order.
func (t *TermRequests) ListTermRequests(ctx context.Context, req *commonsv1.ListTermRequestsRequest) (*commonsv1.ListTermRequestsResponse, error) {
	tenantID := tenant.Of(ctx)
	rows, err := t.pool.Query(ctx, store.SelectTermRequests, tenantID, req.GetPersonIds())
	if err != nil {
		return nil, err
	}
	out := &commonsv1.ListTermRequestsResponse{}
	err = store.ForEachTermRequest(rows, func(r store.TermRequestRow) {
		n := len(out.Requests)
		if n == 0 || out.Requests[n-1].GetPersonId() != r.Person || out.Requests[n-1].GetNumber() != r.Number {
			out.Requests = append(out.Requests, &commonsv1.TermRequest{PersonId: r.Person, Number: r.Number})
			n++
		}
		last := out.Requests[n-1]
		last.Terms = append(last.Terms, requestedTerm(r.TermRequest))
	})
	return out, err
}

func requestedTerm(a record.TermRequest) *commonsv1.RequestedTerm {
	out := &commonsv1.RequestedTerm{EmploymentTermId: a.ID}
	if !a.Days.Empty() {
		out.From, out.To = a.Days.From.String(), a.Days.To.String()
	}
	if a.OriginalStart != nil {
		out.OriginalFrom = a.OriginalStart.String()
	}
	return out
}
