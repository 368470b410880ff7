package membership

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// RequestConsumer carries out what callers ask commons for about the terms of
// persons. An event is a hint: what is asked for is read from commons, in order,
// so repeated, reordered and late events are harmless.
func (h *Handler) RequestConsumer(commons commonsv1.TermRequestServiceClient) bus.Consumer {
	consumer := bus.ConsumerOf("scheduling", &commonsv1.TermRequestsMade{})
	consumer.HandleBatch = func(ctx context.Context, messages []bus.Message) error {
		var persons []int64
		for _, m := range messages {
			event, err := bus.Decode[*commonsv1.TermRequestsMade](m)
			if err != nil {
				return err
			}
			persons = append(persons, event.GetPersonIds()...)
		}
		slices.Sort(persons)
		response, err := commons.ListTermRequests(ctx, &commonsv1.ListTermRequestsRequest{PersonIds: slices.Compact(persons)})
		if err != nil {
			return fmt.Errorf("ask for term requests: %w", err)
		}
		if len(response.GetRequests()) == 0 {
			return nil
		}
		// A batch holds the events of one tenant.
		return h.handleRequests(ctx, messages[0].Tenant, response.GetRequests())
	}
	return consumer
}

// handleRequests carries out the requests that are newer than the last one of their
// person, and says so even when they change nothing: commons waits for it.
func (h *Handler) handleRequests(ctx context.Context, tenantID int64, requests []*commonsv1.TermRequest) error {
	err := pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		known, err := requestedTerms(ctx, tx, tenantID, requests)
		if err != nil {
			return err
		}
		persons := personsOf(requests)
		now, err := lock(ctx, tx, tenantID, persons)
		if err != nil {
			return err
		}
		ended, err := terminations(ctx, tx, tenantID, persons)
		if err != nil {
			return err
		}
		heard, changed := applyRequests(now, requests, known, ended)
		if len(heard) == 0 {
			return nil
		}
		if _, err := store(ctx, tx, tenantID, changed); err != nil {
			return err
		}
		if err := noteRequests(ctx, tx, tenantID, heard); err != nil {
			return err
		}
		return outbox.Append(ctx, tx, tenantID, changedEvent(heard))
	})
	if err != nil {
		return fmt.Errorf("carry out term requests: %w", err)
	}
	return nil
}

func personsOf(requests []*commonsv1.TermRequest) []int64 {
	var persons []int64
	for _, r := range requests {
		persons = append(persons, r.GetPersonId())
	}
	slices.Sort(persons)
	return slices.Compact(persons)
}

// requestedTerms returns which of the terms are still there, and keeps them.
func requestedTerms(ctx context.Context, tx pgx.Tx, tenantID int64, requests []*commonsv1.TermRequest) (map[int64]term, error) {
	var ids []int64
	for _, r := range requests {
		for _, t := range r.GetTerms() {
			ids = append(ids, t.GetEmploymentTermId())
		}
	}
	known, _, err := terms(ctx, tx, tenantID, ids, nil)
	return known, err
}

// applyRequests returns what persons have after their new requests: of those who
// have any, and of those for whom that makes a difference.
func applyRequests(now map[int64]*personAssignments, requests []*commonsv1.TermRequest, known map[int64]term, ended map[int64][]civil.Range) (heard, changed map[int64]*personAssignments) {
	heard, changed = map[int64]*personAssignments{}, map[int64]*personAssignments{}
	for _, r := range requests {
		id := r.GetPersonId()
		h := heard[id]
		if h == nil {
			before := *now[id]
			h = &before
		}
		if r.GetNumber() <= h.request {
			continue
		}
		h.list, h.request = applyRequest(h.list, r, known), r.GetNumber()
		heard[id] = h
	}
	for id, h := range heard {
		for _, days := range ended[id] {
			h.list = rewrite(h.list, days, nil)
		}
		if !slices.Equal(now[id].list, h.list) {
			h.version++
			changed[id] = h
		}
	}
	return heard, changed
}

// applyRequest returns what a person has after a request. An element whose term was
// deleted in the meantime says nothing.
func applyRequest(list []membership, r *commonsv1.TermRequest, known map[int64]term) []membership {
	var elements []*commonsv1.RequestedTerm
	for _, e := range r.GetTerms() {
		if _, there := known[e.GetEmploymentTermId()]; there || e.GetEmploymentTermId() == 0 {
			elements = append(elements, e)
		}
	}
	list = slices.DeleteFunc(slices.Clone(list), func(m membership) bool {
		return slices.ContainsFunc(elements, func(e *commonsv1.RequestedTerm) bool { return e.GetOriginalFrom() == m.days.From.String() })
	})
	for _, e := range elements {
		days, ok := requestedDays(e)
		if !ok {
			continue
		}
		var fresh []membership
		if e.GetEmploymentTermId() != 0 {
			fresh = []membership{{e.GetEmploymentTermId(), days}}
		}
		list = rewrite(list, days, fresh)
	}
	return joined(list)
}

// joined joins neighbours on the same term, so that who asks for the same again
// and again from another day on does not cut an assignment into days.
func joined(list []membership) []membership {
	var out []membership
	for _, m := range list {
		if n := len(out); n > 0 && out[n-1].term == m.term && out[n-1].days.To == m.days.From {
			out[n-1].days.To = m.days.To
			continue
		}
		out = append(out, m)
	}
	return out
}

// requestedDays returns the days of an element, and false when it has none.
func requestedDays(e *commonsv1.RequestedTerm) (civil.Range, bool) {
	from, err := civil.ParseDate(e.GetFrom())
	if err != nil {
		return civil.Range{}, false
	}
	to, err := civil.ParseDate(e.GetTo())
	if err != nil {
		return civil.Range{}, false
	}
	days := civil.Range{From: from, To: to}.Clamp()
	return days, !days.Empty()
}

// noteRequests notes the newest requests of persons that were carried out.
func noteRequests(ctx context.Context, tx pgx.Tx, tenantID int64, heard map[int64]*personAssignments) error {
	var persons, numbers []int64
	for id, h := range heard {
		persons, numbers = append(persons, id), append(numbers, h.request)
	}
	if _, err := tx.Exec(ctx, `INSERT INTO membership_head (tenant_id, employee_id, term_request)
		SELECT $1, q.* FROM unnest($2::bigint[], $3::bigint[]) AS q
		ON CONFLICT (tenant_id, employee_id) DO UPDATE SET term_request = excluded.term_request`, tenantID, persons, numbers); err != nil {
		return fmt.Errorf("note term requests: %w", err)
	}
	return nil
}
