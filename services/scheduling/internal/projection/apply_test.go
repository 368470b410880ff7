package projection

import (
	"context"
	"strconv"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

func TestOnlyNewerPersonsAreStored(t *testing.T) {
	w := newFixture(t)
	w.persons(person(7, 2, "P7b"), person(7, 1, "P7a"), person(8, 1, "P8"))
	w.persons(person(7, 1, "P7a"))
	found, err := w.EmployeesByList(w.ctx, nil)
	require.NoError(t, err)
	require.Len(t, found, 2)
	assert.Equal(t, "P7b", found[0].PersonNumber)
	assert.Equal(t, "Europe/Zurich", found[0].Zone.Name())
	assert.Equal(t, int64(8), found[1].ID)
}

func TestTermsStartAPropagationWhenInheritanceChanges(t *testing.T) {
	w := newFixture(t)
	w.terms(term(5, 1, "Five", false), term(6, 1, "Six", true))
	w.terms(term(6, 1, "Six", true))          // repeated
	w.terms(term(6, 2, "Six, renamed", true)) // nothing that counts
	w.terms(term(6, 4, "Six", false))         // ceases to pass patterns on
	w.terms(term(6, 3, "Six, older", true))   // stale
	gone := term(5, 2, "Five", true)          // deleted: what it allowed does not count
	gone.Deleted = true
	w.terms(gone)
	assert.Equal(t, []started{
		{"INHERITANCE", []int64{6}, []int64{}},
		{"INHERITANCE", []int64{6}, []int64{}},
	}, w.started())
}

// Two first states of a term at once: whichever commits last compares with what
// the other stored.
func TestFirstStatesOfATermMeet(t *testing.T) {
	w := newFixture(t)
	var both sync.WaitGroup
	for i, state := range []*timekeepingv1.EmploymentTermChanged{term(5, 1, "Five", true), term(5, 2, "Five", false)} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			both.Go(func() {
				assert.NoError(t, pg.InTx(w.ctx, w.pool, func(ctx context.Context, tx pgx.Tx) error {
					return replica.Put(ctx, tx, w.copies.terms, tenant.Default, []*timekeepingv1.EmploymentTermChanged{state})
				}))
			})
		})
	}
	both.Wait()
	assert.Contains(t, []int{0, 2}, len(w.started()), "on and off again, or never on")
}

func TestMembershipsStartAPropagationWhenTheyDiffer(t *testing.T) {
	w := newFixture(t)
	w.memberships(
		on(2, 1, days(5, "2026-06-01", "3000-01-01"), days(6, "2026-01-01", "2026-06-01")),
		on(1, 1, days(5, "2026-01-01", "3000-01-01")),
	)
	w.memberships(on(1, 1, days(6, "2026-01-01", "3000-01-01"))) // same version: not newer
	w.memberships(on(1, 3, days(5, "2026-01-01", "9999-12-31"))) // newer, the same days
	w.memberships(
		on(1, 2, days(6, "2026-01-01", "3000-01-01")), // stale
		on(2, 2, days(6, "2026-01-01", "2026-03-01")),
		on(3, 1), // nothing before, nothing now
	)
	assert.Equal(t, []started{
		{"MEMBERSHIP", []int64{}, []int64{1, 2}},
		{"MEMBERSHIP", []int64{}, []int64{2}},
	}, w.started())

	w.inTx(func(ctx context.Context, tx pgx.Tx) error {
		known, err := knownMemberships(ctx, tx, tenant.Default, []int64{1, 2, 3})
		assert.Equal(t, map[int64][]membership{
			1: {{1, 5, 20454, 376200}},
			2: {{2, 6, 20454, 20513}},
		}, known)
		return err
	})
}

func TestMalformedMembershipsAreRefused(t *testing.T) {
	w := newFixture(t)
	err := pg.InTx(w.ctx, w.pool, func(ctx context.Context, tx pgx.Tx) error {
		return replica.Put(ctx, tx, w.copies.memberships, tenant.Default, []*timekeepingv1.PersonMemberships{on(1, 1, days(5, "2026-1-1", "3000-01-01"))})
	})
	require.ErrorContains(t, err, "memberships of person 1")
}

// What is stored for one tenant is not there for another one.
func TestTenantsAreApart(t *testing.T) {
	w := newFixture(t)
	w.persons(person(7, 1, "P7"))
	other := tenant.With(t.Context(), 2)
	found, err := w.EmployeesByList(other, nil)
	require.NoError(t, err)
	assert.Empty(t, found)
}
