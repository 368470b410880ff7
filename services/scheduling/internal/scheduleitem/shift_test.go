package scheduleitem_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/rpc"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/segment"
)

func TestCreateAndReadShift(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	sent := newShift(0, "2025-02-03T22:00", "2025-02-04T06:00")
	sent.Employee = &commonv1.Ref{Qualifier: proto.String("P1")}
	sent.Label = "Extra"
	sent.Segments = []*schedulingv1.ShiftSegment{
		{StartDateTime: "2025-02-04T02:00:00", EndDateTime: "2025-02-04T02:30:00", Type: "BREAK_SEGMENT"},
		{StartDateTime: "2025-02-03T22:00:00.500", EndDateTime: "2025-02-04T02:00:00", SegmentTypeRef: &commonv1.Ref{Id: proto.Int64(3)}},
	}
	made, err := f.shifts.CreateShift(f.Ctx, sent)
	require.NoError(t, err)
	require.Len(t, made.GetShifts(), 1)

	kind := func(id int64, name string) *commonv1.Ref {
		return &commonv1.Ref{Id: proto.Int64(id), Qualifier: proto.String(name)}
	}
	want := &schedulingv1.Shift{
		Id: made.GetShifts()[0].Id, Employee: &commonv1.Ref{Id: proto.Int64(1), Qualifier: proto.String("P1")},
		StartDateTime: "2025-02-03T22:00:00", EndDateTime: "2025-02-04T06:00:00", Label: "Extra",
		Generated: proto.Bool(false), Open: proto.Bool(false), Locked: proto.Bool(false), Posted: proto.Bool(false), Version: proto.Int64(1),
		Segments: []*schedulingv1.ShiftSegment{
			{StartDateTime: "2025-02-03T22:00:00", EndDateTime: "2025-02-04T02:00:00", SegmentTypeRef: kind(3, "TRANSFER_SEGMENT"), Type: "TRANSFER_SEGMENT"},
			{StartDateTime: "2025-02-04T02:00:00", EndDateTime: "2025-02-04T02:30:00", SegmentTypeRef: kind(2, "BREAK_SEGMENT"), Type: "BREAK_SEGMENT"},
		},
	}
	segment.Complete(want)
	seen := map[int64]bool{}
	for i, s := range made.GetShifts()[0].GetSegments() {
		seen[s.GetId()] = true
		want.Segments[i].Id = s.Id
	}
	assert.Len(t, seen, 2, "each segment has an id of its own")
	assert.NotContains(t, seen, int64(0))
	modified, err := time.Parse("2006-01-02T15:04:05.000", made.GetShifts()[0].GetModifiedDateTime())
	require.NoError(t, err)
	assert.WithinDuration(t, time.Now(), modified, time.Minute)
	want.ModifiedDateTime = made.GetShifts()[0].GetModifiedDateTime()
	assert.Equal(t, want.String(), made.GetShifts()[0].String())
	read, err := f.shifts.GetShift(f.Ctx, &schedulingv1.GetShiftRequest{Id: want.GetId()})
	require.NoError(t, err)
	assert.Equal(t, want.String(), read.String())
	assert.Equal(t, []string{"P1 22:00 06:00"}, f.day("2025-02-04"), "it touches the next day")
	assert.Equal(t, []string{"[1] 2025-02-03 2025-02-04"}, f.events())
	assert.EqualValues(t, 1, f.wakes.Load())

	f.lock(1, "2025-02-03", "2025-02-04")
	read, err = f.shifts.GetShift(f.Ctx, &schedulingv1.GetShiftRequest{Id: want.GetId()})
	require.NoError(t, err)
	assert.True(t, read.GetLocked())
}

// A segment that comes back with its id stays that segment; ids that the shift does not
// have, and a second one of the same id, mean new segments.
func TestSegmentsKeepTheirIDs(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	sent := newShift(1, "2025-02-03T08:00", "2025-02-03T16:00")
	sent.Segments = []*schedulingv1.ShiftSegment{
		{Id: proto.Int64(7), StartDateTime: "2025-02-03T08:00:00", EndDateTime: "2025-02-03T12:00:00"},
		{Id: proto.Int64(7), StartDateTime: "2025-02-03T12:00:00", EndDateTime: "2025-02-03T16:00:00"},
	}
	made, err := f.shifts.CreateShift(f.Ctx, sent)
	require.NoError(t, err)
	shift := made.GetShifts()[0]
	first, second := shift.GetSegments()[0].GetId(), shift.GetSegments()[1].GetId()
	assert.NotEqual(t, first, second)
	assert.NotContains(t, []int64{first, second}, int64(7), "clients do not choose ids")

	change := proto.CloneOf(shift)
	change.Segments = []*schedulingv1.ShiftSegment{
		{Id: &second, StartDateTime: "2025-02-03T08:00:00", EndDateTime: "2025-02-03T10:00:00"},
		{Id: &second, StartDateTime: "2025-02-03T10:00:00", EndDateTime: "2025-02-03T12:00:00"},
		{Id: proto.Int64(first - 1_000), StartDateTime: "2025-02-03T12:00:00", EndDateTime: "2025-02-03T14:00:00"},
		{StartDateTime: "2025-02-03T14:00:00", EndDateTime: "2025-02-03T16:00:00"},
	}
	changed, err := f.shifts.UpdateShift(f.Ctx, &schedulingv1.UpdateShiftRequest{Id: shift.GetId(), Shift: change})
	require.NoError(t, err)
	seen := map[int64]bool{first: true}
	for i, s := range changed.GetSegments() {
		assert.Equal(t, i == 0, s.GetId() == second)
		assert.False(t, seen[s.GetId()], "segment %d", i)
		seen[s.GetId()] = true
	}
}

func TestOpenShift(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made, err := f.shifts.CreateShift(f.Ctx, newShift(0, "2025-02-03T08:00", "2025-02-03T16:00"))
	require.NoError(t, err)
	open := made.GetShifts()[0]
	assert.True(t, open.GetOpen())
	assert.Nil(t, open.GetEmployee())
	assert.Equal(t, "REGULAR_SEGMENT", open.GetSegments()[0].GetSegmentTypeRef().GetQualifier())
	assert.Empty(t, f.events(), "it is on nobody's schedule")

	taken, err := f.shifts.UpdateShift(f.Ctx, &schedulingv1.UpdateShiftRequest{Id: open.GetId(), Shift: newShift(2, "2025-02-03T08:00", "2025-02-03T16:00")})
	require.NoError(t, err)
	assert.False(t, taken.GetOpen())
	assert.Equal(t, []string{"P2 08:00 16:00"}, f.day("2025-02-03"))
}

func TestRefusedShifts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.lock(2, "2025-02-10", "2025-02-11")
	segment := func(start, end, kind string) func(*schedulingv1.Shift) {
		return func(s *schedulingv1.Shift) {
			s.Segments = append(s.Segments, &schedulingv1.ShiftSegment{
				StartDateTime: "2025-02-03T" + start + ":00", EndDateTime: "2025-02-03T" + end + ":00", Type: kind,
			})
		}
	}
	cases := map[string]struct {
		code   string
		mutate func(*schedulingv1.Shift)
	}{
		"no start":         {"API-10001", func(s *schedulingv1.Shift) { s.StartDateTime = "" }},
		"no end":           {"API-10001", func(s *schedulingv1.Shift) { s.EndDateTime = "" }},
		"end at start":     {"API-10001", func(s *schedulingv1.Shift) { s.EndDateTime = s.StartDateTime }},
		"too long":         {"WRL-30402", func(s *schedulingv1.Shift) { s.EndDateTime = "2025-02-04T08:00:01" }},
		"no date":          {"WFP-90100", func(s *schedulingv1.Shift) { s.StartDateTime = "2025-02-30T08:00:00" }},
		"before all days":  {"API-10001", func(s *schedulingv1.Shift) { s.StartDateTime = "1899-12-31T08:00:00" }},
		"unknown employee": {"WFS-103401", func(s *schedulingv1.Shift) { s.Employee = person(99) }},
		"empty employee":   {"WFS-103407", func(s *schedulingv1.Shift) { s.Employee = &commonv1.Ref{} }},
		"locked day": {"WRL-30401", func(s *schedulingv1.Shift) {
			s.StartDateTime, s.EndDateTime = "2025-02-10T08:00:00", "2025-02-10T09:00:00"
		}},
		"segment outside":     {"API-10001", segment("07:59", "09:00", "")},
		"segment after":       {"API-10001", segment("08:00", "16:01", "")},
		"segment backwards":   {"API-10001", segment("09:00", "08:30", "")},
		"unknown segment":     {"API-10001", segment("08:00", "09:00", "LUNCH")},
		"overlapping segment": {"API-10001", func(s *schedulingv1.Shift) { segment("10:00", "12:00", "")(s); segment("09:00", "10:01", "")(s) }},
	}
	for name, c := range cases {
		s := newShift(2, "2025-02-03T08:00", "2025-02-03T16:00")
		c.mutate(s)
		_, err := f.shifts.CreateShift(f.Ctx, s)
		t.Run(name, func(t *testing.T) { requireRefused(t, err, c.code, 400) })
	}
	_, err := f.shifts.MultiCreateShifts(f.Ctx, &schedulingv1.MultiCreateShiftsRequest{})
	requireRefused(t, err, "WFS-111201", 400)
	assert.Empty(t, f.events())
	assert.Zero(t, f.Rows(t, "schedule_item")["schedule_item"])
}

func TestShiftInsideAClockChange(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made, err := f.shifts.CreateShift(f.Ctx, newShift(1, "2025-03-30T02:30", "2025-03-30T09:00"))
	require.NoError(t, err)
	assert.Equal(t, "2025-03-30T03:30:00", made.GetShifts()[0].GetStartDateTime())
	assert.Equal(t, "2025-03-30T03:30:00", made.GetShifts()[0].GetSegments()[0].GetStartDateTime())
	_, err = f.shifts.CreateShift(f.Ctx, newShift(1, "2025-03-30T02:30", "2025-03-30T03:15"))
	requireRefused(t, err, "API-10001", 400)
}

func TestMultiCreateShifts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.lock(2, "2025-02-10", "2025-02-11")
	good := newShift(1, "2025-02-03T08:00", "2025-02-03T16:00")
	list := &schedulingv1.NewShifts{Shifts: []*schedulingv1.Shift{
		good, newShift(99, "2025-02-03T08:00", "2025-02-03T16:00"), newShift(2, "2025-02-10T08:00", "2025-02-10T16:00"),
		newShift(2, "2025-02-04T08:00", "2025-02-04T16:00"), newShift(2, "2025-02-04T08:00", "2025-02-03T16:00"),
	}}
	_, err := f.shifts.MultiCreateShifts(f.Ctx, &schedulingv1.MultiCreateShiftsRequest{Body: list})
	requireRefused(t, err, "WFS-103401", 400)
	assert.Zero(t, f.Rows(t, "schedule_item")["schedule_item"], "all or none")
	assert.Empty(t, f.events())

	var header metadata.MD
	got, err := f.shifts.MultiCreateShifts(f.Ctx,
		&schedulingv1.MultiCreateShiftsRequest{Body: list, PartialSuccess: proto.Bool(true)}, grpc.Header(&header))
	require.NoError(t, err)
	assert.Equal(t, []string{"207"}, header.Get(rpc.HeaderHTTPStatus))
	details := got.GetFailure().GetDetails()
	assert.Equal(t, []int32{1, 2, 4}, details.GetErrorOffsets())
	require.Len(t, details.GetResults(), 5)
	assert.Equal(t, "WFS-103401", details.GetResults()[1].GetError().GetErrorCode())
	assert.Equal(t, "WRL-30401", details.GetResults()[2].GetError().GetErrorCode())
	assert.Equal(t, "API-10001", details.GetResults()[4].GetError().GetErrorCode())
	made := &schedulingv1.Shift{}
	require.NoError(t, details.GetResults()[3].GetSuccess().UnmarshalTo(made))
	assert.Equal(t, "2025-02-04T08:00:00", made.GetStartDateTime())
	assert.Equal(t, []string{"[1 2] 2025-02-03 2025-02-04"}, f.events())

	got, err = f.shifts.MultiCreateShifts(f.Ctx, &schedulingv1.MultiCreateShiftsRequest{
		Body: &schedulingv1.NewShifts{Shifts: []*schedulingv1.Shift{good, good}},
	})
	require.NoError(t, err)
	assert.Nil(t, got.GetFailure())
	assert.Len(t, got.GetShifts(), 2)

	_, err = f.shifts.MultiCreateShifts(f.Ctx, &schedulingv1.MultiCreateShiftsRequest{
		Body: &schedulingv1.NewShifts{Shifts: list.Shifts[1:2]}, PartialSuccess: proto.Bool(true),
	})
	requireRefused(t, err, "WCO-101271", 400)
}

func TestMultiReadAndMultiDeleteShifts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made, err := f.shifts.CreateShift(f.Ctx, newShift(2, "2025-03-03T08:00", "2025-03-03T16:00"))
	require.NoError(t, err)
	hand, generated := made.GetShifts()[0].GetId(), entryID(t, 1, "2025-03-03", 0)
	var header metadata.MD
	read := func(ids ...int64) (*schedulingv1.ShiftList, error) {
		header = nil
		return f.shifts.MultiReadShifts(f.Ctx,
			&schedulingv1.MultiReadShiftsRequest{Where: &schedulingv1.ReadShiftsWhere{ShiftIds: ids}}, grpc.Header(&header))
	}
	got, err := read(generated, hand)
	require.NoError(t, err)
	assert.Nil(t, got.GetFailure())
	assert.Empty(t, header.Get(rpc.HeaderHTTPStatus))
	require.Len(t, got.GetShifts(), 2)
	assert.Equal(t, generated, got.GetShifts()[0].GetId(), "in the order that was asked for")
	assert.Equal(t, "P1", got.GetShifts()[0].GetEmployee().GetQualifier())

	got, err = read(hand, 999, entryID(t, 1, "2025-03-03", 1))
	require.NoError(t, err)
	assert.Equal(t, []int32{1, 2}, got.GetFailure().GetDetails().GetErrorOffsets(), "a pay code edit is no shift")
	assert.Equal(t, []string{"207"}, header.Get(rpc.HeaderHTTPStatus))
	_, err = read(999)
	requireRefused(t, err, "WCO-101271", 400)
	_, err = read()
	requireRefused(t, err, "WFS-111201", 400)

	f.events()
	remove := func(ids ...int64) error {
		_, err := f.shifts.MultiDeleteShifts(f.Ctx, &schedulingv1.MultiDeleteShiftsRequest{Where: &schedulingv1.DeleteShiftsWhere{ShiftIds: ids}})
		return err
	}
	requireRefused(t, remove(hand, 999), "WFS-109101", 400)
	assert.Equal(t, []string{"P1 08:00 16:00", "P2 08:00 16:00", "P1 Training"}, f.day("2025-03-03"), "all or none")
	require.NoError(t, remove(hand, generated, hand))
	assert.Equal(t, []string{"P1 Training"}, f.day("2025-03-03"))
	assert.Equal(t, []string{"[1 2] 2025-03-03 2025-03-03"}, f.events())
	requireRefused(t, remove(), "WFS-111201", 400)
}
