package membership

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/condition"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employeelock"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation/reconcile"
)

// personAssignments are all assignments of a person, in order of their days.
type personAssignments struct {
	version int64
	list    []membership
	// request is the number of the newest handled term request.
	request int64
}

// anyPerson is the condition that a row belongs to one of the persons.
var anyPerson = condition.AnyOf("employee_id", "$2::bigint[]")

// storeVersions updates the versions of existing heads. It is an upsert, because that looks up each
// head in the index. An update with a list compares all rows with all elements while the database
// has no statistics of the table.
const storeVersions = `INSERT INTO membership_head (tenant_id, employee_id, version)
	SELECT $1, q.* FROM unnest($2::bigint[], $3::bigint[]) AS q
	ON CONFLICT (tenant_id, employee_id) DO UPDATE SET version = excluded.version`

// lock returns the assignments of the persons, and locks them and their schedules until the
// transaction ends, so that the history of a schedule has one order.
func lock(ctx context.Context, tx pgx.Tx, persons []int64) (map[int64]*personAssignments, error) {
	tenantID := tenant.Of(ctx)
	batch := &pgx.Batch{}
	employeelock.Queue(batch, tenantID, persons)
	batch.Queue(`INSERT INTO membership_head (tenant_id, employee_id)
		SELECT $1, q.id FROM unnest($2::bigint[]) AS q (id) ORDER BY q.id
		ON CONFLICT DO NOTHING`, tenantID, persons)
	// Separate statements, so that they see the rows that the previous lock holders committed.
	batch.Queue(`SELECT employee_id, version, term_request FROM membership_head
		WHERE tenant_id = $1 AND `+anyPerson, tenantID, persons)
	batch.Queue(`SELECT employee_id, employment_term_id, from_date, to_date FROM membership
		WHERE tenant_id = $1 AND `+anyPerson+` ORDER BY employee_id, from_date`, tenantID, persons)
	results := tx.SendBatch(ctx, batch)
	out, err := readLocked(results, len(persons))
	if closeErr := results.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, fmt.Errorf("lock assignments: %w", err)
	}
	return out, nil
}

func readLocked(results pgx.BatchResults, n int) (map[int64]*personAssignments, error) {
	out := make(map[int64]*personAssignments, n)
	for range 2 { // the lock and the missing heads
		if _, err := results.Exec(); err != nil {
			return nil, err
		}
	}
	heads, err := results.Query()
	if err != nil {
		return nil, err
	}
	var id, version, request int64
	if _, err := pgx.ForEachRow(heads, []any{&id, &version, &request}, func() error {
		out[id] = &personAssignments{version: version, request: request}
		return nil
	}); err != nil {
		return nil, err
	}
	rows, err := results.Query()
	if err != nil {
		return nil, err
	}
	var term int64
	var from, to civil.Date
	_, err = pgx.ForEachRow(rows, []any{&id, &term, &from, &to}, func() error {
		out[id].list = append(out[id].list, membership{term, civil.Range{From: from, To: to}})
		return nil
	})
	return out, err
}

// store writes the changed assignments of locked persons, and applies them to their schedules. It
// returns the id of the propagation, or 0.
func store(ctx context.Context, tx pgx.Tx, changed map[int64]*personAssignments) (int64, error) {
	if len(changed) == 0 {
		return 0, nil
	}
	if err := replace(ctx, tx, changed); err != nil {
		return 0, err
	}
	return reconcile.Finish(ctx, tx, propagation.CauseMembership, slices.Sorted(maps.Keys(changed)))
}

// replace overwrites the assignments of locked persons.
func replace(ctx context.Context, tx pgx.Tx, now map[int64]*personAssignments) error {
	tenantID := tenant.Of(ctx)
	type row struct {
		Person, Term int64
		From, To     civil.Date
	}
	var persons, versions []int64
	var rows []row
	for id, h := range now {
		persons = append(persons, id)
		versions = append(versions, h.version)
		for _, m := range h.list {
			rows = append(rows, row{id, m.term, m.days.From, m.days.To})
		}
	}
	batch := &pgx.Batch{}
	batch.Queue(`DELETE FROM membership WHERE tenant_id = $1 AND `+anyPerson, tenantID, persons)
	batch.Queue(`INSERT INTO membership (tenant_id, employee_id, employment_term_id, from_date, to_date)
		SELECT $1, q.* FROM unnest($2::bigint[], $3::bigint[], $4::date[], $5::date[]) AS q`,
		pg.Columns(rows, tenantID)...)
	batch.Queue(storeVersions, tenantID, persons, versions)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("write assignments: %w", err)
	}
	return nil
}

// term is an employment term as assignments use it.
type term struct {
	id   int64
	name string
}

// terms finds the employment terms with the given ids and names, and locks them against deletion
// until the transaction ends. Names are case-insensitive, and are returned as given.
func findTermRows(ctx context.Context, tx pgx.Tx, ids []int64, names []string) (map[int64]term, map[string]term, error) {
	byID, byName := map[int64]term{}, map[string]term{}
	var requested string
	var t term
	err := pg.ForEach(ctx, tx, []any{&requested, &t.id, &t.name}, func() error {
		byID[t.id] = t
		if requested != "" {
			byName[requested] = t
		}
		return nil
	}, `SELECT coalesce(q.text, ''), t.id, t.name
		FROM employment_term t
		LEFT JOIN unnest($3::text[]) AS q (text) ON lower(q.text) = lower(t.name)
		WHERE t.tenant_id = $1
		  AND (t.id = ANY($2) OR lower(t.name) = ANY(SELECT lower(n.text) FROM unnest($3::text[]) AS n (text)))
		ORDER BY t.id FOR KEY SHARE OF t`, tenant.Of(ctx), ids, names)
	if err != nil {
		return nil, nil, fmt.Errorf("find employment terms: %w", err)
	}
	return byID, byName, nil
}

// readAssignments returns the assignments of persons for responses, including the names of the
// terms.
func readAssignments(ctx context.Context, db pg.Querier, persons []int64) (map[int64][]*schedulingv1.EmploymentTermAssignment, error) {
	out := make(map[int64][]*schedulingv1.EmploymentTermAssignment, len(persons))
	var id int64
	var t term
	var from, to civil.Date
	err := pg.ForEach(ctx, db, []any{&id, &t.id, &t.name, &from, &to}, func() error {
		days := civil.Range{From: from, To: to}
		out[id] = append(out[id], t.assignment(days))
		return nil
	}, `SELECT m.employee_id, t.id, t.name, m.from_date, m.to_date
		FROM membership m
		JOIN employment_term t ON t.tenant_id = m.tenant_id AND t.id = m.employment_term_id
		WHERE m.tenant_id = $1 AND `+condition.AnyOf("m.employee_id", "$2::bigint[]")+` ORDER BY m.employee_id, m.from_date`, tenant.Of(ctx), persons)
	if err != nil {
		return nil, fmt.Errorf("read assignments: %w", err)
	}
	return out, nil
}

// assignment returns the message for days on the term.
func (t term) assignment(days civil.Range) *schedulingv1.EmploymentTermAssignment {
	return &schedulingv1.EmploymentTermAssignment{
		EmploymentTerm: &commonv1.Ref{Id: &t.id, Qualifier: &t.name},
		EffectiveDate:  days.From.String(),
		ExpirationDate: days.To.String(),
	}
}
