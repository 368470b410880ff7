package person

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

const (
	readTermRequests = `SELECT r.person_id, r.number, coalesce(r.employment_term_id, 0), coalesce(t.name, ''),
			r.from_date, r.to_date, r.original_from_date
		FROM term_request r
		LEFT JOIN employment_term t ON t.tenant_id = $1 AND t.id = r.employment_term_id
		WHERE r.tenant_id = $1 AND r.person_id = ANY($2) ORDER BY r.person_id, r.number, r.position`

	readMemberships = `SELECT m.person_id, t.id, t.name, m.from_date, m.to_date
		FROM membership m JOIN employment_term t ON t.tenant_id = $1 AND t.id = m.employment_term_id
		WHERE m.tenant_id = $1 AND m.person_id = ANY($2) ORDER BY m.person_id, m.from_date`
)

// queueTerms adds the statements that fill in the terms of persons: what
// timekeeping said last, and what it was asked for since. In one snapshot, a
// request that is carried out meanwhile shows as a request or as what it led to.
func queueTerms(snapshot *pg.Snapshot, tenantID int64, ids []int64, persons map[int64]*stored) {
	asked := map[int64][]askedRow{}
	snapshot.Queue(func(rows pgx.Rows) error {
		return eachRequest(rows, func(r askedRow) { asked[r.person] = append(asked[r.person], r) })
	}, readTermRequests, tenantID, ids)
	snapshot.Queue(func(rows pgx.Rows) error { return readTerms(rows, asked, persons) }, readMemberships, tenantID, ids)
}

func readTerms(rows pgx.Rows, asked map[int64][]askedRow, persons map[int64]*stored) error {
	var id int64
	var t termDays
	var from, to time.Time
	if _, err := pgx.ForEachRow(rows, []any{&id, &t.id, &t.name, &from, &to}, func() error {
		if p := persons[id]; p != nil {
			t.days = civil.Range{From: civil.FromTime(from), To: civil.FromTime(to)}
			p.terms = append(p.terms, t)
		}
		return nil
	}); err != nil {
		return err
	}
	for id, list := range asked {
		p := persons[id]
		for len(list) > 0 && p != nil {
			n := 0
			var one []askedTerm
			for n < len(list) && list[n].number == list[0].number {
				one, n = append(one, list[n].askedTerm), n+1
			}
			p.terms, list = ask(p.terms, one), list[n:]
		}
	}
	return nil
}

// askedRow is a row of term_request.
type askedRow struct {
	askedTerm
	person, number int64
}

func eachRequest(rows pgx.Rows, do func(askedRow)) error {
	var r askedRow
	var from, to, original *time.Time
	_, err := pgx.ForEachRow(rows, []any{&r.person, &r.number, &r.id, &r.name, &from, &to, &original}, func() error {
		r.days, r.original = civil.Range{}, nil
		if from != nil && to != nil {
			r.days = civil.Range{From: civil.FromTime(*from), To: civil.FromTime(*to)}
		}
		if original != nil {
			day := civil.FromTime(*original)
			r.original = &day
		}
		do(r)
		return nil
	})
	if err != nil {
		return fmt.Errorf("read term requests: %w", err)
	}
	return nil
}

// TermRequests serves TermRequestService.
type TermRequests struct {
	commonsv1.UnsafeTermRequestServiceServer
	persons *Handler
}

// TermRequests answers the server of TermRequestService over the same persons.
func (h *Handler) TermRequests() *TermRequests { return &TermRequests{persons: h} }

// ListTermRequests answers what is to be carried out for persons, in order.
func (t *TermRequests) ListTermRequests(ctx context.Context, req *commonsv1.ListTermRequestsRequest) (*commonsv1.ListTermRequestsResponse, error) {
	if n := len(req.GetPersonIds()); n > maxResolved {
		return nil, fault.Invalid(fault.CodeBadRequest, fmt.Sprintf("%d persons are more than the allowed %d.", n, maxResolved))
	}
	rows, err := t.persons.pool.Query(ctx, readTermRequests, tenantOf(ctx), req.GetPersonIds())
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
		last.Terms = append(last.Terms, r.wire())
	})
	return out, err
}

func (a askedTerm) wire() *commonsv1.RequestedTerm {
	out := &commonsv1.RequestedTerm{EmploymentTermId: a.id}
	if !a.days.Empty() {
		out.From, out.To = a.days.From.String(), a.days.To.String()
	}
	if a.original != nil {
		out.OriginalFrom = a.original.String()
	}
	return out
}
