package signoff_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/calculation"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/signoff"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardtest"
)

// A pay code edit of the timecard that comes on a day that was signed off empty is shown when the day alone
// is read.
func TestEditsOfEmptySignedDaysAreShown(t *testing.T) {
	t.Parallel()
	monday := civil.Of(2026, time.March, 2)
	ctx := tenant.With(t.Context(), 1)
	timecards := timecardtest.New(pooltest.New(t), timecardtest.Known{}, timecardtest.Noon(t, "2026-05-01"))
	timecards.SignOff(ctx, t, 7, civil.Range{From: monday, To: monday + 7})
	require.NoError(t, timecards.Signoffs.Change(ctx, signoff.ChangedDays{7: {monday + 2: true}}, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO timecard_edit (tenant_id, employee_id, apply_date, seconds, days, money, body) VALUES (1, 7, $1, 3600, 0, 0, '')`, monday+2)
		return err
	}))
	list, err := timecards.Reader.Read(ctx, []int64{7}, calculation.Window{Days: civil.Through(monday+2, monday+2), Bodies: true})
	require.NoError(t, err)
	days := list[0].NonEmptyDays()
	require.Len(t, days, 1)
	require.Len(t, days[0].GetPayCodeEdits(), 1)
	assert.Equal(t, "ADDED", days[0].GetPayCodeEdits()[0].GetSignOffChange())
}
