package signoff_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode/paycodetest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/payrule"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/signoff"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardtest"
)

// A correction of a signed-off day is relative to the pay that the sign-off recorded, and not to
// the pay by the present rule: a day without punches pays nothing in the end.
func TestCorrectionsStartFromWhatWasSigned(t *testing.T) {
	t.Parallel()
	ctx := tenant.With(t.Context(), 1)
	pool := pooltest.New(t)
	timecards := timecardtest.New(pool, addPayRule(t, ctx, pool, &timekeepingv1.PayRuleVersion{}, 7), timecardtest.Noon(t, "2026-03-20"))
	monday := civil.Of(2026, time.March, 2)
	timecards.Punch(ctx, t, 7, "2026-03-02T08:00", "2026-03-02T16:00", "2026-03-04T08:00", "2026-03-04T16:00")
	timecards.SignOff(ctx, t, 7, civil.Range{From: monday, To: monday + 7})
	require.Equal(t, map[string]int64{"Regular": 16 * 3600}, byCode(t, ctx, timecards, 7))

	rules := payrule.New(paycodetest.Names(pool))
	list, err := rules.ListPayRules(ctx, &timekeepingv1.ListPayRulesRequest{})
	require.NoError(t, err)
	rule := list.GetItems()[0]
	rule.EffectiveVersions[0].Breaks = []*timekeepingv1.PayRuleBreak{{After: proto.Int32(360), Length: proto.Int32(30)}}
	_, err = rules.UpdatePayRule(ctx, &timekeepingv1.UpdatePayRuleRequest{Id: rule.GetId(), Body: rule})
	require.NoError(t, err)

	days := signoff.ChangedDays{}
	days.Add(7, monday)
	require.NoError(t, timecards.Signoffs.Change(ctx, days, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `DELETE FROM punch WHERE tenant_id = 1 AND employee_id = 7 AND at < '2026-03-03'`)
		return err
	}))
	assert.Equal(t, map[string]int64{"Regular": 8 * 3600}, byCode(t, ctx, timecards, 7), "Monday pays nothing, and the untouched Wednesday stays as it was signed off")
}
