package reading

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/symbolicamount"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/segment"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/storedrows"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/window"
)

// workSegment and pause are segments between two hours.
func workSegment(from, to int64) segment.Segment {
	return segment.Segment{Start: from * 3600, End: to * 3600, Kind: "REGULAR_SEGMENT"}
}

func pause(from, to int64) segment.Segment {
	return segment.Segment{Start: from * 3600, End: to * 3600, Kind: segment.Break}
}

func interval(from, to int64) segment.Interval {
	return segment.Interval{Start: from * 3600, End: to * 3600}
}

// Leave without times takes worked time from the first shift of the day on, with the
// breaks inside it (docs/decisions, 28).
func TestLeaveReplacesWorkedTimeOfADay(t *testing.T) {
	t.Parallel()
	day := [][]segment.Segment{{workSegment(8, 12), pause(12, 13), workSegment(13, 17)}}
	two := [][]segment.Segment{{workSegment(6, 10)}, {workSegment(14, 18)}}
	tests := []struct {
		name   string
		leave  dayLeave
		shifts [][]segment.Segment
		taken  []segment.Interval
	}{
		{"nothing", dayLeave{}, day, nil},
		{"a full day", dayLeave{full: true}, day, []segment.Interval{interval(8, 12), interval(12, 13), interval(13, 17)}},
		{"half a day is half of the work", dayLeave{halves: 1}, day, []segment.Interval{interval(8, 12)}},
		{"two halves are a day", dayLeave{halves: 2}, day, []segment.Interval{interval(8, 12), interval(12, 13), interval(13, 17)}},
		{"hours before the break", dayLeave{seconds: 3 * 3600}, day, []segment.Interval{interval(8, 11)}},
		{"hours beyond the break take it", dayLeave{seconds: 5 * 3600}, day, []segment.Interval{interval(8, 12), interval(12, 13), interval(13, 14)}},
		{"more than the day has", dayLeave{seconds: 20 * 3600}, day, []segment.Interval{interval(8, 12), interval(12, 13), interval(13, 17)}},
		{"half a day of two shifts", dayLeave{halves: 1}, two, []segment.Interval{interval(6, 10)}},
		{"a half and hours", dayLeave{halves: 1, seconds: 2 * 3600}, two, []segment.Interval{interval(6, 10), interval(14, 16)}},
		{"no shifts", dayLeave{full: true}, nil, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.taken, test.leave.deductions(test.shifts))
		})
	}
}

func leaveOn(t *testing.T, day civil.Date, edit *schedulingv1.LeaveEdit) storedrows.Leave {
	t.Helper()
	body, err := proto.Marshal(edit)
	require.NoError(t, err)
	return storedrows.Leave{Item: storedrows.Item{ID: 1, Day: day, Body: body}}
}

func TestLeaveIsSplitByTimes(t *testing.T) {
	t.Parallel()
	day := civil.Of(2026, 3, 10)
	timed, days, err := splitLeave([]storedrows.Leave{
		leaveOn(t, day, &schedulingv1.LeaveEdit{StartDate: "2026-03-10", StartTime: "22:00:00", EndDate: "2026-03-11", EndTime: "06:00:00"}),
		leaveOn(t, day, &schedulingv1.LeaveEdit{DurationInTime: proto.Int64(3600)}),
		leaveOn(t, day, &schedulingv1.LeaveEdit{DurationInTime: proto.Int64(1800)}),
		leaveOn(t, day, &schedulingv1.LeaveEdit{TrackingSegment: &schedulingv1.LeaveEditSegment{SymbolicValue: symbolicamount.Ref(symbolicamount.HalfDay)}}),
		leaveOn(t, day+1, &schedulingv1.LeaveEdit{PaidSegment: &schedulingv1.LeaveEditSegment{SymbolicValue: symbolicamount.Ref(symbolicamount.FullDay)}, DurationInTime: proto.Int64(60)}),
	})
	require.NoError(t, err)
	assert.Equal(t, []segment.Interval{{Start: segment.Seconds(day.At(22 * 3600)), End: segment.Seconds((day + 1).At(6 * 3600))}}, timed)
	assert.Equal(t, map[civil.Date]dayLeave{day: {halves: 1, seconds: 5400}, day + 1: {full: true}}, days)

	_, _, err = splitLeave([]storedrows.Leave{leaveOn(t, day, &schedulingv1.LeaveEdit{StartTime: "25:00"})})
	require.ErrorContains(t, err, "leave edit 1")
	_, _, err = splitLeave([]storedrows.Leave{{Item: storedrows.Item{ID: 2, Body: []byte{0xff}}}})
	require.ErrorContains(t, err, "leave edit 2")
}

// Shifts of locked days meet the leave at the time of the lock. Shifts of other days meet the
// current leave.
func TestLockedDaysKeepTheirLeave(t *testing.T) {
	t.Parallel()
	monday := civil.Of(2026, 3, 2)
	first, second := civil.Range{From: monday, To: monday + 2}, civil.Range{From: monday + 4, To: monday + 5}
	locks := []window.Lock{{Days: first}, {Days: second}}
	then, now := storedrows.Leave{Item: storedrows.Item{ID: 1, Day: monday}}, storedrows.Leave{Item: storedrows.Item{ID: 2, Day: monday}}
	shift := func(day civil.Date) window.Entry { return window.Entry{ID: int64(day - monday), Day: day} }
	got := groupShifts([]window.Entry{shift(monday), shift(monday + 1), shift(monday + 2), shift(monday + 4)}, []storedrows.Leave{now},
		[]storedrows.LockedLeave{{Leave: then, Locked: first}}, locks)
	of := map[int64][]storedrows.Leave{}
	for _, p := range got {
		for _, s := range p.shifts {
			of[s.ID] = p.leave
		}
	}
	assert.Equal(t, map[int64][]storedrows.Leave{0: {then}, 1: {then}, 2: {now}, 4: nil}, of)
}
