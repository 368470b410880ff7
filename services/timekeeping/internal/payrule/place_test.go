package payrule

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode/paycodetest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/pooltest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// Errors name the place of a fault in the request, not the place where it would be stored.
func TestErrorsNameElementsAsTheyWereSent(t *testing.T) {
	t.Parallel()
	pool, ctx := pooltest.New(t), tenant.With(t.Context(), 1)
	for _, p := range []*timekeepingv1.PayCode{{Name: "Overtime"}, {Name: "Bonus", Unit: "MONEY"}} {
		_, err := paycode.New(pool, paycodetest.Terms{}).CreatePayCode(ctx, p)
		require.NoError(t, err)
	}
	const later, earlier = "2026-01-01", "1999-01-01"
	for _, c := range []struct {
		name, says string
		versions   []*dated
	}{
		{"overtime", "effectiveVersions[0].weeklyOvertime[1].payCode is missing", []*dated{{EffectiveDate: later, WeeklyOvertime: []*tier{{After: minutes(600), PayCode: refByName("Overtime")}, {After: minutes(480)}}}}},
		{"the pay code of a version", "effectiveVersions[0].regularPayCode must be", []*dated{{EffectiveDate: later, RegularPayCode: refByName("Bonus")}, {EffectiveDate: earlier}}},
		{"the pay code of overtime", "effectiveVersions[1].dailyOvertime[0].payCode must be", []*dated{{EffectiveDate: later}, {EffectiveDate: earlier, DailyOvertime: []*tier{
			{After: minutes(600), PayCode: refByName("Bonus")}, {After: minutes(480), PayCode: refByName("Overtime")},
		}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := New(paycodetest.Names(pool)).CreatePayRule(ctx, &timekeepingv1.PayRule{Name: c.name, EffectiveVersions: c.versions})
			require.ErrorContains(t, err, c.says)
		})
	}
	t.Run("stored in order", func(t *testing.T) {
		t.Parallel()
		made, err := New(paycodetest.Names(pool)).CreatePayRule(ctx, &timekeepingv1.PayRule{Name: "Hourly", EffectiveVersions: []*dated{{EffectiveDate: later}, {EffectiveDate: earlier, DailyOvertime: []*tier{
			{After: minutes(600), PayCode: refByName("Overtime")}, {After: minutes(480), PayCode: refByName("Overtime")},
		}}}})
		require.NoError(t, err)
		first := made.GetEffectiveVersions()[0]
		assert.Equal(t, earlier, first.GetEffectiveDate())
		assert.EqualValues(t, 480, first.GetDailyOvertime()[0].GetAfter())
	})
}
