package scheduling_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

func TestEmploymentTermLife(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	created, err := b.terms.CreateEmploymentTerm(ctx, newTerm("Warehouse 38h"))
	require.NoError(t, err)
	id := created.GetId()
	want := newTerm("Warehouse 38h")
	want.Id = id
	assertSame(t, want, created)
	read, err := b.terms.GetEmploymentTerm(ctx, &schedulingv1.GetEmploymentTermRequest{Id: id})
	require.NoError(t, err)
	assertSame(t, created, read)

	_, err = b.terms.CreateEmploymentTerm(ctx, newTerm("WAREHOUSE 38H"))
	assertCode(t, err, 400, "WTK-82604")

	// A body that says little changes little.
	updated, err := b.terms.UpdateEmploymentTerm(ctx, &schedulingv1.UpdateEmploymentTermRequest{
		Id: id, EmploymentTerm: &schedulingv1.EmploymentTerm{AllowsInheritance: proto.Bool(false)},
	})
	require.NoError(t, err)
	want.AllowsInheritance = proto.Bool(false)
	assertSame(t, want, updated)
	for _, body := range map[string]*schedulingv1.EmploymentTerm{
		"another id":   newTerm("Warehouse 38h", func(term *schedulingv1.EmploymentTerm) { term.Id = id + 1 }),
		"another name": newTerm("Office"),
	} {
		_, err := b.terms.UpdateEmploymentTerm(ctx, &schedulingv1.UpdateEmploymentTermRequest{Id: id, EmploymentTerm: body})
		assertCode(t, err, 400, "WTK-82607")
	}

	_, err = b.terms.DeleteEmploymentTerm(ctx, &schedulingv1.DeleteEmploymentTermRequest{Id: id})
	require.NoError(t, err)
	_, err = b.terms.GetEmploymentTerm(ctx, &schedulingv1.GetEmploymentTermRequest{Id: id})
	assertCode(t, err, 404, "WTK-82600")
	_, err = b.terms.DeleteEmploymentTerm(ctx, &schedulingv1.DeleteEmploymentTermRequest{Id: id})
	assertCode(t, err, 404, "WTK-82600")
	_, err = b.terms.UpdateEmploymentTerm(ctx, &schedulingv1.UpdateEmploymentTermRequest{Id: id, EmploymentTerm: newTerm("x")})
	assertCode(t, err, 404, "WTK-82600")

	published := events[*schedulingv1.EmploymentTermChanged](t, b)
	require.Len(t, published, 3, "failed changes publish nothing")
	for i, event := range []*schedulingv1.EmploymentTermChanged{
		{Id: id, Name: "Warehouse 38h", AllowsInheritance: true, Version: 1},
		{Id: id, Name: "Warehouse 38h", Version: 2},
		{Id: id, Name: "Warehouse 38h", Deleted: true, Version: 3},
	} {
		assertSame(t, event, published[i])
	}
}

func TestListEmploymentTerms(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	second, first := b.createTerm(t, ctx, "b"), b.createTerm(t, ctx, "A")
	b.createTerm(t, inTenant(t, 2), "another tenant's")

	all, err := b.terms.ListEmploymentTerms(ctx, &schedulingv1.ListEmploymentTermsRequest{})
	require.NoError(t, err)
	require.Len(t, all.GetEmploymentTerms(), 2)
	assert.Equal(t, first, all.GetEmploymentTerms()[0].GetId(), "in the order of the names")
	assert.NotNil(t, all.GetEmploymentTerms()[0].GetVersions())

	short, err := b.terms.ListEmploymentTerms(ctx, &schedulingv1.ListEmploymentTermsRequest{
		Qualifier: proto.String("B"), AllDetails: proto.Bool(false),
	})
	require.NoError(t, err)
	require.Len(t, short.GetEmploymentTerms(), 1)
	assert.Equal(t, second, short.GetEmploymentTerms()[0].GetId())
	assert.Nil(t, short.GetEmploymentTerms()[0].GetVersions())

	_, err = b.terms.ListEmploymentTerms(ctx, &schedulingv1.ListEmploymentTermsRequest{Id: proto.Int64(999), Qualifier: proto.String("A")})
	assertCode(t, err, 400, "WTK-82600")
	_, err = b.terms.ListEmploymentTerms(ctx, &schedulingv1.ListEmploymentTermsRequest{Qualifier: proto.String("x")})
	assertCode(t, err, 400, "WTK-82615")
}

func TestMultiReadEmploymentTerms(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	id := b.createTerm(t, ctx, "One")
	_, err := b.terms.CreateEmploymentTerm(ctx, newTerm("Two", func(term *schedulingv1.EmploymentTerm) {
		term.PersistentId = "two-1"
		term.Versions.EmploymentTermVersion = []*schedulingv1.EmploymentTermVersion{
			{StartDate: "2025-01-01", EndDate: "3000-01-01"}, {StartDate: "2024-01-01", EndDate: "2025-01-01"},
		}
	}))
	require.NoError(t, err)
	read := func(list *schedulingv1.EmploymentTermRefList, change ...func(*schedulingv1.EmploymentTermWhere)) (*schedulingv1.EmploymentTermList, error) {
		where := &schedulingv1.EmploymentTermWhere{EmploymentTerms: list}
		for _, c := range change {
			c(where)
		}
		return b.terms.MultiReadEmploymentTerms(ctx, &schedulingv1.MultiReadEmploymentTermsRequest{Where: where})
	}
	names := func(list *schedulingv1.EmploymentTermList) []string {
		var out []string
		for _, term := range list.GetEmploymentTerms() {
			out = append(out, term.GetName())
		}
		return out
	}

	response, err := read(&schedulingv1.EmploymentTermRefList{Qualifiers: []string{"two", "ONE", "two"}})
	require.NoError(t, err)
	assert.Equal(t, []string{"Two", "One", "Two"}, names(response), "in the order asked for")
	response, err = read(&schedulingv1.EmploymentTermRefList{Refs: []*commonv1.Ref{
		{Id: &id, Qualifier: proto.String("no such name")}, {Qualifier: proto.String("Two")},
	}})
	require.NoError(t, err)
	assert.Equal(t, []string{"One", "Two"}, names(response), "the id wins")

	response, err = read(&schedulingv1.EmploymentTermRefList{PersistentIds: []string{"two-1"}}, func(w *schedulingv1.EmploymentTermWhere) {
		w.StartDate, w.EndDate = "2024-12-01", "2024-12-31"
	})
	require.NoError(t, err)
	versions := response.GetEmploymentTerms()[0].GetVersions().GetEmploymentTermVersion()
	require.Len(t, versions, 1)
	assert.Equal(t, "2024-01-01", versions[0].GetStartDate())

	response, err = read(&schedulingv1.EmploymentTermRefList{Ids: []int64{999, id}})
	require.NoError(t, err)
	assert.Equal(t, "WTK-82612", response.GetFailure().GetErrorCode())
	assert.Equal(t, []int32{0}, response.GetFailure().GetDetails().GetErrorOffsets())
	assert.Equal(t, "WTK-82609", response.GetFailure().GetDetails().GetResults()[0].GetError().GetErrorCode())

	_, err = read(&schedulingv1.EmploymentTermRefList{PersistentIds: []string{"x"}})
	assertCode(t, err, 400, "WTK-82612")
	_, err = read(&schedulingv1.EmploymentTermRefList{})
	assertCode(t, err, 400, "WTK-82613")
	_, err = read(&schedulingv1.EmploymentTermRefList{Ids: []int64{id}, Qualifiers: []string{"One"}})
	assertCode(t, err, 400, "WTK-82614")
	_, err = read(&schedulingv1.EmploymentTermRefList{Qualifiers: []string{"One", "x"}})
	assertCode(t, err, 400, "WTK-82615")
}

// Other services ask which term refers to an object before they delete it.
func TestUsesOfEmploymentTerms(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	b.createTerm(t, ctx, "One")
	find := func(ctx context.Context, of schedulingv1.EmploymentTermProperty, id int64, name string) string {
		t.Helper()
		found, err := b.terms.FindEmploymentTermUse(ctx, &schedulingv1.FindEmploymentTermUseRequest{Property: of, Id: id, Name: name})
		require.NoError(t, err)
		return found.GetEmploymentTerm()
	}
	const payRule = schedulingv1.EmploymentTermProperty_EMPLOYMENT_TERM_PROPERTY_PAY_RULE
	assert.Equal(t, "One", find(ctx, payRule, 4, "renamed"))
	assert.Empty(t, find(ctx, payRule, 5, "Hourly"), "the id wins")
	assert.Empty(t, find(ctx, schedulingv1.EmploymentTermProperty_EMPLOYMENT_TERM_PROPERTY_PAY_CODE, 4, "Hourly"))
	assert.Empty(t, find(inTenant(t, 2), payRule, 4, "Hourly"))
	_, err := b.terms.FindEmploymentTermUse(ctx, &schedulingv1.FindEmploymentTermUseRequest{Id: 4})
	assertCode(t, err, 400, "WRL-00400")
}
