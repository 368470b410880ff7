package scheduling_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// on is an assignment to a term.
func on(term int64, from, to string) *schedulingv1.EmploymentTermAssignment {
	return &schedulingv1.EmploymentTermAssignment{
		EmploymentTerm: &commonv1.Ref{Id: &term}, EffectiveDate: from, ExpirationDate: to,
	}
}

// termsFor returns an item for a person; span is "" for all days, or two dates.
func termsFor(person int64, span []string, assignments ...*schedulingv1.EmploymentTermAssignment) *schedulingv1.PersonEmploymentTerms {
	out := &schedulingv1.PersonEmploymentTerms{
		PersonIdentity: &commonsv1.PersonIdentity{PersonKey: &person}, Assignments: assignments,
	}
	if span != nil {
		out.AssignmentSpan = &schedulingv1.AssignmentSpan{Start: span[0], End: span[1]}
	}
	return out
}

func (b *fixture) upsert(ctx context.Context, items ...*schedulingv1.PersonEmploymentTerms) (*schedulingv1.PersonEmploymentTermsList, error) {
	return b.assignments.MultiUpsertEmploymentTermAssignments(ctx, &schedulingv1.PersonEmploymentTermsList{Persons: items})
}

// memberships returns the stored memberships of persons, each once and ascending.
func (b *fixture) memberships(t *testing.T, ctx context.Context, persons ...int64) []string {
	t.Helper()
	rows, err := b.pool.Query(ctx, `SELECT q.id, coalesce(h.version, 0), m.employment_term_id, m.from_date, m.to_date
		FROM (SELECT DISTINCT unnest($2::bigint[]) AS id) AS q
		LEFT JOIN membership_head h ON h.tenant_id = $1 AND h.employee_id = q.id
		LEFT JOIN membership m ON m.tenant_id = $1 AND m.employee_id = q.id ORDER BY q.id, m.from_date`, 1, persons)
	require.NoError(t, err)
	var list []*schedulingv1.PersonMemberships
	var id, version int64
	var term *int64
	var from, to *civil.Date
	_, err = pgx.ForEachRow(rows, []any{&id, &version, &term, &from, &to}, func() error {
		if n := len(list); n == 0 || list[n-1].GetPersonId() != id {
			list = append(list, &schedulingv1.PersonMemberships{PersonId: id, Version: version})
		}
		if term != nil {
			p := list[len(list)-1]
			p.Memberships = append(p.Memberships, &schedulingv1.Membership{EmploymentTermId: *term, From: from.String(), To: to.String()})
		}
		return nil
	})
	require.NoError(t, err)
	var out []string
	for _, p := range list {
		out = append(out, describe(p))
	}
	return out
}

// describe writes a person's memberships in one line.
func describe(p *schedulingv1.PersonMemberships) string {
	text := fmt.Sprintf("%d v%d", p.GetPersonId(), p.GetVersion())
	for _, m := range p.GetMemberships() {
		text += fmt.Sprintf(" %d:%s..%s", m.GetEmploymentTermId(), m.GetFrom(), m.GetTo())
	}
	return text
}

func TestUpsertAndRead(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	first, second := b.createTerm(t, ctx, "First"), b.createTerm(t, ctx, "Second")
	byName := &schedulingv1.PersonEmploymentTerms{
		PersonIdentity: &commonsv1.PersonIdentity{PersonNumber: proto.String("P2")},
		Assignments: []*schedulingv1.EmploymentTermAssignment{{
			EmploymentTerm: &commonv1.Ref{Qualifier: proto.String("SECOND")}, EffectiveDate: "2024-01-01", ExpirationDate: "9999-12-31",
		}},
	}
	response, err := b.upsert(ctx, termsFor(1, nil, on(first, "2024-01-01", "3000-01-01")), byName)
	require.NoError(t, err)
	require.Len(t, response.GetPersons(), 2)
	want := &schedulingv1.PersonEmploymentTerms{
		PersonIdentity: &commonsv1.PersonIdentity{PersonKey: proto.Int64(2), PersonNumber: proto.String("P2")},
		Assignments: []*schedulingv1.EmploymentTermAssignment{{
			EmploymentTerm: &commonv1.Ref{Id: &second, Qualifier: proto.String("Second")},
			EffectiveDate:  "2024-01-01", ExpirationDate: "3000-01-01",
		}},
	}
	assertSame(t, want, response.GetPersons()[1])

	read, err := b.assignments.GetEmploymentTermAssignments(ctx, &schedulingv1.GetEmploymentTermAssignmentsRequest{PersonId: 2})
	require.NoError(t, err)
	assertSame(t, want, read)
	read, err = b.assignments.FindEmploymentTermAssignments(ctx, &schedulingv1.FindEmploymentTermAssignmentsRequest{PersonNumber: "P2"})
	require.NoError(t, err)
	assertSame(t, want, read)

	// A span in the middle keeps the days before and after it.
	_, err = b.upsert(ctx, termsFor(1, []string{"2025-01-01", "2025-07-01"}, on(second, "2025-02-01", "2025-03-01")))
	require.NoError(t, err)
	all := fmt.Sprintf("1 v2 %d:2024-01-01..2025-01-01 %d:2025-02-01..2025-03-01 %d:2025-07-01..3000-01-01", first, second, first)
	assert.Equal(t, []string{all}, b.memberships(t, ctx, 1))

	// The same again changes nothing, and nothing is published.
	_, err = b.upsert(ctx, termsFor(1, []string{"2025-01-01", "2025-07-01"}, on(second, "2025-02-01", "2025-03-01")))
	require.NoError(t, err)
	assert.Equal(t, []string{all}, b.memberships(t, ctx, 1))

	// No assignments clear the span.
	_, err = b.upsert(ctx, termsFor(1, nil))
	require.NoError(t, err)
	assert.Equal(t, []string{"1 v3", "2 v1 " + fmt.Sprintf("%d:2024-01-01..3000-01-01", second), "3 v0"}, b.memberships(t, ctx, 3, 2, 1, 2))

	published := events[*schedulingv1.MembershipsChanged](t, b)
	require.Len(t, published, 3)
	assert.Len(t, published[0].GetPersons(), 2, "one event for a transaction")
	assert.Equal(t, all, describe(published[1].GetPersons()[0]), "the whole list, not the change")
	assert.Equal(t, "1 v3", describe(published[2].GetPersons()[0]))
}

func TestUpsertItemsFailAlone(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	term := b.createTerm(t, ctx, "Term")
	foreign := b.createTerm(t, inTenant(t, 2), "Foreign")
	both := termsFor(1, nil)
	both.PersonIdentity.PersonNumber = proto.String("P1")
	items := []*schedulingv1.PersonEmploymentTerms{
		termsFor(1, nil, on(term, "2024-01-01", "2025-01-01")),
		termsFor(999, nil),
		termsFor(2, nil, on(foreign, "2024-01-01", "2025-01-01")),
		termsFor(2, nil, &schedulingv1.EmploymentTermAssignment{
			EmploymentTerm: &commonv1.Ref{Qualifier: proto.String("x")}, EffectiveDate: "2024-01-01", ExpirationDate: "2025-01-01",
		}),
		termsFor(2, nil, on(term, "2024-01-01", "")),
		termsFor(2, nil, on(term, "2025-01-01", "2025-01-01")),
		termsFor(2, []string{"2025-01-01", "2025-01-01"}),
		termsFor(2, []string{"2025-01-01", "2026-01-01"}, on(term, "2024-12-31", "2025-06-01")),
		termsFor(2, nil, on(term, "2024-01-01", "2025-01-02"), on(term, "2025-01-01", "2026-01-01")),
		both,
		{},
		termsFor(3, nil, &schedulingv1.EmploymentTermAssignment{EffectiveDate: "2024-01-01", ExpirationDate: "2025-01-01"}),
		termsFor(1, []string{"2024-06-01", "3000-01-01"}),
	}
	codes := []string{
		"", "WCO-101263", "WTK-82600", "WTK-82615", "API-10001", "API-10001", "API-10001", "API-10001", "API-10001",
		"WCO-101261", "WCO-101262", "API-10001", "",
	}
	response, err := b.upsert(ctx, items...)
	require.NoError(t, err)
	assert.Equal(t, "WCO-101271", response.GetFailure().GetErrorCode())
	results := response.GetFailure().GetDetails().GetResults()
	require.Len(t, results, len(codes))
	for i, code := range codes {
		t.Run(code, func(t *testing.T) {
			assert.Equal(t, code, results[i].GetError().GetErrorCode(), "%d: %s", i, results[i].GetError().GetMessage())
		})
	}
	// Both items for the first person counted, in their order.
	assert.Equal(t, []string{fmt.Sprintf("1 v1 %d:2024-01-01..2024-06-01", term), "2 v0"}, b.memberships(t, ctx, 1, 2))

	_, err = b.upsert(ctx, termsFor(999, nil))
	assertCode(t, err, 400, "WCO-101271")
	_, err = b.upsert(ctx, make([]*schedulingv1.PersonEmploymentTerms, 101)...)
	require.Error(t, err)
}

func TestUpsertOfAHundred(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	term := b.createTerm(t, ctx, "Term")
	var items []*schedulingv1.PersonEmploymentTerms
	for id := range int64(100) {
		items = append(items, termsFor(id+1, nil, on(term, "2024-01-01", "3000-01-01")))
	}
	response, err := b.upsert(ctx, items...)
	require.NoError(t, err)
	assert.Len(t, response.GetPersons(), 100)
	assert.EqualValues(t, 1, b.commons.requests.Load(), "all persons are asked for at once")
	_, err = b.upsert(ctx, items...)
	require.NoError(t, err)
	assert.EqualValues(t, 1, b.commons.requests.Load(), "and are known from then on")

	items = append(items, termsFor(101, nil))
	_, err = b.upsert(ctx, items...)
	assertCode(t, err, 413, "WCO-101207")
}

func TestConcurrentUpserts(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	term := b.createTerm(t, ctx, "Term")
	var wg sync.WaitGroup
	for year := 2020; year < 2030; year++ {
		wg.Go(func() {
			span := []string{fmt.Sprintf("%d-01-01", year), fmt.Sprintf("%d-01-01", year+1)}
			// Forwards and backwards, to meet on the locks.
			items := []*schedulingv1.PersonEmploymentTerms{termsFor(1, span, on(term, span[0], span[1])), termsFor(2, span, on(term, span[0], span[1]))}
			if year%2 == 0 {
				items[0], items[1] = items[1], items[0]
			}
			_, err := b.upsert(ctx, items...)
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	for _, p := range b.memberships(t, ctx, 1, 2) {
		assert.Equal(t, 10, strings.Count(p, ".."), "no change was lost: %s", p)
		assert.Contains(t, p, " v10 ")
	}
	assert.Len(t, events[*schedulingv1.MembershipsChanged](t, b), 10)
}

func TestReadErrors(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	_, err := b.assignments.GetEmploymentTermAssignments(ctx, &schedulingv1.GetEmploymentTermAssignmentsRequest{PersonId: 999})
	assertCode(t, err, 404, "WCO-101263")
	_, err = b.assignments.FindEmploymentTermAssignments(ctx, &schedulingv1.FindEmploymentTermAssignmentsRequest{PersonNumber: "x"})
	assertCode(t, err, 400, "WCO-101263")
	_, err = b.assignments.FindEmploymentTermAssignments(ctx, &schedulingv1.FindEmploymentTermAssignmentsRequest{})
	assertCode(t, err, 400, "WCO-101262")

	read := func(key string, values ...string) (*schedulingv1.PersonEmploymentTermsList, error) {
		return b.assignments.MultiReadEmploymentTermAssignments(ctx, &schedulingv1.MultiReadEmploymentTermAssignmentsRequest{
			Where: &commonsv1.PersonWhere{Employees: &commonsv1.PersonCriterion{Key: key, Values: values}},
		})
	}
	response, err := read("PersonNumber", "P2", "P1", "P2")
	require.NoError(t, err)
	require.Len(t, response.GetPersons(), 3)
	assert.Equal(t, "P2", response.GetPersons()[0].GetPersonIdentity().GetPersonNumber(), "in the order asked for")
	response, err = read("personid", "1", "999")
	require.NoError(t, err)
	assert.Equal(t, []int32{1}, response.GetFailure().GetDetails().GetErrorOffsets())
	for code, ask := range map[string][]string{
		"WCO-101202": {"personid"}, "WCO-101271": {"personid", "999"},
	} {
		_, err := read(ask[0], ask[1:]...)
		assertCode(t, err, 400, code)
	}
	_, err = read("personid", "x")
	assertCode(t, err, 400, "WCO-101202")
}

func TestTermWithAssignmentsStays(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	term := b.createTerm(t, ctx, "Term")
	_, err := b.upsert(ctx, termsFor(1, nil, on(term, "2024-01-01", "2025-01-01")))
	require.NoError(t, err)
	_, err = b.terms.DeleteEmploymentTerm(ctx, &schedulingv1.DeleteEmploymentTermRequest{Id: term})
	assertCode(t, err, 400, "WRL-20401")
	assert.Len(t, events[*schedulingv1.EmploymentTermChanged](t, b), 1, "nothing is published of a refused deletion")
	_, err = b.upsert(ctx, termsFor(1, nil))
	require.NoError(t, err)
	_, err = b.terms.DeleteEmploymentTerm(ctx, &schedulingv1.DeleteEmploymentTermRequest{Id: term})
	assert.NoError(t, err)
}

func TestDatabaseGuards(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	one, two := inTenant(t, 1), inTenant(t, 2)
	term := b.createTerm(t, one, "Term")
	_, err := b.upsert(one, termsFor(1, nil, on(term, "2024-01-01", "2025-01-01")))
	require.NoError(t, err)

	// The statement has no WHERE, so only row-level security keeps tenants apart.
	for _, table := range []string{"employment_term", "employee", "membership_head", "membership"} {
		t.Run(table, func(t *testing.T) {
			for ctx, want := range map[context.Context]int{one: 1, two: 0, t.Context(): 0} {
				var n int
				require.NoError(t, b.pool.QueryRow(ctx, `SELECT count(*) FROM `+table).Scan(&n))
				assert.Equal(t, want, n, table)
			}
		})
	}
	_, err = b.pool.Exec(two, `INSERT INTO employee VALUES (1, 5, 'x', 'X', 'UTC')`)
	assert.ErrorContains(t, err, "row-level security")
	_, err = b.pool.Exec(one, `INSERT INTO membership VALUES (1, 1, $1, '2024-06-01', '2026-01-01')`, term)
	assert.True(t, pgerr.IsExclusion(err, "membership_overlap"), err)
}
