package scheduleevent_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleevent"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/span"
)

func segment(kind, job string, from, to string) *schedulingv1.ShiftTemplateSegment {
	s := &schedulingv1.ShiftTemplateSegment{
		StartDateTime: "1900-01-01T" + from, EndDateTime: "1900-01-01T" + to, SegmentType: &commonv1.Ref{Qualifier: &kind},
	}
	if job != "" {
		s.OrgNode = &commonv1.Ref{Qualifier: &job}
	}
	return s
}

func TestPatternTellsItsEntries(t *testing.T) {
	t.Parallel()
	plain := &schedulingv1.ShiftTemplate{StartDateTime: "1900-01-01T22:00:00", EndDateTime: "1900-01-02T06:00:00"}
	split := &schedulingv1.ShiftTemplate{
		StartDateTime: "1900-01-01T06:00:00", EndDateTime: "1900-01-01T14:00:00",
		Segments: []*schedulingv1.ShiftTemplateSegment{
			segment("REGULAR_SEGMENT", "Acme/Clerk", "06:00:00", "10:00:00"), segment("BREAK_SEGMENT", "", "10:00:00", "11:00:00"),
			segment("TRANSFER_SEGMENT", "", "11:00:00", "14:00:00"),
		},
	}
	edit := &schedulingv1.PayCodeEditTemplate{
		PayCode: &commonv1.Ref{Qualifier: proto.String("Sick")}, StartDateTime: "1900-01-01T22:00:00", EndDateTime: "1900-01-02T02:00:00",
	}
	events, err := scheduleevent.Pattern(5, 77, 3, &schedulingv1.SchedulePattern{Items: []*schedulingv1.SchedulePatternItem{
		{Day: proto.Int32(2), ShiftTemplate: plain, PayCodeEditTemplate: edit}, {Day: proto.Int32(1), PayCodeEditTemplate: edit}, {Day: proto.Int32(2), ShiftTemplate: split},
	}})
	require.NoError(t, err)
	require.Len(t, events, 1)
	want := &schedulingv1.PatternStored{PatternId: 5, Part: 4, First: true, Digest: 77, Jobs: []string{"", "Acme/Clerk"}, Shifts: []*schedulingv1.CycleShift{
		{CycleDay: 1, Segments: []*schedulingv1.JobSegment{{StartSecond: 79200, EndSecond: 108000}}},
		{CycleDay: 1, Ordinal: 2, Segments: []*schedulingv1.JobSegment{{Job: 1, StartSecond: 21600, EndSecond: 36000}, {StartSecond: 39600, EndSecond: 50400}}},
	}}
	assert.True(t, proto.Equal(want, events[0]), events[0])
}

func TestLargePatternIsDivided(t *testing.T) {
	t.Parallel()
	p := &schedulingv1.SchedulePattern{}
	for day := range int32(364) {
		for i := range 16 {
			job := fmt.Sprint(strings.Repeat("x", 150), day, "/", i)
			p.Items = append(p.Items, &schedulingv1.SchedulePatternItem{Day: proto.Int32(day + 1), ShiftTemplate: &schedulingv1.ShiftTemplate{
				StartDateTime: "1900-01-01T06:00:00", EndDateTime: "1900-01-01T14:00:00",
				Segments: []*schedulingv1.ShiftTemplateSegment{segment("REGULAR_SEGMENT", job, "06:00:00", "14:00:00")},
			}})
		}
	}
	events, err := scheduleevent.Pattern(1, 77, 0, p)
	require.NoError(t, err)
	assert.Greater(t, len(events), 2)
	shifts := 0
	for i, e := range events {
		assert.Less(t, proto.Size(e), outbox.MaxEvent)
		part := e.(*schedulingv1.PatternStored)
		assert.EqualValues(t, i+1, part.GetPart())
		assert.Equal(t, i == 0, part.GetFirst())
		assert.Equal(t, i == len(events)-1, part.GetDigest() == 77, "only the last part says that it is all")
		shifts += len(part.GetShifts())
		for _, s := range part.GetShifts() {
			require.Less(t, int(s.GetSegments()[0].GetJob()), len(part.GetJobs()))
		}
	}
	assert.Equal(t, 364*16, shifts)
}

func TestEqualSpansArePublishedOnce(t *testing.T) {
	t.Parallel()
	var published scheduleevent.Spans
	assert.Empty(t, published.Events(1))
	same := []span.Span{{From: -5, To: civil.Forever, Position: 1, DayCount: 7, PatternID: 3, AssignmentID: 1}}
	published.Add(1, same)
	published.Add(2, nil)
	same[0].AssignmentID = 2 // It says nothing of where a span came from.
	published.Add(3, same)
	events := published.Events(9)
	require.Len(t, events, 1)
	want := &schedulingv1.SpansChanged{Revision: 9, Groups: []*schedulingv1.EqualSpans{
		{EmployeeIds: []int64{1, 3}, Spans: []*schedulingv1.SpanState{{From: -5, To: int32(civil.Forever), PatternId: 3, Position: 1, DayCount: 7}}},
		{EmployeeIds: []int64{2}},
	}}
	assert.True(t, proto.Equal(want, events[0]), events[0])

	published.Reset()
	for id := range int64(1024) {
		many := make([]span.Span, 40)
		for i := range many {
			many[i] = span.Span{From: civil.Date(id), To: civil.Date(i), PatternID: 1 << 40, DayCount: 364}
		}
		published.Add(id+1, many)
	}
	events, employees := published.Events(10), 0
	for _, e := range events {
		assert.Less(t, proto.Size(e), outbox.MaxEvent)
		for _, g := range e.(*schedulingv1.SpansChanged).GetGroups() {
			employees += len(g.GetEmployeeIds())
		}
	}
	assert.Greater(t, len(events), 2)
	assert.Equal(t, 1024, employees)
}

func TestEnteredShifts(t *testing.T) {
	t.Parallel()
	day := civil.Date(20_000)
	const generated = 1<<52 + 5
	hides := &schedulingv1.HiddenShift{EmployeeId: 7, Day: int32(day), Lane: 2, Ordinal: 3}
	job, control := "Acme/Clerk", "a\x00b"
	at := func(clock string) string { return day.String() + "T" + clock }
	body, err := proto.Marshal(&schedulingv1.Shift{
		StartDateTime: at("06:00:00"), EndDateTime: (day + 1).String() + "T02:00:00",
		Segments: []*schedulingv1.ShiftSegment{
			{StartDateTime: at("06:00:00"), EndDateTime: at("10:00:00"), OrgJobRef: &commonv1.Ref{Id: proto.Int64(9), Qualifier: &job}},
			{StartDateTime: at("10:00:00"), EndDateTime: at("12:00:00"), OrgJobRef: &commonv1.Ref{Id: proto.Int64(9)}},
			{StartDateTime: at("12:00:00"), EndDateTime: (day + 1).String() + "T02:00:00", OrgJobRef: &commonv1.Ref{Qualifier: &control}},
		},
	})
	require.NoError(t, err)
	var published scheduleevent.Shifts
	require.NoError(t, published.Add(scheduleevent.Shift{ID: generated, Version: 3, EmployeeID: 8, Day: day, Body: body, Hides: hides}))
	require.NoError(t, published.Add(scheduleevent.Shift{ID: 4, Day: day}))
	events := published.Events(3)
	require.Len(t, events, 1)
	want := &schedulingv1.ShiftsEntered{Revision: 3, Jobs: []string{job, "\x019", "\x01"}, Shifts: []*schedulingv1.EnteredShift{
		{
			Id: generated, Version: 3, EmployeeId: 8, Day: int32(day), Hides: hides,
			Segments: []*schedulingv1.JobSegment{
				{StartSecond: 21600, EndSecond: 36000}, {Job: 1, StartSecond: 36000, EndSecond: 43200}, {Job: 2, StartSecond: 43200, EndSecond: 93600},
			},
		},
		{Id: 4, Day: int32(day), Deleted: true},
	}}
	assert.True(t, proto.Equal(want, events[0]), events[0])
	require.Error(t, new(scheduleevent.Shifts).Add(scheduleevent.Shift{ID: 4, EmployeeID: 8, Day: day, Body: []byte{1}}))
}

// An event that is not full yet has room for any shift.
func TestAnyShiftFitsIntoAnEvent(t *testing.T) {
	t.Parallel()
	day := civil.Date(20_000)
	shift := &schedulingv1.Shift{StartDateTime: day.String() + "T00:00:00", EndDateTime: (day + 1).String() + "T00:00:00"}
	for i := range 9_000 {
		job := fmt.Sprint(strings.Repeat("x", 150), i)
		shift.Segments = append(shift.Segments, &schedulingv1.ShiftSegment{
			StartDateTime: shift.GetStartDateTime(), EndDateTime: shift.GetEndDateTime(), OrgJobRef: &commonv1.Ref{Qualifier: &job},
		})
	}
	body, err := proto.Marshal(shift)
	require.NoError(t, err)
	var published scheduleevent.Shifts
	for range 3 {
		require.NoError(t, published.Add(scheduleevent.Shift{ID: 4, EmployeeID: 8, Day: day, Body: body}))
	}
	for _, e := range published.Events(1) {
		assert.Less(t, proto.Size(e), outbox.MaxEvent)
	}
}
