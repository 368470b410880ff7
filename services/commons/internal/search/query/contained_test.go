package query

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/pooltest"
)

// A query that contains others finds the same persons as the model, and as the query with the numbers of
// the members in place of each contained query.
func TestContainedQueriesComparedWithAModelAndWithTheirMembers(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	executor := NewExecutor(Config{}, pool)
	tenantID := int64(0)
	rapid.Check(t, func(t *rapid.T) {
		tenantID++
		ctx := tenant.With(context.Background(), tenantID)
		m := drawModel(t)
		m.stored = drawStored(t, m)
		require.NoError(t, m.store(ctx, pool))
		for range 8 {
			from := rapid.IntRange(0, modelDays-1).Draw(t, "from")
			to := rapid.IntRange(from, modelDays-1).Draw(t, "to")
			days := civil.Through(first+civil.Date(from), first+civil.Date(to))
			run := func(root *Node, err error) []int64 {
				require.NoError(t, err)
				got := []int64{}
				require.NoError(t, executor.Run(ctx, root, days, nil, func(id int64, _, _ []byte) { got = append(got, id) }))
				return got
			}
			constraints := drawConstraints(t, m, 1)
			constraints.Filters = append(constraints.Filters, drawContaining(t, len(m.stored)))
			got := run(ParseOn(constraints, days, m.stored))
			assert.Equal(t, m.members(constraints, from, to), got, "days %d to %d: %s in %v", from, to, constraints, m.stored)
			inlined := proto.CloneOf(constraints)
			for _, f := range inlined.GetFilters() {
				if f.GetKey() == KeyHyperfind {
					m.inline(f, func(id int64) []int64 { return run(ParseOn(m.stored[id], days, m.stored)) })
				}
			}
			if !m.asksForStatus(inlined) && m.asksForStatus(constraints) {
				assert.Equal(t, run(Parse(inlined)), got, "days %d to %d: %s", from, to, inlined)
				continue
			}
			assert.Equal(t, run(ParseOn(inlined, days, nil)), got, "days %d to %d: %s", from, to, inlined)
		}
	})
}

// drawStored returns queries. Each may contain earlier ones. They have no costly conditions.
func drawStored(t *rapid.T, m *model) Contained {
	cheap := slices.DeleteFunc(Keys(), func(k key) bool { return k.kind == reference || k.name == "USER_ACCOUNT_STATUS" })
	out := Contained{}
	for id := int64(1); id <= 4; id++ {
		query := &commonsv1.HyperfindConstraints{Comparator: rapid.SampledFrom([]string{"AND", "OR", "NOT"}).Draw(t, "stored comparator")}
		for range rapid.IntRange(0, 2).Draw(t, "stored filters") {
			query.Filters = append(query.Filters, drawFilter(t, m, cheap))
		}
		if id > 1 && rapid.Bool().Draw(t, "contains") {
			query.Filters = append(query.Filters, drawContaining(t, int(id-1)))
		}
		out[id] = query
	}
	return out
}

// drawContaining returns a filter with one or two of the first queries.
func drawContaining(t *rapid.T, queries int) *commonsv1.HyperfindCondition {
	f := &commonsv1.HyperfindCondition{Key: KeyHyperfind, Operator: rapid.SampledFrom([]string{"IN", "NOT_IN"}).Draw(t, "contained operator")}
	for range rapid.IntRange(1, 2).Draw(t, "contained queries") {
		f.Refs = append(f.Refs, &commonv1.Ref{Id: proto.Int64(int64(rapid.IntRange(1, queries).Draw(t, "contained")))})
	}
	return f
}

// inline replaces contained queries with the numbers of their members.
func (m *model) inline(f *commonsv1.HyperfindCondition, members func(id int64) []int64) {
	f.Key, f.Values = keyNumber, []string{"nobody"}
	for _, ref := range f.GetRefs() {
		for _, id := range members(ref.GetId()) {
			f.Values = append(f.Values, m.persons[id-1].number)
		}
	}
	f.Refs = nil
}

// members returns the ids of the persons that a query finds, with the rule for ended employment.
func (m *model) members(constraints *commonsv1.HyperfindConstraints, from, to int) []int64 {
	ids := []int64{}
	for i := range m.persons {
		if m.isMember(&m.persons[i], constraints, from, to) {
			ids = append(ids, m.persons[i].id)
		}
	}
	return ids
}

func (m *model) isMember(p *modelPerson, constraints *commonsv1.HyperfindConstraints, from, to int) bool {
	ended := !slices.ContainsFunc(p.status[from:to+1], func(status string) bool { return status != terminated })
	return (m.asksForStatus(constraints) || !ended) && m.holds(p, constraints, from, to)
}

func (m *model) asksForStatus(constraints *commonsv1.HyperfindConstraints) bool {
	return slices.ContainsFunc(constraints.GetFilters(), func(f *commonsv1.HyperfindCondition) bool {
		return f.GetKey() == KeyStatus || m.asksForStatus(f.GetConstraints()) ||
			f.GetKey() == KeyHyperfind && slices.ContainsFunc(f.GetRefs(), func(r *commonv1.Ref) bool { return m.asksForStatus(m.stored[r.GetId()]) })
	})
}

func containing(operator string, ids ...int64) *commonsv1.HyperfindConstraints {
	f := &commonsv1.HyperfindCondition{Key: KeyHyperfind, Operator: operator}
	for _, id := range ids {
		f.Refs = append(f.Refs, &commonv1.Ref{Id: proto.Int64(id)})
	}
	return &commonsv1.HyperfindConstraints{Filters: []*commonsv1.HyperfindCondition{f}}
}

func TestContainedQueriesHaveLimits(t *testing.T) {
	t.Parallel()
	stored := Contained{1: {}, 7: containing("IN", 7), 8: {}, 9: {}}
	for id := int64(2); id <= MaxNested+1; id++ {
		stored[id] = containing("NOT_IN", id-1)
	}
	for range 50 {
		stored[8].Filters = append(stored[8].Filters, &commonsv1.HyperfindCondition{Key: "BADGE", Operator: "IS_NULL"})
	}
	for range 6 {
		stored[9].Filters = append(stored[9].Filters, &commonsv1.HyperfindCondition{Key: KeyJob, Operator: "IS_NOT_NULL"})
	}
	for name, c := range map[string]struct {
		constraints *commonsv1.HyperfindConstraints
		code        string
	}{
		"a query":                       {containing("EQUAL_TO", 1), ""},
		"a query on each level":         {containing("IN", MaxNested), ""},
		"one level more":                {containing("IN", MaxNested+1), CodeNested},
		"a query that contains itself":  {containing("IN", 7), CodeNested},
		"the filters of one query":      {containing("IN", 8), ""},
		"the filters of two queries":    {containing("NOT_IN", 8, 8), CodeQuery},
		"costly filters of two queries": {containing("NOT_IN", 9, 9), CodeCostly},
		"no query":                      {containing("IN"), CodeQuery},
		"two queries for one":           {containing("EQUAL_TO", 1, 2), CodeQuery},
		"an operator for single values": {containing("LIKE", 1), CodeQuery},
		"an unknown query finds nobody": {containing("IN", 99), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := ParseOn(c.constraints, civil.Range{From: 20500, To: 20501}, stored)
			if c.code == "" {
				require.NoError(t, err)
				return
			}
			assert.True(t, fault.HasCode(err, c.code), err)
		})
	}
}

func TestContainedRefs(t *testing.T) {
	t.Parallel()
	constraints := &commonsv1.HyperfindConstraints{Filters: []*commonsv1.HyperfindCondition{
		{Constraints: containing("IN", 3)}, {Key: KeyJob, Refs: []*commonv1.Ref{{Id: proto.Int64(4)}}}, {Key: "hyperfind", Refs: []*commonv1.Ref{{Id: proto.Int64(5)}}},
	}}
	var ids []int64
	for _, ref := range ContainedRefs(constraints) {
		ids = append(ids, ref.GetId())
	}
	assert.Equal(t, []int64{3, 5}, ids)
}
