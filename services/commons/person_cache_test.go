package commons_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// A person who is shown again has their current data, also after a change by another replica or an
// event of timekeeping. Without changes, the response is the same.
func TestRepeatedReadsShowCurrentPersons(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	b.knowsTerm(t, ctx, 7, "Full")
	b.knowsTerm(t, ctx, 8, "Half")
	made, err := b.persons.CreatePerson(ctx, plain("x", onTerms(&commonsv1.TermAssignment{Name: "Full", StartDate: "2026-01-01"})))
	require.NoError(t, err)
	id := made.GetPersonIdentity().GetPersonKey()
	shown := func() *commonsv1.Person {
		first, err := b.persons.GetPerson(ctx, &commonsv1.GetPersonRequest{PersonId: id})
		require.NoError(t, err)
		again, err := b.persons.GetPerson(ctx, &commonsv1.GetPersonRequest{PersonId: id})
		require.NoError(t, err)
		require.True(t, proto.Equal(first, again), "%v\n%v", first, again)
		require.Empty(t, again.ProtoReflect().GetUnknown())
		return again
	}
	exec := func(sql string, args ...any) {
		_, err := b.pool.Exec(ctx, sql, args...)
		require.NoError(t, err)
	}
	assert.Equal(t, []string{"Full 2026-01-01 3000-01-01"}, terms(shown()))

	for _, change := range []struct {
		name string
		do   func()
		want []string
	}{
		{
			"the name of a term that is asked for", func() { exec(`UPDATE employment_term SET name = 'Whole' WHERE tenant_id = 1 AND id = 7`) },
			[]string{"Whole 2026-01-01 3000-01-01"},
		},
		{
			"what is asked for", func() {
				exec(`UPDATE term_request SET from_date = '2026-02-01' WHERE tenant_id = 1 AND person_id = $1`, id)
			},
			[]string{"Whole 2026-02-01 3000-01-01"},
		},
		{"nothing is asked for", func() { exec(`DELETE FROM term_request WHERE tenant_id = 1 AND person_id = $1`, id) }, nil},
		{"a membership", func() {
			exec(`INSERT INTO membership (tenant_id, person_id, employment_term_id, from_date, to_date) VALUES (1, $1, 8, '2026-03-01', '3000-01-01')`, id)
		}, []string{"Half 2026-03-01 3000-01-01"}},
		{
			"its term", func() {
				exec(`UPDATE membership SET employment_term_id = 7 WHERE tenant_id = 1 AND person_id = $1`, id)
			},
			[]string{"Whole 2026-03-01 3000-01-01"},
		},
		{
			"its days", func() {
				exec(`UPDATE membership SET to_date = '2026-04-01' WHERE tenant_id = 1 AND person_id = $1`, id)
			},
			[]string{"Whole 2026-03-01 2026-04-01"},
		},
		{
			"the name of its term", func() { exec(`UPDATE employment_term SET name = 'Full' WHERE tenant_id = 1 AND id = 7`) },
			[]string{"Full 2026-03-01 2026-04-01"},
		},
	} {
		t.Run(change.name, func(t *testing.T) {
			change.do()
			assert.Equal(t, change.want, terms(shown()))
		})
	}

	_, err = b.persons.UpdatePerson(ctx, &commonsv1.UpdatePersonRequest{PersonId: id, Person: &commonsv1.Person{PersonInformation: custom("a", "b")}})
	require.NoError(t, err)
	assert.Len(t, shown().GetPersonInformation().GetCustomDataList(), 1)

	_, err = b.persons.GetPerson(inTenant(t, 2), &commonsv1.GetPersonRequest{PersonId: id})
	assert.Equal(t, 400, fault.FromError(err).Status, "another tenant")
	exec(`DELETE FROM person WHERE tenant_id = 1 AND id = $1`, id)
	_, err = b.persons.GetPerson(ctx, &commonsv1.GetPersonRequest{PersonId: id})
	assert.Equal(t, 400, fault.FromError(err).Status, "gone")
}
