package rulesetassignment

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

func sentAssignment(context int64, from, to string) *schedulingv1.ScheduleRuleSetAssignment {
	return &schedulingv1.ScheduleRuleSetAssignment{
		RuleSet: &commonv1.Ref{Id: proto.Int64(7)}, Context: &commonv1.Ref{Id: proto.Int64(context)}, EffectiveDate: from, ExpirationDate: to,
	}
}

func span(from, to string, context *commonv1.Ref) *schedulingv1.ScheduleRuleSetAssignmentSpan {
	return &schedulingv1.ScheduleRuleSetAssignmentSpan{AssignmentSpan: &schedulingv1.ScheduleRuleSetDateSpan{Start: from, End: to}, Context: context}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	type list = []*schedulingv1.ScheduleRuleSetAssignment
	byName := &commonv1.Ref{Qualifier: proto.String("SCHEDULE_GENERATION_OVERRIDE")}
	tests := []struct {
		name     string
		in       *schedulingv1.PersonScheduleRuleSets
		sequence bool
		want     []string // the days of each, by context
		contexts []int64
		code     string
	}{
		{
			name: "a sequence, in any order", sequence: true, contexts: []int64{-1},
			in:   &schedulingv1.PersonScheduleRuleSets{Assignments: list{sentAssignment(-1, "2026-02-01", "2026-02-02"), sentAssignment(-1, "2026-01-01", "")}},
			want: []string{"2026-01-01..2026-02-01", "2026-02-01..3000-01-01"},
		},
		{
			name: "a sequence of each context, up to the end of the span", sequence: true, contexts: []int64{-2, -1},
			in: &schedulingv1.PersonScheduleRuleSets{
				AssignmentSpan: span("2026-01-01", "2026-03-01", nil),
				Assignments:    list{sentAssignment(-1, "2026-01-01", ""), sentAssignment(-2, "2026-02-01", "")},
			},
			want: []string{"2026-02-01..2026-03-01", "2026-01-01..2026-03-01"},
		},
		{
			name: "a sequence that begins twice", sequence: true, code: CodeDays,
			in: &schedulingv1.PersonScheduleRuleSets{Assignments: list{sentAssignment(-1, "2026-01-01", ""), sentAssignment(-1, "2026-01-01", "")}},
		},
		{
			name: "as they are", contexts: []int64{-1}, want: []string{"2026-01-01..2026-01-05", "2026-02-01..3000-01-01"},
			in: &schedulingv1.PersonScheduleRuleSets{Assignments: list{sentAssignment(-1, "2026-01-01", "2026-01-05"), sentAssignment(-1, "2026-02-01", "3500-01-01")}},
		},
		{
			name: "two contexts may overlap", contexts: []int64{-2, -1}, want: []string{"2026-01-01..2026-01-05", "2026-01-01..2026-01-05"},
			in: &schedulingv1.PersonScheduleRuleSets{Assignments: list{sentAssignment(-1, "2026-01-01", "2026-01-05"), sentAssignment(-2, "2026-01-01", "2026-01-05")}},
		},
		{name: "a context by its name", contexts: []int64{-2}, in: &schedulingv1.PersonScheduleRuleSets{AssignmentSpan: span("2026-01-01", "2026-02-01", byName)}},
		{name: "half a span", code: CodeDay, in: &schedulingv1.PersonScheduleRuleSets{AssignmentSpan: span("2026-01-01", "", byName)}},
		{name: "a span backwards", code: CodeDays, in: &schedulingv1.PersonScheduleRuleSets{AssignmentSpan: span("2026-01-01", "2026-01-01", byName)}},
		{name: "nothing at all", code: CodeContextMissing},
		{name: "a context without a name", code: CodeContext, in: &schedulingv1.PersonScheduleRuleSets{AssignmentSpan: &schedulingv1.ScheduleRuleSetAssignmentSpan{Context: &commonv1.Ref{}}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c, err := readChange("", test.in, test.sequence)
			if test.code != "" {
				require.True(t, fault.HasCode(err, test.code), "%v", err)
				return
			}
			require.NoError(t, err)
			var got []string
			for _, a := range c.fresh {
				got = append(got, a.days.String())
			}
			assert.Equal(t, test.want, got)
			assert.Equal(t, test.contexts, c.contexts)
		})
	}
}

// Rewritten and effective assignments agree with a model that stores each day alone.
func TestDaysAgreeWithAModel(t *testing.T) {
	t.Parallel()
	const days = 40
	random := rand.New(rand.NewPCG(1, 2))
	at := func(day int) civil.Date { return civil.Beginning.AddDays(day) }
	someDays := func() civil.Range {
		from := random.IntN(days - 1)
		return civil.Range{From: at(from), To: at(from + 1 + random.IntN(days-from-1))}
	}
	type model map[int64]*[days]int64 // the rule set of each day, by context
	for range 500 {
		kept, list := model{Default: {}, GenerationOverride: {}}, []assignment{}
		for range 1 + random.IntN(6) {
			context := []int64{Default, GenerationOverride}[random.IntN(2)]
			c := change{span: someDays(), contexts: []int64{context}}
			fresh := []assignment{}
			if random.IntN(4) > 0 {
				fresh = append(fresh, assignment{context: context, ruleSet: int64(1 + random.IntN(3)), days: c.span.Intersect(someDays())})
				if fresh[0].days.Empty() {
					fresh = fresh[:0]
				}
			}
			list = rewrite(list, c, fresh)
			for day := range days {
				if c.span.Contains(at(day)) {
					kept[context][day] = 0
				}
				if len(fresh) > 0 && fresh[0].days.Contains(at(day)) {
					kept[context][day] = fresh[0].ruleSet
				}
			}
		}
		require.True(t, slices.IsSortedFunc(list, func(a, b assignment) int {
			return cmp.Or(cmp.Compare(b.context, a.context), cmp.Compare(a.days.From, b.days.From))
		}))
		window := someDays()
		for _, context := range []int64{Default, GenerationOverride} {
			var got [days]int64
			for _, holding := range effectiveRuleSets(list, context, window) {
				for day := range days {
					if holding.Days.Contains(at(day)) {
						require.Zero(t, got[day], "two rule sets on a day")
						got[day] = holding.RuleSet
					}
				}
			}
			for day := range days {
				want := kept[Default][day]
				if context == GenerationOverride && kept[GenerationOverride][day] != 0 {
					want = kept[GenerationOverride][day]
				}
				if !window.Contains(at(day)) {
					want = 0
				}
				require.Equal(t, want, got[day], "day %d of %v in %d", day, list, context)
			}
		}
	}
}
