package leavecasepolicy_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/testkit/faulttest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavecase"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavecasepolicy"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavepolicy"
)

func TestRulesThatCasesAreGiven(t *testing.T) {
	t.Parallel()
	ctx, w := newFixture(t)
	for _, c := range []struct {
		name     string
		employee int64
		status   string
		sent     *timekeepingv1.LeaveCaseRule
		code     string // "" for one that holds from the day
		from     string
	}{
		{"from the first day on", withProfile, "Open", &timekeepingv1.LeaveCaseRule{Rule: refByName("Short")}, "", "2026-03-02"},
		{"from the last day on", withProfile, "Open", &timekeepingv1.LeaveCaseRule{Rule: refByName("short"), EffectiveDate: "2026-03-31"}, "", "2026-03-31"},
		{"of a submitted case", withProfile, "Submitted", &timekeepingv1.LeaveCaseRule{Rule: refByName("Short")}, "", "2026-03-02"},
		{"without a profile", withoutProfile, "Open", &timekeepingv1.LeaveCaseRule{Rule: refByName("Long")}, "", "2026-03-02"},
		{"none", withProfile, "Open", &timekeepingv1.LeaveCaseRule{}, leavepolicy.CodeMissing, ""},
		{"with an id", withProfile, "Open", &timekeepingv1.LeaveCaseRule{Id: proto.Int64(1), Rule: refByName("Short")}, fault.CodeInput, ""},
		{"that is not there", withProfile, "Open", &timekeepingv1.LeaveCaseRule{Rule: refByName("Never")}, leavepolicy.CodeUnknown, ""},
		{"of another profile", withProfile, "Open", &timekeepingv1.LeaveCaseRule{Rule: refByName("Long")}, leavecasepolicy.CodeNotInProfile, ""},
		{"that is not active", withoutProfile, "Open", &timekeepingv1.LeaveCaseRule{Rule: refByName("Past")}, leavecasepolicy.CodeNotInProfile, ""},
		{"before the case", withProfile, "Open", &timekeepingv1.LeaveCaseRule{Rule: refByName("Short"), EffectiveDate: "2026-03-01"}, leavecasepolicy.CodeRuleDay, ""},
		{"after the case", withProfile, "Open", &timekeepingv1.LeaveCaseRule{Rule: refByName("Short"), EffectiveDate: "2026-04-01"}, leavecasepolicy.CodeRuleDay, ""},
		{"from no day on", withProfile, "Open", &timekeepingv1.LeaveCaseRule{Rule: refByName("Short"), EffectiveDate: "2026-02-30"}, fault.CodeDate, ""},
		{"of a closed case", withProfile, "Closed", &timekeepingv1.LeaveCaseRule{Rule: refByName("Short")}, leavecase.CodeClosed, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ref := w.newCase(ctx, t, c.employee, c.status)
			c.sent.LeaveCase = ref
			made, err := w.rules.CreateLeaveCaseRule(ctx, c.sent)
			faulttest.RequireCode(t, c.code, err)
			list, listErr := w.rules.ListLeaveCaseRules(ctx, &timekeepingv1.ListLeaveCaseRulesRequest{LeaveCaseId: ref.Id})
			require.NoError(t, listErr)
			if c.code != "" {
				assert.Empty(t, list.GetItems())
				return
			}
			assert.Equal(t, c.from, made.GetEffectiveDate())
			require.Len(t, list.GetItems(), 1)
			assert.True(t, proto.Equal(made, list.GetItems()[0]), "%v", list)
			found, err := w.cases.GetLeaveCase(ctx, &timekeepingv1.GetLeaveCaseRequest{Id: ref.GetId()})
			require.NoError(t, err)
			assert.Equal(t, "Open", found.GetStatus().GetName(), "a rule opens what was submitted")
		})
	}
	t.Run("of no case", func(t *testing.T) {
		t.Parallel()
		_, err := w.rules.CreateLeaveCaseRule(ctx, &timekeepingv1.LeaveCaseRule{Rule: refByName("Short")})
		faulttest.RequireCode(t, leavecase.CodeCaseMissing, err)
	})
}

func TestRulesOfCasesChange(t *testing.T) {
	t.Parallel()
	ctx, w := newFixture(t)
	other := w.newCase(ctx, t, withoutProfile, "Open")
	for _, c := range []struct {
		name string
		sent *timekeepingv1.LeaveCaseRule
		code string // "" if the request leads to want
		want string
	}{
		{"to another rule", &timekeepingv1.LeaveCaseRule{Rule: refByName("Long")}, "", "2026-03-02 Long"},
		{"to another day", &timekeepingv1.LeaveCaseRule{EffectiveDate: "2026-03-05"}, "", "2026-03-05 Short"},
		{"to the day of another rule", &timekeepingv1.LeaveCaseRule{EffectiveDate: "2026-03-10"}, leavecasepolicy.CodeRuleDay, "2026-03-02 Short"},
		{"to a day outside of the case", &timekeepingv1.LeaveCaseRule{EffectiveDate: "2026-04-01"}, leavecasepolicy.CodeRuleDay, "2026-03-02 Short"},
		{"to another case", &timekeepingv1.LeaveCaseRule{LeaveCase: other}, fault.CodeInput, "2026-03-02 Short"},
		{"with another id", &timekeepingv1.LeaveCaseRule{Id: proto.Int64(1 << 40)}, leavepolicy.CodeOtherID, "2026-03-02 Short"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ref := w.newCase(ctx, t, withoutProfile, "Open")
			rule, err := w.rules.CreateLeaveCaseRule(ctx, &timekeepingv1.LeaveCaseRule{LeaveCase: ref, Rule: refByName("Short")})
			require.NoError(t, err)
			_, err = w.rules.CreateLeaveCaseRule(ctx, &timekeepingv1.LeaveCaseRule{LeaveCase: ref, Rule: refByName("Long"), EffectiveDate: "2026-03-10"})
			require.NoError(t, err)
			_, err = w.rules.UpdateLeaveCaseRule(ctx, &timekeepingv1.UpdateLeaveCaseRuleRequest{Id: rule.GetId(), Body: c.sent})
			faulttest.RequireCode(t, c.code, err)
			now, err := w.rules.GetLeaveCaseRule(ctx, &timekeepingv1.GetLeaveCaseRuleRequest{Id: rule.GetId()})
			require.NoError(t, err)
			assert.Equal(t, c.want, now.GetEffectiveDate()+" "+now.GetRule().GetName())
		})
	}
	t.Run("after they were deleted", func(t *testing.T) {
		t.Parallel()
		rule, err := w.rules.CreateLeaveCaseRule(ctx, &timekeepingv1.LeaveCaseRule{LeaveCase: w.newCase(ctx, t, withProfile, "Open"), Rule: refByName("Short")})
		require.NoError(t, err)
		_, err = w.rules.DeleteLeaveCaseRule(ctx, &timekeepingv1.DeleteLeaveCaseRuleRequest{Id: rule.GetId()})
		require.NoError(t, err)
		_, err = w.rules.UpdateLeaveCaseRule(ctx, &timekeepingv1.UpdateLeaveCaseRuleRequest{Id: rule.GetId(), Body: &timekeepingv1.LeaveCaseRule{}})
		faulttest.RequireCode(t, leavecasepolicy.CodeCaseRuleUnknown, err)
	})
}

func TestCasesHaveABoundedNumberOfRules(t *testing.T) {
	t.Parallel()
	ctx, w := newFixture(t)
	made, err := w.cases.CreateLeaveCase(ctx, &timekeepingv1.LeaveCase{
		Employee: &timekeepingv1.LeaveEmployee{Id: proto.Int64(withoutProfile)}, Category: refByName("Medical"), Reason: refByName("Surgery"), Frequency: refByName("Continuous"),
		Status: refByName("Open"), ApprovalStatus: refByName("Approved"), StartDate: "2026-01-01", RequestDate: "2026-01-01", FrequencyEffectiveDate: "2026-01-01", CaseCode: "Long",
	})
	require.NoError(t, err)
	day := civil.Of(2026, time.January, 1)
	for i := range 201 {
		_, err := w.rules.CreateLeaveCaseRule(ctx, &timekeepingv1.LeaveCaseRule{
			LeaveCase: &commonv1.Ref{Id: made.Id}, Rule: refByName("Short"), EffectiveDate: (day + civil.Date(i)).String(),
		})
		if i < 200 {
			require.NoError(t, err)
			continue
		}
		faulttest.RequireCode(t, leavecasepolicy.CodeRuleDay, err)
	}
}
