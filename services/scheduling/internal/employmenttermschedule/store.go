package employmenttermschedule

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/span"
)

const (
	// The requested terms, or the terms of the requested employees.
	readTerms = `
SELECT t.id, t.name, t.allows_inheritance, t.version FROM employment_term t
WHERE t.tenant_id = $1 AND t.id = ANY(CASE WHEN $3::bigint[] IS NULL THEN $2::bigint[] ELSE ARRAY(
    SELECT DISTINCT m.employment_term_id FROM membership m
    WHERE m.tenant_id = $1 AND m.employee_id = ANY($3) AND m.from_date < $5 AND m.to_date > $4) END)
ORDER BY t.id`

	// With requested employees, only their memberships. Only employees that the caller may see.
	readMemberships = `
SELECT m.employment_term_id, m.employee_id, coalesce(e.person_number, ''), m.from_date, m.to_date
FROM membership m
LEFT JOIN employee e ON e.tenant_id = $1 AND e.id = m.employee_id
WHERE m.tenant_id = $1 AND m.employment_term_id = ANY($2) AND ($3::bigint[] IS NULL OR m.employee_id = ANY($3))
  AND ($6::bigint[] IS NULL OR m.employee_id = ANY($6)) AND m.from_date < $5 AND m.to_date > $4
ORDER BY m.employment_term_id, m.employee_id, m.from_date LIMIT $7`

	readAssignments = `
SELECT employment_term_id, id, seq, from_date, to_date, pattern_id, day_count,
    anchor, start_date_offset, override, lane
FROM pattern_assignment
WHERE tenant_id = $1 AND employment_term_id = ANY($2) AND believed_until = 'infinity' AND from_date < $4 AND to_date > $3`
)

// term is an employment term with the data that determines its schedule.
type term struct {
	id, version int64
	name        string
	inherits    bool
	members     []member
	assignments []span.Assignment
}

type member struct {
	employeeID int64
	number     string
	days       civil.Range
}

// read reads the requested terms, or the terms of the requested employees, with their assignments
// and members on the days, in one snapshot.
func read(ctx context.Context, pool *pg.Pool, ids, employees []int64, days civil.Range, visible rowvisibility.Set) (terms []term, err error) {
	tenantID := tenant.Of(ctx)
	var seen []int64 // nil means all
	if !visible.All() {
		seen = append([]int64{}, visible.IDs()...)
	}
	err = pg.InSnapshot(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
		terms = nil
		var t term
		if err := pg.ForEach(ctx, tx, []any{&t.id, &t.name, &t.inherits, &t.version}, func() error {
			terms = append(terms, t)
			return nil
		}, readTerms, tenantID, ids, employees, days.From, days.To); err != nil {
			return err
		}
		found := make([]int64, len(terms))
		for i := range terms {
			found[i] = terms[i].id
		}
		at := func(id int64) *term {
			i, _ := slices.BinarySearchFunc(terms, term{id: id}, byTerm)
			return &terms[i]
		}
		var id int64
		var m member
		if err := pg.ForEach(ctx, tx, []any{&id, &m.employeeID, &m.number, &m.days.From, &m.days.To}, func() error {
			at(id).members = append(at(id).members, m)
			return nil
		}, readMemberships, tenantID, found, employees, days.From, days.To, seen, entries.Max()+1); err != nil {
			return err
		}
		var a span.Assignment
		var lane int16
		return pg.ForEach(ctx, tx, []any{
			&a.TermID, &a.ID, &a.Seq, &a.From, &a.To, &a.PatternID, &a.DayCount, &a.Anchor, &a.Offset, &a.Override, &lane,
		}, func() error {
			a.Lane = uint8(lane)
			at(a.TermID).assignments = append(at(a.TermID).assignments, a)
			return nil
		}, readAssignments, tenantID, found, days.From, days.To)
	})
	if err != nil {
		return nil, fmt.Errorf("employmenttermschedule: read: %w", err)
	}
	return terms, nil
}
