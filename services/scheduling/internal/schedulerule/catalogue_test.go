package schedulerule_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulerule"
)

// Ids are stored: they count from 1 in the order of the catalogue. A rule that is found by its id
// is found by its name.
func TestEveryRuleIsFoundByIDAndName(t *testing.T) {
	t.Parallel()
	for i, rule := range schedulerule.Rules() {
		t.Run(rule.Name, func(t *testing.T) {
			t.Parallel()
			assert.EqualValues(t, i+1, rule.ID)
			byID, known := schedulerule.Find(rule.ID, "anything")
			assert.True(t, known)
			assert.Equal(t, rule, byID)
			byName, known := schedulerule.Find(0, strings.ToLower(rule.Name))
			assert.True(t, known)
			assert.Equal(t, rule, byName)
			message := rule.Message()
			assert.NotEmpty(t, message.GetRuleCategory().GetName())
			assert.NotEmpty(t, rule.Parameters)
			for k, p := range rule.Parameters {
				assert.Empty(t, p.Check(p.Default))
				kind := message.GetRuleParameters()[k].GetRuleParameterType()
				id, known := schedulerule.FindParameterType(&schedulingv1.ScheduleRuleParameterType{Name: strings.ToLower(kind.GetName())})
				assert.True(t, known)
				assert.Equal(t, p.Type, id)
				assert.NotZero(t, kind.GetParameterValueType().GetId())
			}
		})
	}
}

func TestUnknownRulesAreNotFound(t *testing.T) {
	t.Parallel()
	_, known := schedulerule.Find(99, "ERULE_MAX_HOURS_DAY")
	assert.False(t, known, "the id wins")
	_, known = schedulerule.FindSeverity(&schedulingv1.ScheduleRuleProperty{})
	assert.False(t, known)
	_, known = schedulerule.FindParameterType(&schedulingv1.ScheduleRuleParameterType{})
	assert.False(t, known)
}

func TestValuesAreBounded(t *testing.T) {
	t.Parallel()
	rule, _ := schedulerule.Find(schedulerule.MaxDaysInRow, "")
	p := rule.Parameters[0]
	for _, value := range []float64{0, -1, 1.5, 32, math.NaN(), math.Inf(1)} {
		t.Run(fmt.Sprint(value), func(t *testing.T) {
			assert.NotEmpty(t, p.Check(value), value)
		})
	}
	assert.Empty(t, p.Check(31))
}
