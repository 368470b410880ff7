package payrule

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// The example of fullDay in docs/pay-rules.md is in the contract case scheduling/time_off/day.
func TestFullDay(t *testing.T) {
	t.Parallel()
	rules := compiledRules(t, &timekeepingv1.PayRule{Id: proto.Int64(1), Name: "Staff", EffectiveVersions: []*timekeepingv1.PayRuleVersion{
		{EffectiveDate: "2031-01-01"}, {EffectiveDate: "2031-02-01", FullDay: proto.Int32(720)},
	}})
	staff := &commonv1.Ref{Qualifier: proto.String("staff")}
	assert.Equal(t, int64(28800), rules.FullDay(nil, civil.Of(2031, 2, 1)), "without a rule")
	assert.Equal(t, int64(28800), rules.FullDay(staff, civil.Of(2030, 12, 31)), "before the rule")
	assert.Equal(t, int64(28800), rules.FullDay(staff, civil.Of(2031, 1, 31)))
	assert.Equal(t, int64(43200), rules.FullDay(staff, civil.Of(2031, 2, 1)))
}
