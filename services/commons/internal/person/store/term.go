package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/record"
)

// InsertTermRequests stores the requests for terms and publishes them.
func InsertTermRequests(ctx context.Context, tx pgx.Tx, persons []Change) error {
	type row struct {
		Person, Number     int64
		Position           int32
		Term               *int64
		From, To, Original *civil.Date
	}
	var rows []row
	event := &commonsv1.TermRequestsMade{}
	for _, p := range persons {
		for i, a := range p.TermRequests {
			first, end := &a.Days.From, &a.Days.To
			if a.Days.Empty() {
				first, end = nil, nil
			}
			rows = append(rows, row{p.ID, p.State().GetVersion(), int32(i), nonZero(a.ID), first, end, a.OriginalStart})
		}
		if len(p.TermRequests) > 0 {
			event.PersonIds = append(event.PersonIds, p.ID)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	if _, err := tx.Exec(ctx, `INSERT INTO term_request
			(tenant_id, person_id, number, position, employment_term_id, from_date, to_date, original_from_date)
		SELECT $1, q.* FROM unnest($2::bigint[], $3::bigint[], $4::int[], $5::bigint[], $6::date[], $7::date[], $8::date[]) AS q`,
		pg.Columns(rows, tenant.Of(ctx))...); err != nil {
		return fmt.Errorf("store term requests: %w", err)
	}
	return outbox.Append(ctx, tx, event)
}

func nonZero(id int64) *int64 {
	if id == 0 {
		return nil
	}
	return &id
}

// DeleteTermRequests deletes the requests that timekeeping reports as done.
func DeleteTermRequests(ctx context.Context, tx pgx.Tx, lists []*schedulingv1.PersonMemberships) error {
	var persons, numbers []int64
	for _, l := range lists {
		if l.GetTermRequest() > 0 {
			persons, numbers = append(persons, l.GetPersonId()), append(numbers, l.GetTermRequest())
		}
	}
	if len(persons) == 0 {
		return nil
	}
	if _, err := tx.Exec(ctx, `DELETE FROM term_request r USING unnest($2::bigint[], $3::bigint[]) AS q (person, number)
		WHERE r.tenant_id = $1 AND r.person_id = q.person AND r.number <= q.number`, tenant.Of(ctx), persons, numbers); err != nil {
		return fmt.Errorf("forget term requests: %w", err)
	}
	return nil
}

// Statements that read and change requests for employment terms.
const (
	SelectTermRequests = `SELECT r.person_id, r.number, coalesce(r.employment_term_id, 0), coalesce(t.name, ''),
			r.from_date, r.to_date, r.original_from_date
		FROM term_request r
		LEFT JOIN employment_term t ON t.tenant_id = $1 AND t.id = r.employment_term_id
		WHERE r.tenant_id = $1 AND r.person_id = ANY($2) ORDER BY r.person_id, r.number, r.position`

	readMemberships = `SELECT m.person_id, t.id, t.name, m.from_date, m.to_date
		FROM membership m JOIN employment_term t ON t.tenant_id = $1 AND t.id = m.employment_term_id
		WHERE m.tenant_id = $1 AND m.person_id = ANY($2) ORDER BY m.person_id, m.from_date`
)

// queueTerms queues the statements that fill in the terms of persons: the terms that
// timekeeping published last, and the requests since then. In one snapshot, a request that is
// done in the meantime appears either as a request or as its result.
func queueTerms(snapshot *pg.Snapshot, tenantID int64, ids []int64, persons map[int64]*Person) {
	asked := map[int64][]TermRequestRow{}
	snapshot.Queue(func(rows pgx.Rows) error {
		return ForEachTermRequest(rows, func(r TermRequestRow) { asked[r.Person] = append(asked[r.Person], r) })
	}, SelectTermRequests, tenantID, ids)
	snapshot.Queue(func(rows pgx.Rows) error { return readTerms(rows, asked, persons) }, readMemberships, tenantID, ids)
}

func readTerms(rows pgx.Rows, asked map[int64][]TermRequestRow, persons map[int64]*Person) error {
	var id int64
	var t record.TermAssignment
	var from, to civil.Date
	if _, err := pgx.ForEachRow(rows, []any{&id, &t.ID, &t.Name, &from, &to}, func() error {
		if p := persons[id]; p != nil {
			t.Days = civil.Range{From: from, To: to}
			p.Terms = append(p.Terms, t)
		}
		return nil
	}); err != nil {
		return err
	}
	for id, list := range asked {
		p := persons[id]
		for len(list) > 0 && p != nil {
			n := 0
			var one []record.TermRequest
			for n < len(list) && list[n].Number == list[0].Number {
				one, n = append(one, list[n].TermRequest), n+1
			}
			p.Terms, list = record.ApplyTermRequests(p.Terms, one), list[n:]
		}
	}
	return nil
}

// TermRequestRow is a row of term_request.
type TermRequestRow struct {
	record.TermRequest
	Person, Number int64
}

// ForEachTermRequest calls do with each row of SelectTermRequests.
func ForEachTermRequest(rows pgx.Rows, do func(TermRequestRow)) error {
	var r TermRequestRow
	var from, to, original *civil.Date
	_, err := pgx.ForEachRow(rows, []any{&r.Person, &r.Number, &r.ID, &r.Name, &from, &to, &original}, func() error {
		r.Days, r.OriginalStart = civil.Range{}, nil
		if from != nil && to != nil {
			r.Days = civil.Range{From: *from, To: *to}
		}
		if original != nil {
			day := *original
			r.OriginalStart = &day
		}
		do(r)
		return nil
	})
	if err != nil {
		return fmt.Errorf("read term requests: %w", err)
	}
	return nil
}
