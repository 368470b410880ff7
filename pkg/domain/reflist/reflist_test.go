package reflist_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/rotaloom/rotaloom/pkg/domain/reflist"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

func TestListsOfReferences(t *testing.T) {
	t.Parallel()
	id, other, name := int64(7), int64(8), "Seven"
	ref := &commonv1.Ref{Id: &other}
	for _, c := range []struct {
		name       string
		list       reflist.Lists
		kinds, len int
		want       []*commonv1.Ref
	}{
		{"no list", (*commonv1.RefList)(nil), 0, 0, nil},
		{"empty", &commonv1.RefList{}, 0, 0, nil},
		{"ids", &commonv1.RefList{Ids: []int64{id, other}}, 1, 2, []*commonv1.Ref{{Id: &id}, {Id: &other}}},
		{
			"all", &commonv1.RefList{Ids: []int64{id}, Qualifiers: []string{name}, Refs: []*commonv1.Ref{ref}}, 3, 3,
			[]*commonv1.Ref{ref, {Id: &id}, {Qualifier: &name}},
		},
		{"persistent ids", &schedulingv1.EmploymentTermRefList{Ids: []int64{id}, PersistentIds: []string{"p"}}, 2, 1, []*commonv1.Ref{{Id: &id}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.kinds, reflist.CountKinds(c.list))
			assert.Equal(t, c.len, reflist.Len(c.list))
			assert.Equal(t, c.want, reflist.Refs(c.list))
		})
	}
}

// Resolving the refs of a request does not change them.
func TestRefsLeavesTheListAsItIs(t *testing.T) {
	t.Parallel()
	id := int64(7)
	room := make([]*commonv1.Ref, 1, 4)
	room[0] = &commonv1.Ref{Id: &id}
	list := &commonv1.RefList{Ids: []int64{id}, Refs: room}
	reflist.Refs(list)
	assert.Nil(t, room[:2][1])
}

func TestCountTrue(t *testing.T) {
	t.Parallel()
	assert.Zero(t, reflist.CountTrue())
	assert.Equal(t, 2, reflist.CountTrue(true, false, true))
}
