package signoff_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardtest"
)

// Random schedules change after random sign-offs, with punches that come late and events that come in any
// order: the corrections add up to the totals of a twin without a sign-off.
func TestSchedulesChangeAfterSignOffs(t *testing.T) {
	t.Parallel()
	ctx := tenant.With(t.Context(), 1)
	pool := pooltest.New(t)
	ids := make([]int64, 2*seeds)
	for i := range ids {
		ids[i] = int64(i + 1)
	}
	known := addPayRule(t, ctx, pool, &timekeepingv1.PayRuleVersion{WeeklyOvertime: overtime(30 * 60), ScheduleRounding: rounding()}, ids...)
	timecards := timecardtest.New(pool, known, timecardtest.Noon(t, "2026-05-01"))
	for seed := range seeds {
		m := &month{Timecards: timecards, pool: pool, known: known, random: rand.New(rand.NewPCG(5, uint64(seed))), employee: ids[2*seed], twin: ids[2*seed+1]}
		m.run(ctx, t, seed)
	}
}

// month is a random month of an employee, and of a twin who is never signed off.
type month struct {
	*timecardtest.Timecards
	pool           *pg.Pool
	known          timecardtest.Known
	random         *rand.Rand
	employee, twin int64
	shifts         []*schedulingv1.EmployeeShift
	edits          []*schedulingv1.EmployeePayCodeEdit
	log            []string
}

func (m *month) day() civil.Date { return monday + civil.Date(m.random.IntN(26)) }

// run has random changes happen, and compares the totals of both employees after each.
func (m *month) run(ctx context.Context, t *testing.T, seed int) {
	t.Helper()
	for step := range 40 {
		switch m.random.IntN(6) {
		case 0, 1:
			m.punch(ctx, t)
		case 2:
			if m.random.IntN(3) == 0 {
				m.open(ctx, t)
			} else {
				m.signOff(ctx, t)
			}
		default:
			m.replan(ctx, t)
		}
		if step%4 != 3 {
			continue // Several changes may come before they are compared.
		}
		m.handle(ctx, t)
		require.Equal(t, byCode(t, ctx, m.Timecards, m.twin), byCode(t, ctx, m.Timecards, m.employee), "seed %d: %v", seed, m.log)
	}
}

// punch adds a pair of punches near the times of shifts.
func (m *month) punch(ctx context.Context, t *testing.T) {
	t.Helper()
	day, hour := m.day(), 6+6*m.random.IntN(3)
	from, to := fmt.Sprintf("%sT%02d:%02d", day, hour, m.random.IntN(60)), fmt.Sprintf("%sT%02d:%02d", day, hour+4, m.random.IntN(60))
	m.log = append(m.log, "punch "+from+" "+to)
	for _, id := range []int64{m.employee, m.twin} {
		m.Punch(ctx, t, id, from, to)
	}
}

// replan adds or removes an entry of the schedule, and requests a comparison of its day.
func (m *month) replan(ctx context.Context, t *testing.T) {
	t.Helper()
	day := m.day()
	switch n := m.random.IntN(5); {
	case n == 0 && len(m.shifts) > 0:
		at := m.random.IntN(len(m.shifts))
		day = civil.Date(m.shifts[at].GetDay())
		m.shifts = append(m.shifts[:at:at], m.shifts[at+1:]...)
	case n == 1 && len(m.edits) > 0:
		at := m.random.IntN(len(m.edits))
		day = civil.Date(m.edits[at].GetDay())
		m.edits = append(m.edits[:at:at], m.edits[at+1:]...)
	case n < 4:
		start := int32(6 + 6*m.random.IntN(3))
		m.shifts = append(m.shifts[:len(m.shifts):len(m.shifts)], shift(day, start, start+4))
	default:
		e := training(day, int64(m.random.IntN(8)))
		if m.random.IntN(2) == 0 {
			e.Amount.Seconds, e.Amount.Halves = 0, int32(1+m.random.IntN(2))
		}
		m.edits = append(m.edits[:len(m.edits):len(m.edits)], e)
	}
	m.log = append(m.log, fmt.Sprintf("plan %s: %v %v", day, m.shifts, m.edits))
	for _, id := range []int64{m.employee, m.twin} {
		replan(m.known, id, sortShifts(m.shifts), m.edits...)
	}
	require.NoError(t, m.Signoffs.RequestComparisons(ctx, []int64{m.employee, m.twin}, civil.Through(day, day+civil.Date(m.random.IntN(3)))))
}

// signOff signs off more days, unless they are signed off already.
func (m *month) signOff(ctx context.Context, t *testing.T) {
	t.Helper()
	through := m.day()
	m.log = append(m.log, "sign off through "+through.String())
	requireUnlessRefused(t, m.Signoffs.SignOff(ctx, berliner(m.employee), civil.Through(monday, through)))
}

// open removes a sign-off.
func (m *month) open(ctx context.Context, t *testing.T) {
	t.Helper()
	from := m.day()
	m.log = append(m.log, "open from "+from.String())
	requireUnlessRefused(t, m.Signoffs.Reopen(ctx, m.employee, from))
}

// berliner returns an employee in Berlin.
func berliner(id int64) person.Person { return person.Person{ID: id, TimeZone: "Europe/Berlin"} }

// requireUnlessRefused fails after an error, unless the request was refused.
func requireUnlessRefused(t *testing.T, err error) {
	t.Helper()
	if !fault.HasStatus(err, http.StatusBadRequest) {
		require.NoError(t, err)
	}
}

// sortShifts returns shifts by day and start.
func sortShifts(list []*schedulingv1.EmployeeShift) []*schedulingv1.EmployeeShift {
	return slices.SortedStableFunc(slices.Values(list), func(a, b *schedulingv1.EmployeeShift) int {
		return cmp.Or(cmp.Compare(a.GetDay(), b.GetDay()), cmp.Compare(a.GetSegments()[0].GetStartSecond(), b.GetSegments()[0].GetStartSecond()))
	})
}

// handle handles the requested comparisons in a random order, some of them twice.
func (m *month) handle(ctx context.Context, t *testing.T) {
	t.Helper()
	list := takeRequests(ctx, t, m.pool)
	list = append(list, list[:len(list)/2]...)
	m.random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	handle(ctx, t, m.Timecards, list)
}
