package leaveedit

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// Edits without a start replace the work of their day one after the other, and schedules show the
// rest of the work.
func TestTimesFollowFromTheWorkOfTheDay(t *testing.T) {
	t.Parallel()
	const hour = 3600
	work := func(hours ...int32) []*schedulingv1.EmployeeShiftSegment {
		var out []*schedulingv1.EmployeeShiftSegment
		for i := 0; i < len(hours); i += 2 {
			out = append(out, &schedulingv1.EmployeeShiftSegment{StartSecond: hours[i] * hour, EndSecond: hours[i+1] * hour})
		}
		return out
	}
	amount := func(paid, tracked int64) *timekeepingv1.LeaveEdit {
		segment := func(n int64) *timekeepingv1.LeaveSegment {
			return &timekeepingv1.LeaveSegment{AmountInSeconds: proto.Int64(n * hour)}
		}
		return &timekeepingv1.LeaveEdit{PaidSegment: segment(paid), TrackingSegment: segment(tracked)}
	}
	symbol := func(value string) *timekeepingv1.LeaveEdit {
		e := amount(8, 8)
		e.TrackingSegment.SymbolicValue = value
		return e
	}
	early, split := work(6, 14), work(6, 10, 11, 15, 18, 20)
	for name, test := range map[string]struct {
		day   string
		work  []*schedulingv1.EmployeeShiftSegment
		edits []*timekeepingv1.LeaveEdit
		want  []string
	}{
		"the whole shift":                   {"10", early, []*timekeepingv1.LeaveEdit{amount(8, 8)}, []string{"10T06:00 10T14:00"}},
		"the larger amount counts":          {"10", early, []*timekeepingv1.LeaveEdit{amount(1, 2)}, []string{"10T06:00 10T08:00"}},
		"up to a break":                     {"10", split, []*timekeepingv1.LeaveEdit{amount(4, 4)}, []string{"10T06:00 10T10:00"}},
		"across a break":                    {"10", split, []*timekeepingv1.LeaveEdit{amount(5, 0)}, []string{"10T06:00 10T12:00"}},
		"one after the other":               {"10", split, []*timekeepingv1.LeaveEdit{amount(4, 4), amount(4, 4), amount(1, 1)}, []string{"10T06:00 10T10:00", "10T11:00 10T15:00", "10T18:00 10T19:00"}},
		"more than the work":                {"10", early, []*timekeepingv1.LeaveEdit{amount(10, 10)}, []string{"10T06:00 10T16:00"}},
		"nothing left":                      {"10", early, []*timekeepingv1.LeaveEdit{amount(8, 8), amount(2, 2)}, []string{"10T06:00 10T14:00", "10T14:00 10T16:00"}},
		"a full day":                        {"10", split, []*timekeepingv1.LeaveEdit{symbol(fullDay)}, []string{"10T06:00 10T20:00"}},
		"a full day beside hours":           {"10", early, []*timekeepingv1.LeaveEdit{amount(2, 2), symbol(fullDay)}, []string{"10T06:00 10T08:00", "10T06:00 10T14:00"}},
		"two halves":                        {"10", split, []*timekeepingv1.LeaveEdit{symbol(halfDay), symbol(halfDay)}, []string{"10T06:00 10T12:00", "10T12:00 10T20:00"}},
		"half a day after a full one":       {"10", early, []*timekeepingv1.LeaveEdit{symbol(fullDay), symbol(halfDay)}, []string{"10T06:00 10T14:00", "10T14:00 10T14:00"}},
		"no shift":                          {"10", nil, []*timekeepingv1.LeaveEdit{amount(8, 8), amount(2, 2)}, []string{"10T00:00 10T08:00", "10T00:00 10T02:00"}},
		"a full day without a shift":        {"10", nil, []*timekeepingv1.LeaveEdit{symbol(fullDay)}, []string{"10T00:00 10T08:00"}},
		"nothing":                           {"10", split, []*timekeepingv1.LeaveEdit{amount(4, 4), amount(0, 0)}, []string{"10T06:00 10T10:00", "10T11:00 10T11:00"}},
		"a night":                           {"10", work(22, 30), []*timekeepingv1.LeaveEdit{amount(4, 4), amount(4, 4)}, []string{"10T22:00 11T02:00", "11T02:00 11T06:00"}},
		"shifts that overlap":               {"10", work(6, 14, 10, 12), []*timekeepingv1.LeaveEdit{amount(9, 9)}, []string{"10T06:00 10T14:00"}},
		"a shift that clocks begin later":   {"29", []*schedulingv1.EmployeeShiftSegment{{StartSecond: 9000, EndSecond: 8 * hour}}, []*timekeepingv1.LeaveEdit{amount(1, 1)}, []string{"29T03:30 29T03:30"}},
		"an hour that clocks skip":          {"29", work(2, 3, 4, 8), []*timekeepingv1.LeaveEdit{amount(1, 1), amount(1, 1)}, []string{"29T03:00 29T03:00", "29T04:00 29T05:00"}},
		"a start that clocks skip":          {"29", []*schedulingv1.EmployeeShiftSegment{{StartSecond: 9000, EndSecond: 10800}, {StartSecond: 10860, EndSecond: 14460}}, []*timekeepingv1.LeaveEdit{{PaidSegment: &timekeepingv1.LeaveSegment{AmountInSeconds: proto.Int64(1860)}, TrackingSegment: &timekeepingv1.LeaveSegment{}}}, []string{"29T03:30 29T03:30"}},
		"days of leave reach another month": {"31", nil, []*timekeepingv1.LeaveEdit{amount(48, 0)}, []string{"31T00:00 02T00:00"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			day, err := civil.ParseDate("2026-03-" + test.day)
			assert.NoError(t, err)
			var rows []row
			for i, e := range test.edits {
				rows = append(rows, row{id: int64(i + 1), body: e})
			}
			var got []string
			known := timesOn(day, rows, test.work, berlin(t))
			for _, r := range rows {
				got = append(got, known[r.id].start.String()[8:16]+" "+known[r.id].end.String()[8:16])
			}
			assert.Equal(t, test.want, got)
		})
	}
}
