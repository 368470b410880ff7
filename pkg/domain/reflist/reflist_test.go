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
		name          string
		list          reflist.Lists
		len           int
		want          []*commonv1.Ref
		exactly, most string
	}{
		{"no list", (*commonv1.RefList)(nil), 0, nil, "WRL-1: where needs exactly one of ids, qualifiers and refs.", ""},
		{"empty", &commonv1.RefList{}, 0, nil, "WRL-1: where needs exactly one of ids, qualifiers and refs.", ""},
		{"ids", &commonv1.RefList{Ids: []int64{id, other}}, 2, []*commonv1.Ref{{Id: &id}, {Id: &other}}, "", ""},
		{
			"all", &commonv1.RefList{Ids: []int64{id}, Qualifiers: []string{name}, Refs: []*commonv1.Ref{ref}}, 3,
			[]*commonv1.Ref{ref, {Id: &id}, {Qualifier: &name}},
			"WRL-1: where needs exactly one of ids, qualifiers and refs.", "WRL-1: where takes only one of ids, qualifiers and refs.",
		},
		{"persistent ids", &schedulingv1.EmploymentTermRefList{PersistentIds: []string{"p"}}, 0, nil, "", ""},
		{
			"persistent ids and others", &schedulingv1.EmploymentTermRefList{Ids: []int64{id}, PersistentIds: []string{"p"}}, 1,
			[]*commonv1.Ref{{Id: &id}},
			"WRL-1: where needs exactly one of ids, qualifiers, refs and persistentIds.", "WRL-1: where takes only one of ids, qualifiers, refs and persistentIds.",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.len, reflist.Len(c.list))
			assert.Equal(t, c.want, reflist.Refs(c.list))
			for want, choose := range map[*string]func(code, path string, l reflist.Lists) ([]*commonv1.Ref, error){
				&c.exactly: reflist.ExactlyOne, &c.most: reflist.AtMostOne,
			} {
				refs, err := choose("WRL-1", "where", c.list)
				if *want == "" {
					assert.NoError(t, err)
					assert.Equal(t, c.want, refs)
				} else {
					assert.EqualError(t, err, *want)
					assert.Nil(t, refs)
				}
			}
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
