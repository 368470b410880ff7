package projection

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

func byID(id int64) *commonv1.Ref { return &commonv1.Ref{Id: &id} }

func byName(name string) *commonv1.Ref { return &commonv1.Ref{Qualifier: &name} }

func byBoth(id int64, name string) *commonv1.Ref { return &commonv1.Ref{Id: &id, Qualifier: &name} }

func TestTerms(t *testing.T) {
	w := newFixture(t)
	w.terms(term(5, 1, "Warehouse 38h", true), term(6, 1, "Office", false))
	terms, err := w.Terms(w.ctx, []*commonv1.Ref{byName("OFFICE"), byID(5), byBoth(5, "Office"), byName("warehouse 38H")})
	require.NoError(t, err)
	warehouse, office := Term{5, "Warehouse 38h", true}, Term{6, "Office", false}
	assert.Equal(t, []Term{office, warehouse, warehouse, warehouse}, terms)
	assert.Zero(t, w.timekeeping.calls.Load(), "everything was known")

	for name, ref := range map[string]*commonv1.Ref{
		"a bad id with a good name": byBoth(99, "Office"), "an unknown name": byName("Nowhere"),
		"an empty name": byName(""), "nothing": {}, "no ref": nil, "id 0": byID(0),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := w.Terms(w.ctx, []*commonv1.Ref{byID(5), ref})
			assert.True(t, fault.HasCode(err, "WFS-106607") && fault.HasStatus(err, 400), "%s: %v", name, err)
		})
	}
}

func TestUnknownTermsAreAskedFor(t *testing.T) {
	w := newFixture(t)
	w.timekeeping.terms = append(w.timekeeping.terms, term(5, 3, "Warehouse", true), term(6, 1, "Office", false))
	for range 2 {
		terms, err := w.Terms(w.ctx, []*commonv1.Ref{byName("warehouse"), byID(6)})
		require.NoError(t, err)
		assert.Equal(t, []Term{{5, "Warehouse", true}, {6, "Office", false}}, terms)
	}
	assert.Equal(t, int32(1), w.timekeeping.calls.Load(), "what was returned is kept")
	assert.Len(t, w.started(), 1, "the event of the same version will not start it")
}

// A name moved from one term to another one, and only the event of the latter
// has arrived.
func TestMovedNamesAreAskedFor(t *testing.T) {
	w := newFixture(t)
	w.terms(term(5, 1, "Night", false), term(6, 1, "Night", false))
	w.timekeeping.terms = append(w.timekeeping.terms, term(5, 2, "Late", false), term(6, 1, "Night", false))
	terms, err := w.Terms(w.ctx, []*commonv1.Ref{byName("night")})
	require.NoError(t, err)
	assert.Equal(t, int64(6), terms[0].ID)
}

func TestDeletedTermsAreUnknown(t *testing.T) {
	w := newFixture(t)
	gone := term(5, 2, "Office", true)
	gone.Deleted = true
	w.terms(gone)
	w.timekeeping.terms = append(w.timekeeping.terms, gone)
	_, err := w.Terms(w.ctx, []*commonv1.Ref{byID(5)})
	assert.True(t, fault.HasCode(err, "WFS-106607"), "%v", err)
}

func TestEmployees(t *testing.T) {
	w := newFixture(t)
	w.persons(person(1, 1, "P1"), person(2, 1, "P2"))
	w.commons.persons = append(w.commons.persons, person(3, 1, "P3"), person(4, 1, "P4"))
	found, err := w.Employees(w.ctx, []*commonv1.Ref{byName("P4"), byID(2), byBoth(1, "nobody"), byID(3)})
	require.NoError(t, err)
	assert.Equal(t, []string{"P4", "P2", "P1", "P3"}, numbers(found))
	assert.Equal(t, int32(1), w.commons.calls.Load())

	_, err = w.Employees(w.ctx, []*commonv1.Ref{byBoth(99, "P1")})
	assert.True(t, fault.HasCode(err, "WFS-103401"), "%v", err)
	_, err = w.Employees(w.ctx, []*commonv1.Ref{byName("p1")})
	assert.True(t, fault.HasCode(err, "WFS-103401"), "person numbers keep their case: %v", err)
	_, err = w.Employees(w.ctx, []*commonv1.Ref{byID(1), {}})
	assert.True(t, fault.HasCode(err, "WFS-103407"), "%v", err)
	_, err = w.Employees(w.ctx, []*commonv1.Ref{byName(strings.Repeat("ä", 10_000))})
	assert.Less(t, len(err.Error()), 300, "an error does not repeat a long text")
}

func TestEmployeesByList(t *testing.T) {
	w := newFixture(t)
	w.persons(person(2, 1, "P2"), person(1, 1, "P1"))
	for want, list := range map[string]*commonv1.RefList{
		"P1 P2": {},
		"P2 P1": {Ids: []int64{2, 1}},
		"P2":    {Qualifiers: []string{"P2"}},
		"P1":    {Refs: []*commonv1.Ref{byID(1)}},
	} {
		t.Run(want, func(t *testing.T) {
			found, err := w.EmployeesByList(w.ctx, list)
			require.NoError(t, err)
			assert.Equal(t, want, strings.Join(numbers(found), " "))
		})
	}
	_, err := w.EmployeesByList(w.ctx, &commonv1.RefList{Ids: []int64{1}, Qualifiers: []string{"P1"}})
	assert.True(t, fault.HasCode(err, "WFS-111207"), "%v", err)
}

func TestManyEmployeesAreAskedForInParts(t *testing.T) {
	w := newFixture(t)
	var refs []*commonv1.Ref
	for i := range int64(2500) {
		w.commons.persons = append(w.commons.persons, person(i+1, 1, fmt.Sprint("P", i+1)))
		refs = append(refs, byID(i+1))
	}
	found, err := w.Employees(w.ctx, refs)
	require.NoError(t, err)
	assert.Len(t, found, 2500)
	assert.Equal(t, "P2500", found[2499].PersonNumber)
	assert.Equal(t, int32(3), w.commons.calls.Load())
}

// Ids that lie close together are found in one range: each at its position, also twice, and
// nobody else.
func TestManyEmployeesAreFoundAtTheirPositions(t *testing.T) {
	w := newFixture(t)
	var refs []*commonv1.Ref
	var want []string
	for id := int64(100); id > 0; id-- {
		w.persons(person(id, 1, fmt.Sprint("P", id)))
		if id%3 != 0 {
			refs, want = append(refs, byID(id)), append(want, fmt.Sprint("P", id))
		}
	}
	found, err := w.Employees(w.ctx, refs)
	require.NoError(t, err)
	assert.Equal(t, want, numbers(found))
	found, err = w.Employees(w.ctx, append(refs, refs[0], byName("P3")))
	require.NoError(t, err)
	assert.Equal(t, append(want, want[0], "P3"), numbers(found))
	_, err = w.Employees(w.ctx, append(refs, byID(101)))
	assert.True(t, fault.HasCode(err, "WFS-103401"), "%v", err)
	assert.Equal(t, int32(1), w.commons.calls.Load(), "only the last one was asked for")
}

func numbers(employees []Employee) []string {
	list := make([]string, len(employees))
	for i, e := range employees {
		list[i] = e.PersonNumber
	}
	return list
}

var _ commonsv1.PersonServiceClient = (*fakeCommons)(nil)
