package locationset

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/structure"
)

// drawNode writes a node with what lies below it.
func drawNode(n *commonsv1.LocationSetNode) string {
	below := make([]string, len(n.GetChildren()))
	for i, child := range n.GetChildren() {
		below[i] = drawNode(child)
	}
	if len(below) == 0 {
		return n.GetNodeName()
	}
	return n.GetNodeName() + "(" + strings.Join(below, " ") + ")"
}

func TestTreesOfSets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		paths []string
		want  string
	}{
		{"no location", nil, "Set"},
		{"one location", []string{"Acme/East/Cook"}, "Cook"},
		{"two beside each other", []string{"Acme/East", "Acme/West"}, "Set(East West)"},
		{"one below the other", []string{"Acme", "Acme/East"}, "Acme(East)"},
		{"a location between them is not in the set", []string{"Acme", "Acme/East/Cook"}, "Acme(Cook)"},
		{"below the nearest", []string{"Acme", "Acme/East", "Acme/East/Cook", "Acme/West"}, "Acme(East(Cook) West)"},
		{"a name that begins like another", []string{"Acme", "Acme 2", "Acme 2/Cook"}, "Set(Acme Acme 2(Cook))"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			set := &commonsv1.LocationSet{Name: "Set"}
			for i, path := range c.paths {
				set.NodeRefs = append(set.NodeRefs, &commonv1.Ref{Id: proto.Int64(int64(i)), Qualifier: &path})
			}
			assert.Equal(t, c.want, drawNode(tree(set)))
		})
	}
}

func TestRequestedLocationSets(t *testing.T) {
	t.Parallel()
	type where = commonsv1.LocationSetWhere
	of := func(refs *commonsv1.LocationSetRefs, types *commonsv1.LocationSetTypes) *where {
		return &where{Context: "ORG", Date: "2026-03-01", LocationSets: refs, Types: types}
	}
	typeIDs := func(ids ...int64) *where { return of(nil, &commonsv1.LocationSetTypes{Ids: ids}) }
	typeNames := func(names ...string) *where { return of(nil, &commonsv1.LocationSetTypes{Qualifiers: names}) }
	both := &commonv1.Ref{Id: proto.Int64(3), Qualifier: proto.String("Three")}
	for _, c := range []struct {
		name string
		sent *where
		code string // "" for a request that returns want
		want string // whether some, ids, names, persistent ids, types
	}{
		{"all", of(nil, nil), "", "false [] [] [] []"},
		{"by id", of(&commonsv1.LocationSetRefs{Ids: []int64{1, 2}}, nil), "", "true [1 2] [] [] []"},
		{"by name", of(&commonsv1.LocationSetRefs{Qualifiers: []string{"A"}}, nil), "", "true [] [A] [] []"},
		{"by persistent id", of(&commonsv1.LocationSetRefs{PersistentIds: []string{"p"}}, nil), "", "true [] [] [p] []"},
		{"by refs, of which the id wins", of(&commonsv1.LocationSetRefs{Refs: []*commonv1.Ref{both, {Qualifier: proto.String("A")}}}, nil), "", "true [3] [A] [] []"},
		{"by types", of(nil, &commonsv1.LocationSetTypes{Ids: []int64{1, 4}, Qualifiers: []string{"MANAGER_TRANSFER_GROUP"}}), "", "false [] [] [] [1 4 2]"},
		{"no context", &where{Date: "2026-03-01"}, structure.CodeMissing, ""},
		{"an unknown context", &where{Context: "org", Date: "2026-03-01"}, structure.CodeValue, ""},
		{"no day", &where{Context: "ORG"}, structure.CodeNoDate, ""},
		{"a day that is not", &where{Context: "FORECAST", Date: "2026-02-30"}, fault.CodeDate, ""},
		{"an empty list", of(&commonsv1.LocationSetRefs{}, nil), structure.CodeNoList, ""},
		{"two lists", of(&commonsv1.LocationSetRefs{Ids: []int64{1}, Qualifiers: []string{"A"}}, nil), structure.CodeNoList, ""},
		{"a ref to nothing", of(&commonsv1.LocationSetRefs{Refs: []*commonv1.Ref{{}}}, nil), structure.CodeNoName, ""},
		{"type 0", typeIDs(0), structure.CodeValue, ""},
		{"type 5", typeIDs(5), structure.CodeValue, ""},
		{"a type beyond 32 bits that ends like type 1", typeIDs(1<<32 + 1), structure.CodeValue, ""},
		{"a negative type that ends like type 1", typeIDs(-1<<32 + 1), structure.CodeValue, ""},
		{"the least type", typeIDs(math.MinInt64), structure.CodeValue, ""},
		{"an unknown type", typeNames("manager_group"), structure.CodeValue, ""},
		{"a type without a name", typeNames(""), structure.CodeValue, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			q, err := New(nil, nil).read(&commonsv1.MultiReadLocationSetsRequest{Where: c.sent})
			if c.code != "" {
				require.True(t, fault.HasCode(err, c.code), "%v instead of %s", err, c.code)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, fmt.Sprint(q.some, q.ids, q.names, q.persistentID, q.types))
			assert.Equal(t, "2026-03-01", q.day.String())
		})
	}
}
