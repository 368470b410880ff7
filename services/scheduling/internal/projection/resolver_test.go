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

// Ids that lie close together are found in one range. Each employee has their position, also twice,
// and no other employee is returned.
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
