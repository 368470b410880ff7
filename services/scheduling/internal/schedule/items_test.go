package schedule_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// newShift is the body of a stored shift.
func newShift(start, end string, segments ...*schedulingv1.ShiftSegment) *schedulingv1.Shift {
	return &schedulingv1.Shift{
		StartDateTime: start, EndDateTime: end, Label: "by hand", Generated: proto.Bool(false), Open: proto.Bool(false),
		Locked: proto.Bool(false), Posted: proto.Bool(true), Segments: segments,
		Relations: []*schedulingv1.Relation{{Type: "FROM_SCHEDULE_ITEM_TO_EXTERNAL_ID"}},
	}
}

func TestItemsStandBesideAndHideGeneratedEntries(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.employee(1, "UTC")
	f.employee(2, "UTC")
	p := f.pattern(cycle(1, shift(1, "08:00", "16:00")))
	f.span(span{employee: 1, from: "2025-03-01", to: "2025-03-08", pattern: p})
	f.lock(1, "2025-03-05", "2025-03-07")
	byHand := newShift("2025-03-05T18:00:00", "2025-03-05T20:00:00", &schedulingv1.ShiftSegment{Id: proto.Int64(1), Type: "REGULAR_SEGMENT"})
	f.item(70, 1, "SHIFT", "2025-03-05", "2025-03-05", byHand)
	// Detached on the 2nd and moved to the 4th; detached on the 3rd and given
	// to the other employee; deleted on the 6th.
	f.item(entryID(t, 1, "2025-03-02", 0, 0), 1, "SHIFT", "2025-03-04", "2025-03-04", newShift("2025-03-04T01:00:00", "2025-03-04T02:00:00"))
	f.item(entryID(t, 1, "2025-03-03", 0, 0), 2, "SHIFT", "2025-03-03", "2025-03-03", newShift("2025-03-03T08:00:00", "2025-03-03T16:00:00"))
	f.tombstone(entryID(t, 1, "2025-03-06", 0, 0), 1, "2025-03-06")

	want := []string{
		"P1 2025-03-01T08:00:00", "P1 2025-03-04T01:00:00", "P1 2025-03-04T08:00:00",
		"P1 2025-03-05T08:00:00", "P1 2025-03-05T18:00:00", "P1 2025-03-07T08:00:00", "P2 2025-03-03T08:00:00",
	}
	got := f.read(window("2025-03-01", "2025-03-07", onlyShifts(), 1, 2)).GetShifts()
	assert.Equal(t, want, starts(got))

	hand := got.GetShifts()[4]
	expected := proto.CloneOf(byHand)
	expected.Id, expected.Employee, expected.Version = proto.Int64(70), ref(1, "P1"), proto.Int64(4)
	expected.Locked = proto.Bool(true)
	assert.Equal(t, expected.String(), hand.String())
	assert.True(t, got.GetShifts()[3].GetLocked(), "generated entries of the day are locked too")
	assert.False(t, got.GetShifts()[5].GetLocked(), "the lock ends before its last date")

	assert.Equal(t, []string{"P2 2025-03-03T08:00:00"}, starts(f.read(window("2025-03-03", "2025-03-03", onlyShifts(), 1, 2)).GetShifts()),
		"what hides an entry counts although it is elsewhere")

	// The spans change; edits by hand stay.
	f.Exec(f.t, "DELETE FROM span")
	f.span(span{employee: 1, from: "2025-03-01", to: "2025-03-08", pattern: f.pattern(cycle(1, shift(1, "09:00", "17:00"))), propagations: 8})
	want = []string{
		"P1 2025-03-01T09:00:00", "P1 2025-03-04T01:00:00", "P1 2025-03-04T09:00:00",
		"P1 2025-03-05T09:00:00", "P1 2025-03-05T18:00:00", "P1 2025-03-07T09:00:00", "P2 2025-03-03T08:00:00",
	}
	assert.Equal(t, want, starts(f.read(window("2025-03-01", "2025-03-07", onlyShifts(), 1, 2)).GetShifts()))
}

func TestItemsAtTheEdges(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.employee(1, "UTC")
	f.item(70, 1, "SHIFT", "2025-03-01", "2025-03-02", newShift("2025-03-01T22:00:00", "2025-03-02T06:00:00"))
	f.item(71, 1, "PAY_CODE_EDIT", "2025-02-01", "2025-03-02", &schedulingv1.PayCodeEdit{
		PayCodeRef: ref(1, "Leave"), StartDate: "2025-02-01", EndDate: "2025-03-02", Locked: proto.Bool(false),
	})
	got := f.read(window("2025-03-02", "2025-03-03", nil, 1))
	assert.Len(t, got.GetShifts().GetShifts(), 1)
	require.Len(t, got.GetPayCodeEdits().GetPayCodeEdits(), 1)
	edit := got.GetPayCodeEdits().GetPayCodeEdits()[0]
	assert.EqualValues(t, 71, edit.GetId())
	assert.EqualValues(t, 4, edit.GetVersion())
	days := got.GetScheduleDayList().GetDays()
	assert.False(t, days[0].GetHasShift(), "a shift belongs to the day it starts")
	assert.True(t, days[0].GetHasPayCodeEdit())
	assert.False(t, days[1].GetHasPayCodeEdit())

	req := window("2025-03-02", "2025-03-03", nil, 1)
	req.MultiReadOptions = &schedulingv1.MultiReadOptions{ExcludeOvernightShiftsOnStartDate: proto.Bool(true)}
	got = f.read(req)
	assert.Empty(t, got.GetShifts().GetShifts())
	assert.Len(t, got.GetPayCodeEdits().GetPayCodeEdits(), 1)
	assert.Empty(t, f.read(window("2025-03-03", "2025-03-03", nil, 1)).GetPayCodeEdits().GetPayCodeEdits())
}

func TestOpenShifts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.employee(1, "UTC")
	open := func(id int64, day string, job *commonv1.Ref) {
		f.item(id, 0, "SHIFT", day, day, newShift(day+"T08:00:00", day+"T16:00:00",
			&schedulingv1.ShiftSegment{Id: proto.Int64(1), OrgJobRef: job}))
	}
	open(80, "2025-03-02", ref(1, "Acme/Picker"))
	open(81, "2025-03-02", ref(1, "Acme/Picker"))
	open(82, "2025-03-02", nil)
	open(83, "2025-03-03", ref(1, "Acme/Picker"))
	open(84, "2025-03-09", nil)

	got := f.read(window("2025-03-01", "2025-03-08", []string{"OPENSHIFTS", "OPENSHIFTSUMMARY"}, 1))
	require.Len(t, got.GetOpenShifts().GetShifts(), 4)
	assert.Nil(t, got.GetOpenShifts().GetShifts()[0].GetEmployee())
	want := &schedulingv1.OpenShiftsSummary{TotalCount: proto.Int32(4), CountsByDate: []*schedulingv1.OpenShiftCount{
		{Date: "2025-03-02", OpenShiftCount: 1},
		{Date: "2025-03-02", OpenShiftCount: 2, OrgJob: ref(1, "Acme/Picker")},
		{Date: "2025-03-03", OpenShiftCount: 1, OrgJob: ref(1, "Acme/Picker")},
	}}
	assert.Equal(t, want.String(), got.GetOpenShiftsSummary().String())
	assert.Nil(t, got.GetShifts())
}

func TestExcludeBreaks(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.employee(1, "UTC")
	f.span(span{employee: 1, from: "2025-03-03", to: "2025-03-04", pattern: f.pattern(cycle(1, shift(1, "08:00", "16:00",
		segment("08:00", "10:00", regular()), segment("10:00", "10:15", pause()),
		segment("10:15", "12:00", transfer()), segment("12:00", "12:30", pause()), segment("12:30", "16:00", regular()))))})
	shiftSegment := func(start, end string, kind *commonv1.Ref) *schedulingv1.ShiftSegment {
		return &schedulingv1.ShiftSegment{StartDateTime: "2025-03-03T" + start + ":00", EndDateTime: "2025-03-03T" + end + ":00", SegmentTypeRef: kind}
	}
	f.item(70, 1, "SHIFT", "2025-03-03", "2025-03-03", newShift("2025-03-03T17:00:00", "2025-03-03T20:00:00",
		shiftSegment("17:00", "17:10", pause()), shiftSegment("17:10", "17:20", pause()), shiftSegment("17:20", "19:00", transfer()), shiftSegment("19:00", "20:00", pause())))
	f.item(71, 1, "SHIFT", "2025-03-03", "2025-03-03", newShift("2025-03-03T21:00:00", "2025-03-03T22:00:00", shiftSegment("21:00", "22:00", pause())))

	req := window("2025-03-03", "2025-03-03", onlyShifts(), 1)
	assert.Len(t, f.read(req).GetShifts().GetShifts()[0].GetSegments(), 5)
	req.Where.ExcludeBreaks = proto.Bool(true)
	var got []string
	for _, s := range f.read(req).GetShifts().GetShifts() {
		for _, segment := range s.GetSegments() {
			got = append(got, segment.GetStartDateTime()[11:16]+" "+segment.GetEndDateTime()[11:16]+" "+segment.GetSegmentTypeRef().GetQualifier())
		}
	}
	assert.Equal(t, []string{
		"08:00 10:15 REGULAR_SEGMENT", "10:15 12:00 TRANSFER_SEGMENT", "12:00 16:00 REGULAR_SEGMENT",
		"17:00 20:00 TRANSFER_SEGMENT", "21:00 22:00 BREAK_SEGMENT",
	}, got)
}

func TestDayLocksOfTheWindow(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.employee(1, "UTC")
	f.employee(2, "UTC")
	f.lock(2, "2025-03-01", "2025-03-05")
	f.lock(1, "2025-03-01", "2025-03-03")
	f.lock(1, "2025-03-08", "2025-03-09")
	f.lock(1, "2025-03-11", "2025-03-12")
	got := f.read(window("2025-03-03", "2025-03-10", []string{"DAYLOCKS"}, 1, 2)).GetDayLocks().GetLocks()
	require.Len(t, got, 2)
	assert.Equal(t, "P1", got[0].GetEmployee().GetQualifier())
	assert.Equal(t, "2025-03-08T00:00:00", got[0].GetStartDateTime())
	assert.Equal(t, "2025-03-09T00:00:00", got[0].GetEndDateTime())
	assert.Equal(t, "P2", got[1].GetEmployee().GetQualifier())
}

func TestStatus(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.employee(1, "UTC")
	f.employee(2, "UTC")
	f.Exec(f.t, "INSERT INTO propagation (tenant_id, cause, employee_ids) VALUES (1, 'PATTERN', '{2}')")
	where := &schedulingv1.ScheduleStatusWhere{Employees: &schedulingv1.EmployeeSchedules{
		EmployeeRefs: &commonv1.RefList{Ids: []int64{2, 1}}, StartDate: "2025-03-03", EndDate: "2025-03-05",
	}}
	got, err := f.client.MultiReadScheduleStatus(f.Ctx, &schedulingv1.MultiReadScheduleStatusRequest{Where: where})
	require.NoError(t, err)
	list := got.GetEmployeeStatus().GetEmployeeStatus()
	require.Len(t, list, 2)
	want := &schedulingv1.EmployeeStatus{
		Employee: ref(2, "P2"), Status: "IN_PROGRESS",
		ProcessingStatus: &schedulingv1.ProcessingStatusList{Items: []*schedulingv1.ProcessingStatus{{
			ProcessingType: &schedulingv1.ProcessingType{Id: "1", LocalizedName: "Applying a schedule pattern"},
			Blocking:       proto.Bool(false), StartDate: "2025-03-03", EndDate: "2025-03-05",
		}}},
	}
	assert.Equal(t, want.String(), list[0].String())
	done := &schedulingv1.EmployeeStatus{Employee: ref(1, "P1"), Status: "COMPLETED", ProcessingStatus: &schedulingv1.ProcessingStatusList{}}
	assert.Equal(t, done.String(), list[1].String())

	f.Exec(f.t, "UPDATE propagation SET state = 'FINISHED'")
	got, err = f.client.MultiReadScheduleStatus(f.Ctx, &schedulingv1.MultiReadScheduleStatusRequest{Where: where})
	require.NoError(t, err)
	assert.Equal(t, "COMPLETED", got.GetEmployeeStatus().GetEmployeeStatus()[0].GetStatus())

	_, err = f.client.MultiReadScheduleStatus(f.Ctx, &schedulingv1.MultiReadScheduleStatusRequest{})
	assert.True(t, fault.HasCode(fault.FromError(err), "WFS-111208"))
}

// Whether an entry is locked does not depend on the window that shows it.
func TestLockedWhateverTheWindow(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.employee(1, "UTC")
	f.item(5, 1, "PAY_CODE_EDIT", "2025-01-10", "2025-03-31", &schedulingv1.PayCodeEdit{
		PayCodeRef: ref(1, "Sick"), StartDate: "2025-01-10", EndDate: "2025-03-31", Locked: proto.Bool(false), Posted: proto.Bool(false),
	})
	f.lock(1, "2025-01-10", "2025-01-11")
	for _, first := range []string{"2025-01-10", "2025-01-11", "2025-01-18", "2025-03-31"} {
		t.Run(first, func(t *testing.T) {
			got := f.read(window(first, "2025-03-31", []string{"PAYCODEEDITS", "DAYLOCKS"}, 1))
			require.Len(t, got.GetPayCodeEdits().GetPayCodeEdits(), 1)
			assert.True(t, got.GetPayCodeEdits().GetPayCodeEdits()[0].GetLocked())
			assert.Len(t, got.GetDayLocks().GetLocks(), map[bool]int{true: 1}[first == "2025-01-10"], "locks before the window are not shown")
		})
	}
}
