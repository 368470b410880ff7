package calculation_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/personzone"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/employeeday"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person/persontest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/calculation"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardtest"
)

const moving pg.Unaudited = "a test changes the time zone of a person without an event"

// moves changes the time zone of an employee of tenant 1 from a day on. It was Berlin before.
func moves(t *testing.T, pool *pg.Pool, employee int64, zone string, from civil.Date) {
	t.Helper()
	ctx := tenant.With(t.Context(), 1)
	encoded, err := personzone.Encode(personzone.Append("Europe/Berlin", nil, zone, from))
	require.NoError(t, err)
	_, err = moving.Exec(ctx, pool, `UPDATE person SET time_zone = $2, time_zones = $3 WHERE tenant_id = 1 AND id = $1`, employee, zone, encoded)
	require.NoError(t, err)
}

// shiftOn returns a scheduled shift from one hour of a day to another one.
func shiftOn(day civil.Date, start, end int32) *schedulingv1.EmployeeShift {
	return &schedulingv1.EmployeeShift{Day: int32(day), Segments: []*schedulingv1.EmployeeShiftSegment{{StartSecond: start * 3600, EndSecond: end * 3600}}}
}

// Days before a change of the time zone keep totals and exceptions; the schedule of later days is
// by the new clock.
func TestTimeZonesHoldFromTheirDay(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	ctx := tenant.With(t.Context(), 1)
	first := civil.Of(2026, 3, 2)
	days := civil.Range{From: first, To: first + 14}
	zones := []string{"Pacific/Auckland", "America/Los_Angeles", "Asia/Kolkata", "UTC", "Europe/London"}
	known := timecardtest.Known{}
	timecards := timecardtest.New(pool, known, timecardtest.Noon(t, "2026-04-01"))
	for employee := int64(1); employee <= 40; employee++ {
		random := rand.New(rand.NewPCG(uint64(employee), 0))
		persontest.Add(ctx, t, pool, employee)
		schedule, punches := &schedulingv1.EmployeeDays{EmployeeId: employee}, []string{}
		for day := days.From; day < days.To; day++ {
			hour := []int32{6, 8, 14, 22}[random.IntN(4)]
			if random.IntN(4) > 0 {
				schedule.Shifts = append(schedule.Shifts, shiftOn(day, hour, hour+8))
			}
			for i, at := range []int32{hour * 60, hour*60 + 480} {
				if random.IntN(8) > 0 {
					at += int32(random.IntN(40)) - 20
					punches = append(punches, (day+civil.Date(at/1440)).String()+fmt.Sprintf("T%02d:%02d", at%1440/60, at%60))
				} else if i == 0 && random.IntN(2) == 0 {
					break // The employee is absent.
				}
			}
		}
		known[employee] = employeeday.Days{Schedule: schedule}
		timecards.Punch(ctx, t, employee, punches...)
	}
	read := func(employee int64, days civil.Range) []*timekeepingv1.TimecardDay {
		list, err := timecards.Reader.Read(ctx, []int64{employee}, calculation.Window{Days: days, Bodies: true})
		require.NoError(t, err)
		return list[0].NonEmptyDays()
	}
	for employee := int64(1); employee <= 40; employee++ {
		changed := first + civil.Date(employee%14)
		past := civil.Range{From: first - 7, To: changed}
		before := read(employee, past)
		moves(t, pool, employee, zones[employee%5], changed)
		after := read(employee, past)
		require.Equal(t, len(before), len(after))
		for i := range before {
			assert.True(t, proto.Equal(before[i], after[i]), "employee %d moves on %s:\n%v\n%v", employee, changed, before[i], after[i])
		}
	}
}

// A shift that is punched on the clock of the new time zone is on its schedule. A shift of the
// previous day is on the schedule of the old time zone.
func TestSchedulesFollowTheZoneOfTheirDay(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	ctx := tenant.With(t.Context(), 1)
	persontest.Add(ctx, t, pool, 7)
	monday := civil.Of(2026, 3, 2)
	schedule := &schedulingv1.EmployeeDays{EmployeeId: 7, Shifts: []*schedulingv1.EmployeeShift{shiftOn(monday, 8, 16), shiftOn(monday+1, 8, 16)}}
	timecards := timecardtest.New(pool, timecardtest.Known{7: {Schedule: schedule}}, timecardtest.Noon(t, "2026-04-01"))
	moves(t, pool, 7, "America/New_York", monday+1)
	// 14:00 in Berlin is 08:00 in New York.
	timecards.Punch(ctx, t, 7, "2026-03-02T08:00", "2026-03-02T16:00", "2026-03-03T14:00", "2026-03-03T22:00")
	list, err := timecards.Reader.Read(ctx, []int64{7}, calculation.Window{Days: civil.Through(monday, monday+1), Bodies: true})
	require.NoError(t, err)
	read := list[0].NonEmptyDays()
	require.Len(t, read, 2)
	for _, day := range read {
		assert.Empty(t, day.GetExceptions(), "%v", day)
		assert.True(t, day.GetWorkedShifts()[0].GetIsScheduled())
	}
}
