package signoff_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/employeeday"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardtest"
)

// interrupted is a source after whose next read something happens.
type interrupted struct {
	timecardtest.Known
	then func()
}

func (i *interrupted) Read(ctx context.Context, ids []int64, days civil.Range, wages bool) (map[int64]employeeday.Days, error) {
	out, err := i.Known.Read(ctx, ids, days, wages)
	if then := i.then; then != nil {
		i.then = nil
		then()
	}
	return out, err
}

// A comparison that read the schedule before another one starts again: the later state of the schedule
// is paid, also if the other one found no difference.
func TestComparisonsBesideEachOther(t *testing.T) {
	t.Parallel()
	for name, last := range map[string][]int64{"another change": {5}, "the change is undone": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := tenant.With(t.Context(), 1)
			source := &interrupted{Known: timecardtest.Known{}}
			timecards := timecardtest.New(pooltest.New(t), source, timecardtest.Noon(t, "2026-05-01"))
			timecards.SignOff(ctx, t, 7, civil.Range{From: monday, To: monday + 7})
			replan(source.Known, 7, nil, training(monday+2, 3))
			want := map[string]int64{}
			source.then = func() {
				replan(source.Known, 7, nil)
				for _, hours := range last {
					replan(source.Known, 7, nil, training(monday+2, hours))
					want["Training"] = hours * 3600
				}
				compareMarch(ctx, t, timecards, 7)
			}
			compareMarch(ctx, t, timecards, 7)
			assert.Equal(t, want, byCode(t, ctx, timecards, 7))
		})
	}
}

// A comparison that read the schedule before the timecard was opened and signed off again starts again.
func TestComparisonsBesideSignOffs(t *testing.T) {
	t.Parallel()
	ctx := tenant.With(t.Context(), 1)
	source := &interrupted{Known: timecardtest.Known{}}
	timecards := timecardtest.New(pooltest.New(t), source, timecardtest.Noon(t, "2026-05-01"))
	timecards.SignOff(ctx, t, 7, civil.Range{From: monday, To: monday + 7})
	replan(source.Known, 7, nil, training(monday+2, 3))
	source.then = func() {
		require.NoError(t, timecards.Signoffs.Reopen(ctx, 7, monday))
		replan(source.Known, 7, nil, training(monday+3, 1))
		timecards.SignOff(ctx, t, 7, civil.Range{From: monday, To: monday + 7})
	}
	compareMarch(ctx, t, timecards, 7)
	assert.Equal(t, map[string]int64{"Training": 3600}, byCode(t, ctx, timecards, 7))
}

// A punch that read the schedule before a comparison is paid by the schedule of the comparison.
func TestPunchesBesideComparisons(t *testing.T) {
	t.Parallel()
	for name, older := range map[string]bool{"of a sign-off": false, "of an older sign-off": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := tenant.With(t.Context(), 1)
			pool := pooltest.New(t)
			source := &interrupted{Known: addPayRule(t, ctx, pool, &timekeepingv1.PayRuleVersion{ScheduleRounding: rounding()}, 7)}
			timecards := timecardtest.New(pool, source, timecardtest.Noon(t, "2026-05-01"))
			timecards.SignOff(ctx, t, 7, civil.Range{From: monday, To: monday + 7})
			if older {
				forgetSchedules(ctx, t, pool)
			}
			source.then = func() {
				replan(source.Known, 7, []*schedulingv1.EmployeeShift{shift(monday, 8, 16)})
				compareMarch(ctx, t, timecards, 7)
			}
			timecards.Punch(ctx, t, 7, "2026-03-02T07:45", "2026-03-02T16:00")
			assert.Equal(t, map[string]int64{"Regular": 8 * 3600}, byCode(t, ctx, timecards, 7))
			compareMarch(ctx, t, timecards, 7)
			assert.Equal(t, map[string]int64{"Regular": 8 * 3600}, byCode(t, ctx, timecards, 7))
		})
	}
}
