package signoff_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leaveday"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardtest"
)

// A sign-off waits for leave that is on its way, and is refused when it was stored: the days that
// the sign-off had read do not show it.
func TestSignOffsWaitForLeave(t *testing.T) {
	t.Parallel()
	ctx := tenant.With(t.Context(), 1)
	pool := pooltest.New(t)
	timecards := timecardtest.New(pool, timecardtest.Known{}, timecardtest.Noon(t, "2026-05-01"))
	monday := civil.Of(2026, time.March, 2)
	signedOff := make(chan error, 1)
	const work pg.Unaudited = "a test"
	require.NoError(t, work.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := leaveday.Lock(ctx, tx, 7); err != nil {
			return err
		}
		go func() {
			signedOff <- timecards.Signoffs.SignOff(tenant.With(t.Context(), 1), person.Person{ID: 7, TimeZone: "UTC"}, civil.Range{From: monday, To: monday + 7})
		}()
		require.Eventually(t, func() bool {
			var waiting bool
			err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
				AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`).Scan(&waiting)
			return err == nil && waiting
		}, time.Minute, 10*time.Millisecond)
		_, err := tx.Exec(ctx, `INSERT INTO leave_edit_head (tenant_id, employee_id, version) VALUES (1, 7, 5)`)
		return err
	}))
	err := <-signedOff
	require.True(t, fault.HasStatus(err, 409), "%v", err)
	timecards.SignOff(ctx, t, 7, civil.Range{From: monday, To: monday + 7})
}
