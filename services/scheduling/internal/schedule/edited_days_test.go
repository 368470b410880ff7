package schedule_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employeeday"
)

// The edited days of a random schedule are those days of all that have a pay code edit. Time off
// takes nothing of their shifts.
func TestEditedDaysAreAmongAllDays(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	handler := employeeday.New(f.Pool, f.reader)
	random := rand.New(rand.NewPCG(5, 141))
	first := day(t, "2025-01-01")
	const days, people = 390, 6
	id := int64(3_000_000)
	for employee := range int64(people) {
		f.employee(employee+1, []string{"UTC", "Europe/Berlin"}[employee%2])
		for from := first - 20; from < first+days; {
			to := from + 1 + civil.Date(random.IntN(150))
			pattern, length := randomPattern(random)
			f.span(span{employee: employee + 1, from: from.String(), to: to.String(), pattern: f.pattern(pattern), position: random.IntN(length)})
			from = to + civil.Date(random.IntN(9))
		}
		for range 40 {
			id++
			from := first - 5 + civil.Date(random.IntN(days+10))
			to := from + civil.Date(max(0, random.IntN(8)-4))
			switch random.IntN(4) {
			case 0:
				f.item(id, employee+1, "SHIFT", from.String(), from.String(), &schedulingv1.Shift{
					StartDateTime: from.At(9 * 3600).String(), EndDateTime: from.At(12 * 3600).String(), Locked: proto.Bool(false),
				})
			case 1:
				f.covering(id, employee+1, from.String(), from.String(), amount("20:00", 8*3600)) // At night.
			default:
				f.covering(id, employee+1, from.String(), to.String(), symbolic([]string{"FULL_DAY", "HALF_DAY"}[random.IntN(2)]))
			}
		}
		if random.IntN(2) == 0 {
			f.lock(employee+1, (first + 100).String(), (first + 130).String())
		}
	}
	read := func(employee int64, from, to civil.Date, only bool) *schedulingv1.ReadEmployeeDaysResponse {
		t.Helper()
		response, err := handler.ReadEmployeeDays(f.Ctx, &schedulingv1.ReadEmployeeDaysRequest{EmployeeIds: []int64{employee}, From: int32(from), To: int32(to), OnlyEditedDays: only})
		require.NoError(t, err)
		require.Len(t, response.GetEmployees(), 1)
		return response
	}
	for employee := range int64(people) {
		for _, window := range []civil.Range{{From: first, To: first + days}, {From: first + 3, To: first + 50}, {From: first + 70, To: first + 140}} {
			all, edited := read(employee+1, window.From, window.To, false).GetEmployees()[0], read(employee+1, window.From, window.To, true).GetEmployees()[0]
			has := map[int32]bool{}
			for _, e := range all.GetPayCodeEdits() {
				has[e.GetDay()] = true
			}
			want := &schedulingv1.EmployeeDays{EmployeeId: employee + 1, PayCodeEdits: all.GetPayCodeEdits()}
			for _, s := range all.GetShifts() {
				if has[s.GetDay()] {
					want.Shifts = append(want.Shifts, &schedulingv1.EmployeeShift{Day: s.GetDay(), Segments: joinTaken(s.GetSegments())})
				}
			}
			require.NotEmpty(t, want.GetPayCodeEdits())
			require.Less(t, len(want.GetShifts()), len(all.GetShifts()))
			// A night edit is on the first of its two days, so that more shifts are harmless.
			got := &schedulingv1.EmployeeDays{EmployeeId: edited.GetEmployeeId(), PayCodeEdits: edited.GetPayCodeEdits()}
			for _, s := range edited.GetShifts() {
				if has[s.GetDay()] {
					got.Shifts = append(got.Shifts, s)
				}
			}
			assert.True(t, proto.Equal(want, got), "employee %d, %v: %s\n%s", employee+1, window, want, got)
		}
	}
	t.Run("longer than others", func(t *testing.T) {
		t.Parallel()
		assert.Empty(t, read(1, first, first+20_000, true).GetHolidays())
	})
	for name, req := range map[string]*schedulingv1.ReadEmployeeDaysRequest{
		"too many days":     {EmployeeIds: []int64{1}, From: int32(first), To: int32(first) + 20_001, OnlyEditedDays: true},
		"several employees": {EmployeeIds: []int64{1, 2}, From: int32(first), To: int32(first) + 1, OnlyEditedDays: true},
		"all days of years": {EmployeeIds: []int64{1}, From: int32(first), To: int32(first) + 401},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := handler.ReadEmployeeDays(f.Ctx, req)
			require.ErrorContains(t, err, "Allowed are")
		})
	}
}

// joinTaken joins segments that follow each other where time off cut them.
func joinTaken(list []*schedulingv1.EmployeeShiftSegment) []*schedulingv1.EmployeeShiftSegment {
	var out []*schedulingv1.EmployeeShiftSegment
	for _, s := range list {
		if n := len(out); n > 0 && out[n-1].GetEndSecond() == s.GetStartSecond() && out[n-1].GetJob() == s.GetJob() {
			out[n-1].EndSecond = s.GetEndSecond()
			continue
		}
		out = append(out, &schedulingv1.EmployeeShiftSegment{StartSecond: s.GetStartSecond(), EndSecond: s.GetEndSecond(), Job: s.GetJob()})
	}
	return out
}
