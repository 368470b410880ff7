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
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// RequestConsumer carries out requests that callers send to commons about the terms of persons. An
// event is only a hint: the consumer reads the requests from commons, in order, so that repeated,
// reordered and late events are harmless.
func (h *Handler) RequestConsumer(commons commonsv1.TermRequestServiceClient) bus.Consumer {
	consumer := bus.NewConsumer("scheduling", &commonsv1.TermRequestsMade{})
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
		// All events of a batch belong to the same tenant.
		return h.handleRequests(ctx, response.GetRequests())
	}
	return consumer
}

// handleRequests carries out the requests that are newer than the last one of their person. It
// publishes an event even if they change nothing, because commons waits for it.
func (h *Handler) handleRequests(ctx context.Context, requests []*commonsv1.TermRequest) error {
	err := pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		known, err := requestedTerms(ctx, tx, requests)
		if err != nil {
			return err
		}
		persons := personsIn(requests)
		now, err := lock(ctx, tx, persons)
		if err != nil {
			return err
		}
		ended, err := terminations(ctx, tx, persons)
		if err != nil {
			return err
		}
		handled, changed := applyRequests(now, requests, known, ended)
		if len(handled) == 0 {
			return nil
		}
		if _, err := store(ctx, tx, changed); err != nil {
			return err
		}
		if err := storeRequests(ctx, tx, handled); err != nil {
			return err
		}
		return outbox.Append(ctx, tx, changedEvent(handled))
	})
	if err != nil {
		return fmt.Errorf("carry out term requests: %w", err)
	}
	return nil
}

func personsIn(requests []*commonsv1.TermRequest) []int64 {
	var persons []int64
	for _, r := range requests {
		persons = append(persons, r.GetPersonId())
	}
	slices.Sort(persons)
	return slices.Compact(persons)
}

// requestedTerms returns the terms that still exist, and locks them.
func requestedTerms(ctx context.Context, tx pgx.Tx, requests []*commonsv1.TermRequest) (map[int64]term, error) {
	var ids []int64
	for _, r := range requests {
		for _, t := range r.GetTerms() {
			ids = append(ids, t.GetEmploymentTermId())
		}
	}
	existing, _, err := findTermRows(ctx, tx, ids, nil)
	return existing, err
}

// applyRequests returns the assignments of persons after their new requests: of all persons with
// new requests, and of those whose assignments change.
func applyRequests(now map[int64]*personAssignments, requests []*commonsv1.TermRequest, existing map[int64]term, ended map[int64][]civil.Range) (handled, changed map[int64]*personAssignments) {
	handled, changed = map[int64]*personAssignments{}, map[int64]*personAssignments{}
	for _, r := range requests {
		id := r.GetPersonId()
		h := handled[id]
		if h == nil {
			before := *now[id]
			h = &before
		}
		if r.GetNumber() <= h.request {
			continue
		}
		h.list, h.request = applyRequest(h.list, r, existing), r.GetNumber()
		handled[id] = h
	}
	for id, h := range handled {
		for _, days := range ended[id] {
			h.list = rewrite(h.list, days, nil)
		}
		if !slices.Equal(now[id].list, h.list) {
			h.version++
			changed[id] = h
		}
	}
	return handled, changed
}

// applyRequest returns the assignments of a person after a request. It ignores elements with a
// deleted term.
func applyRequest(list []membership, r *commonsv1.TermRequest, existing map[int64]term) []membership {
	var elements []*commonsv1.RequestedTerm
	for _, e := range r.GetTerms() {
		if _, exists := existing[e.GetEmploymentTermId()]; exists || e.GetEmploymentTermId() == 0 {
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
	return joinAdjacent(list)
}

// joinAdjacent joins adjacent assignments to the same term, so that repeated requests with later
// start dates do not cut an assignment into days.
func joinAdjacent(list []membership) []membership {
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

// requestedDays returns the days of an element, and false if it has none.
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

// storeRequests stores the number of each person's newest handled request.
func storeRequests(ctx context.Context, tx pgx.Tx, handled map[int64]*personAssignments) error {
	var persons, numbers []int64
	for id, h := range handled {
		persons, numbers = append(persons, id), append(numbers, h.request)
	}
	if _, err := tx.Exec(ctx, `INSERT INTO membership_head (tenant_id, employee_id, term_request)
		SELECT $1, q.* FROM unnest($2::bigint[], $3::bigint[]) AS q
		ON CONFLICT (tenant_id, employee_id) DO UPDATE SET term_request = excluded.term_request`, tenant.Of(ctx), persons, numbers); err != nil {
		return fmt.Errorf("note term requests: %w", err)
	}
	return nil
}
