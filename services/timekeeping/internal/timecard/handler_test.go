package timecard

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leaveday"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person/persontest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/calculation"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/orgjob"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/requested"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/signoff"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardfault"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// newTimecards returns timecards of the employee 7, in Berlin, and what keeps them.
func newTimecards(t *testing.T, ctx context.Context, now func() time.Time) (*Timecards, *timecardtest.Timecards) {
	t.Helper()
	pool := pooltest.New(t)
	persontest.Add(ctx, t, pool, 7)
	timecards := timecardtest.New(pool, timecardtest.Known{}, now)
	room := leaveday.NewReader(pool, timecardtest.Known{})
	return NewTimecards(pool, timecards.Reader, requested.New(person.NewDirectory(pool, nil, nil), nil), timecards.Signoffs, room, orgjob.NewResolver(nil), nil), timecards
}

// A punch may be moved while another change of it is prepared. It is not corrected on a day that
// was not compared.
func TestChangesOfWhatMovedMeanwhile(t *testing.T) {
	t.Parallel()
	ctx := tenant.With(t.Context(), 1)
	handler, timecards := newTimecards(t, ctx, timecardtest.Noon(t, "2026-03-20"))
	timecards.Punch(ctx, t, 7, "2026-03-09T08:00", "2026-03-09T12:00")
	monday := civil.Of(2026, time.March, 9)
	timecards.SignOff(ctx, t, 7, civil.Through(monday-8, monday+1))
	read, err := timecards.Reader.Read(ctx, []int64{7}, calculation.Window{Days: civil.Through(monday, monday), Bodies: true})
	require.NoError(t, err)
	id := read[0].NonEmptyDays()[0].GetPunches()[1].GetId()

	who := person.Person{ID: 7, Number: "T-7", TimeZone: "Europe/Berlin"}
	permitted := func([]civil.Range) error { return nil }
	late := &plan{pool: handler.pool, zones: &handler.zones, who: who, days: signoff.ChangedDays{}, now: timecards.Reader.Now(t.Context()), jobs: handler.jobs}
	require.NoError(t, late.read(ctx, &timekeepingv1.TimecardChanges{Punches: &timekeepingv1.PunchChanges{Removed: []*timekeepingv1.Punch{{Id: &id}}}}))
	require.NoError(t, handler.update(ctx, who, &timekeepingv1.TimecardChanges{Punches: &timekeepingv1.PunchChanges{
		Updated: []*timekeepingv1.Punch{{Id: &id, PunchDtm: "2026-03-02T12:00:00"}},
	}}, permitted))
	err = timecards.Signoffs.Change(ctx, late.days, late.apply)
	assert.True(t, fault.HasCode(err, fault.CodeStale), err)
	// Prepared again, it is carried out.
	assert.NoError(t, handler.update(ctx, who, &timekeepingv1.TimecardChanges{Punches: &timekeepingv1.PunchChanges{Removed: []*timekeepingv1.Punch{{Id: &id}}}}, permitted))
}

func TestTimecardsAtOnceAreBounded(t *testing.T) {
	t.Parallel()
	ctx := tenant.With(t.Context(), 1)
	handler, timecards := newTimecards(t, ctx, timecardtest.Noon(t, "2026-03-10"))
	read := func(handler *Timecards, last string) error {
		list := &commonv1.RefList{Ids: []int64{7}}
		for id := range int64(81) {
			list.Ids = append(list.Ids, 1000+id)
		}
		days := &commonv1.DateRange{StartDate: "2025-01-01", EndDate: last}
		timecards, err := handler.MultiReadTimecards(ctx, &timekeepingv1.MultiReadTimecardsRequest{Where: &timekeepingv1.TimecardsWhere{Employees: list, DateRange: days}})
		metrics, metricsErr := handler.MultiReadTimecardMetrics(ctx, &timekeepingv1.MultiReadTimecardMetricsRequest{
			Where: &timekeepingv1.TimecardMetricsWhere{EmployeeSet: &timekeepingv1.TimecardEmployeeSet{Employees: list, DateRange: days}},
		})
		if err == nil && metricsErr == nil {
			assert.Len(t, timecards.GetFailure().GetDetails().GetErrorOffsets(), 81, "employees who do not exist")
			assert.Len(t, metrics.GetFailure().GetDetails().GetErrorOffsets(), 81)
			return nil
		}
		require.Error(t, err)
		require.Error(t, metricsErr)
		assert.Equal(t, fault.FromError(err).Code, fault.FromError(metricsErr).Code)
		return err
	}
	assert.True(t, fault.HasCode(read(handler, "2026-01-01"), timecardfault.CodeLimit), "82 employees on 366 days")
	finder := requested.New(person.NewDirectory(handler.pool, persontest.NobodyElse{}, nil), nil)
	handler = NewTimecards(handler.pool, timecards.Reader, finder, timecards.Signoffs, handler.room, handler.jobs, nil)
	assert.NoError(t, read(handler, "2025-12-31"), "82 employees on 365 days")
}
