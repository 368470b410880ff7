package paycode_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode/paycodetest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/payrule"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/workrule"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func refByName(name string) *commonv1.Ref { return &commonv1.Ref{Qualifier: &name} }

// newPayCodes gives a tenant the pay codes Regular, Overtime, Night and Bonus, which is money.
func newPayCodes(t *testing.T, pool *pg.Pool, tenantID int64) (context.Context, *paycode.Handler, map[string]int64) {
	t.Helper()
	ctx := tenant.With(t.Context(), tenantID)
	h, ids := paycode.New(pool, paycodetest.Terms{}), map[string]int64{}
	for _, p := range []*timekeepingv1.PayCode{{Name: "Regular"}, {Name: "Overtime"}, {Name: "Night"}, {Name: "Bonus", Unit: "MONEY"}} {
		made, err := h.CreatePayCode(ctx, p)
		require.NoError(t, err)
		ids[p.GetName()] = made.GetId()
	}
	return ctx, h, ids
}

// A pay code stays for as long as a rule refers to it, in whatever version, and by whatever
// name.
func TestPayCodesInUse(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	rule := func(versions ...*timekeepingv1.PayRuleVersion) *timekeepingv1.PayRule {
		return &timekeepingv1.PayRule{Name: "Hourly", EffectiveVersions: versions}
	}
	tiers := func() []*timekeepingv1.PayRuleTier {
		return []*timekeepingv1.PayRuleTier{{After: proto.Int32(480), PayCode: refByName("OVERTIME")}}
	}
	for i, c := range []struct {
		name    string
		work    *timekeepingv1.WorkRule
		pay     *timekeepingv1.PayRule
		deletes string
		says    string // "" for one that is deleted
	}{
		{"nothing", nil, nil, "Overtime", ""},
		{"a work rule", &timekeepingv1.WorkRule{Name: "Nights", DefaultPayCode: refByName("overtime")}, nil, "Overtime", `The work rule "Nights" refers to the pay code "Overtime"`},
		{"a work rule that is not active", &timekeepingv1.WorkRule{Name: "Nights", DefaultPayCode: refByName("Overtime"), Active: proto.Bool(false)}, nil, "Overtime", `The work rule "Nights"`},
		{"a work rule of another pay code", &timekeepingv1.WorkRule{Name: "Nights", DefaultPayCode: refByName("Night")}, nil, "Overtime", ""},
		{"a work rule of none", &timekeepingv1.WorkRule{Name: "Nights"}, nil, "Overtime", ""},
		{"the regular time of a pay rule", nil, rule(&timekeepingv1.PayRuleVersion{EffectiveDate: "2026-01-01", RegularPayCode: refByName("Night")}), "Night", `The pay rule "Hourly"`},
		{"the overtime of a day", nil, rule(&timekeepingv1.PayRuleVersion{EffectiveDate: "2026-01-01", DailyOvertime: tiers()}), "Overtime", `The pay rule "Hourly"`},
		{"the overtime of a week, in a former version", nil, rule(&timekeepingv1.PayRuleVersion{EffectiveDate: "2026-01-01"}, &timekeepingv1.PayRuleVersion{EffectiveDate: "1999-01-01", WeeklyOvertime: tiers()}), "Overtime", `The pay rule "Hourly"`},
		{"a pay rule that names no pay code", nil, rule(&timekeepingv1.PayRuleVersion{EffectiveDate: "2026-01-01"}), "Regular", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx, h, ids := newPayCodes(t, pool, int64(i+1))
			if c.work != nil {
				_, err := workrule.New(paycodetest.Names(pool)).CreateWorkRule(ctx, c.work)
				require.NoError(t, err)
			}
			if c.pay != nil {
				_, err := payrule.New(paycodetest.Names(pool)).CreatePayRule(ctx, c.pay)
				require.NoError(t, err)
			}
			_, err := h.DeletePayCode(ctx, &timekeepingv1.DeletePayCodeRequest{Id: ids[c.deletes]})
			if c.says == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.says)
			assert.True(t, fault.HasCode(err, paycode.CodeInUse), "%v", err)
		})
	}
}

// A work rule shows the present name of its pay code.
func TestReferencesFollowRenames(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	ctx, h, ids := newPayCodes(t, pool, 1)
	rules := workrule.New(paycodetest.Names(pool))
	created, err := rules.CreateWorkRule(ctx, &timekeepingv1.WorkRule{Name: "Bonuses", DefaultPayCode: refByName("bonus")})
	require.NoError(t, err)
	_, err = h.UpdatePayCode(ctx, &timekeepingv1.UpdatePayCodeRequest{Id: ids["Bonus"], Body: &timekeepingv1.PayCode{Name: "Reward", Unit: "MONEY"}})
	require.NoError(t, err)
	shown, err := rules.GetWorkRule(ctx, &timekeepingv1.GetWorkRuleRequest{Id: created.GetId()})
	require.NoError(t, err)
	assert.Equal(t, "Reward", shown.GetDefaultPayCode().GetQualifier())
}

// A pay code stays while a schedule refers to it.
func TestPayCodesOfSchedules(t *testing.T) {
	t.Parallel()
	ctx := tenant.With(t.Context(), 1)
	h := paycode.New(pooltest.New(t), paycodetest.Terms{ScheduleUse: `The schedule pattern template "Week"`})
	made, err := h.CreatePayCode(ctx, &timekeepingv1.PayCode{Name: "Night"})
	require.NoError(t, err)
	_, err = h.DeletePayCode(ctx, &timekeepingv1.DeletePayCodeRequest{Id: made.GetId()})
	require.ErrorContains(t, err, `The schedule pattern template "Week" refers to the pay code "Night"`)
	assert.True(t, fault.HasCode(err, paycode.CodeInUse), "%v", err)
}
