package wageworkrule

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// All ranges of days end at the same job on each page, so that one cursor continues all of them.
func TestPagesByCursorHaveEachJobOnceInEachRange(t *testing.T) {
	t.Parallel()
	ranges := []string{"A B C D E", "B D", "", "E"}
	var pages [][]string
	after := ""
	for page := 0; page == 0 || after != ""; page++ {
		require.Less(t, page, 10, "the pages must end")
		req := &commonsv1.MultiReadWageWorkRulesRequest{After: &after, Where: &commonsv1.WageWorkRuleWhere{Count: proto.Int64(2)}}
		s, err := newSelection(req, req.GetWhere(), civil.Range{From: civil.Beginning, To: civil.Forever})
		require.NoError(t, err)
		person := &commonsv1.PersonWageWorkRules{}
		for _, jobs := range ranges {
			var rules []*commonsv1.WageWorkRuleOverride
			for _, job := range strings.Fields(jobs) {
				rules = append(rules, &commonsv1.WageWorkRuleOverride{Job: &commonv1.Ref{Qualifier: &job}})
			}
			person.EffectiveDatedWageWorkRules = append(person.EffectiveDatedWageWorkRules, &commonsv1.EffectiveDatedWageWorkRules{WageWorkRules: s.page(rules)})
		}
		after = s.cut([]*commonsv1.PersonWageWorkRules{person})
		var shown []string
		for _, days := range person.GetEffectiveDatedWageWorkRules() {
			var jobs []string
			for _, rule := range days.GetWageWorkRules() {
				jobs = append(jobs, rule.GetJob().GetQualifier())
			}
			shown = append(shown, strings.Join(jobs, " "))
		}
		pages = append(pages, shown)
	}
	assert.Equal(t, [][]string{{"A B", "B", "", ""}, {"C D", "D", "", ""}, {"E", "", "", "E"}}, pages)
}
