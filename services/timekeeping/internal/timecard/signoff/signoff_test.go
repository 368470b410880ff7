package signoff_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person/persontest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/requested"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/signoff"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardfault"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardtest"
)

// A day that is not over is not signed off: a later punch out would never be paid.
func TestUnfinishedDaysAreNotSignedOff(t *testing.T) {
	t.Parallel()
	ctx := tenant.With(t.Context(), 1)
	pool := pooltest.New(t)
	persontest.Add(ctx, t, pool, 7)
	timecards := timecardtest.New(pool, timecardtest.Known{}, timecardtest.Noon(t, "2026-03-10"))
	handler := signoff.New(timecards.Signoffs, requested.New(person.NewDirectory(pool, nil, nil), nil))
	through := func(day string) error {
		_, err := handler.SignOffTimecard(ctx, &timekeepingv1.SignOffTimecardRequest{Employee: &commonv1.Ref{Id: proto.Int64(7)}, StartDate: "2026-03-09", EndDate: day})
		return err
	}
	timecards.Punch(ctx, t, 7, "2026-03-09T22:00")
	require.True(t, fault.HasCode(through("2026-03-10"), timecardfault.CodeNotOver), "today is not over")
	require.True(t, fault.HasCode(through("2026-03-09"), timecardfault.CodeNotOver), "the night shift goes on")

	timecards.Punch(ctx, t, 7, "2026-03-10T06:00")
	require.True(t, fault.HasCode(through("2026-03-10"), timecardfault.CodeNotOver), "today is still not over")
	require.NoError(t, through("2026-03-09"))
	assert.Equal(t, []string{"2026-03-09 WORKED Regular  28800"}, timecards.Totals(ctx, t, "2026-03-09", "2026-03-10", 7))
}
