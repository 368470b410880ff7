package schedule_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

func TestGeneratedEntriesInFull(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.employee(54, "Europe/Zurich")
	job := ref(700, "Acme/Plant 1/Packing/Picker")
	work := shift(1, "22:00", "06:00",
		&schedulingv1.ShiftTemplateSegment{
			StartDateTime: at(1, "22:00"), EndDateTime: at(2, "01:00"), SegmentType: regular(), OrgNode: job,
			WorkRule: ref(4, "Nights"), CostCenter: &schedulingv1.CostCenterEntry{CostCenter: ref(5, "CC")},
			LaborCategories:     &schedulingv1.LaborCategories{LaborString: "a,b"},
			TransferString:      "x;;;",
			SegmentScProfiles:   []*commonv1.Ref{ref(6, "Forklift")},
			SegmentTemplateTags: []*schedulingv1.SegmentTemplateTag{{Id: proto.Int64(8), Color: "red", TagDefinitionRef: ref(9, "T")}},
		},
		&schedulingv1.ShiftTemplateSegment{StartDateTime: at(2, "01:00"), EndDateTime: at(2, "06:00"), SegmentType: pause()},
	)
	notes := []*schedulingv1.CommentNote{{Id: proto.Int64(3), Notes: []*schedulingv1.Note{{Text: "bring boots"}}}}
	work.ShiftTemplate.CommentNotes = notes
	work.PayCodeEditTemplate = &schedulingv1.PayCodeEditTemplate{
		PayCode: ref(20, "Training"), StartDateTime: at(1, "08:00"), EndDateTime: at(2, "00:30"),
		DurationInTime: proto.Int64(59400), DurationInDays: proto.Float64(1), MoneyAmount: proto.Float64(2.5),
		OverrideAccrualAmount: proto.Float64(3), OrgJob: job, TransferString: "t", CommentNotes: notes,
		Locked: proto.Bool(true),
	}
	work.AvailabilityTemplate = &schedulingv1.AvailabilityTemplate{Segments: []*schedulingv1.AvailabilityTemplateSegment{
		{AvailabilityType: ref(1, "Available"), StartTime: "08:00:00", EndTime: "12:00:00"},
	}}
	work.ScheduleTagTemplate = &schedulingv1.ScheduleTagTemplate{
		StartDateTime: at(1, "10:00"), EndDateTime: at(1, "11:00"), CommentNotes: notes,
		Segments: []*schedulingv1.ScheduleTagTemplateSegment{{
			TagDefinition: ref(1, "Fire warden"), SegmentType: &commonv1.Ref{Qualifier: proto.String("ON_CALL_SHIFT")},
			ScheduleTagColor: "blue", OrgJob: job, WorkRule: ref(4, "Nights"),
		}},
	}
	rotation := cycle(2, work)
	rotation.Name = "Rotation"
	p := f.pattern(rotation)
	f.span(span{employee: 54, from: "2025-03-01", to: "3000-01-01", pattern: p, lane: 3, assignment: 99, propagations: 12})
	f.lock(54, "2025-03-03", "2025-03-04")

	got := f.read(window("2025-03-03", "2025-03-04", nil, 54))

	employee := ref(54, "P54")
	relations := func(target *int64) []*schedulingv1.Relation {
		return []*schedulingv1.Relation{{
			Type: "FROM_GROUPITEM_TO_ITEM", RelationType: "FROM_GROUPITEM_TO_ITEM", Active: proto.Bool(true),
			From: &commonv1.Ref{Id: proto.Int64(99), Qualifier: proto.String("Rotation")}, TargetRef: &commonv1.Ref{Id: target},
		}}
	}
	yes, no := proto.Bool(true), proto.Bool(false)
	version := proto.Int64(12)
	id := func(ordinal uint8) *int64 { return proto.Int64(entryID(t, 54, "2025-03-03", 3, ordinal)) }
	want := &schedulingv1.Schedule{
		Shifts: &schedulingv1.ShiftList{Shifts: []*schedulingv1.Shift{{
			Id: id(0), Employee: employee, StartDateTime: "2025-03-03T22:00:00", EndDateTime: "2025-03-04T06:00:00",
			Label: "Early", Generated: yes, Open: no, Locked: yes, Posted: no, Version: version, Relations: relations(id(0)),
			CommentNotes: &schedulingv1.CommentNoteList{CommentNotes: notes}, OnCall: no, SelfServiced: no, PostedNotified: no, PostedNotificationPending: no, Deleted: no,
			Segments: []*schedulingv1.ShiftSegment{
				{
					Id: id(0), StartDateTime: "2025-03-03T22:00:00", EndDateTime: "2025-03-04T01:00:00",
					SegmentTypeRef: regular(), Type: "REGULAR_SEGMENT", OrgJobRef: job, WorkruleRef: ref(4, "Nights"),
					CostCenter:      &schedulingv1.CostCenterEntry{CostCenter: ref(5, "CC")},
					LaborCategories: &schedulingv1.LaborCategories{LaborString: "a,b"},
					TransferString:  "x;;;", SkillCertProfileRefs: []*commonv1.Ref{ref(6, "Forklift")},
					SegmentTags:    []*schedulingv1.SegmentTag{{Id: proto.Int64(8), Color: "red", TagDefinitionRef: ref(9, "T")}},
					TransferOrgJob: no, TransferWorkrule: no, TransferCostCenter: no, TransferLaborCategories: no,
					UserEnteredOrgJob: yes, UserEnteredWorkrule: yes, UserEnteredCostCenter: yes, UserEnteredLaborCategories: no,
				},
				{
					Id: id(1), StartDateTime: "2025-03-04T01:00:00", EndDateTime: "2025-03-04T06:00:00",
					SegmentTypeRef: pause(), Type: "BREAK_SEGMENT",
					TransferOrgJob: no, TransferWorkrule: no, TransferCostCenter: no, TransferLaborCategories: no,
					UserEnteredOrgJob: no, UserEnteredWorkrule: no, UserEnteredCostCenter: no, UserEnteredLaborCategories: no,
				},
			},
		}}},
		OpenShifts:        &schedulingv1.ShiftList{},
		OpenShiftsSummary: &schedulingv1.OpenShiftsSummary{TotalCount: proto.Int32(0)},
		PayCodeEdits: &schedulingv1.PayCodeEditList{PayCodeEdits: []*schedulingv1.PayCodeEdit{{
			Id: id(1), Employee: employee, PayCodeRef: ref(20, "Training"),
			StartDate: "2025-03-03", EndDate: "2025-03-04", StartTime: "08:00:00", EndTime: "00:30:00",
			DurationInTime: proto.Int64(59400), DurationInDays: proto.Float64(1), MoneyAmount: proto.Float64(2.5),
			OverrideAccrual: yes, OverrideAccrualAmount: proto.Float64(3), OrgJobRef: job, TransferString: "t",
			Locked: yes, Posted: no, Generated: yes, Deleted: no, Version: version, Relations: relations(id(1)), CommentNotes: notes,
		}}},
		LeaveEdits: &schedulingv1.LeaveEditList{},
		Availabilities: &schedulingv1.AvailabilityList{Availabilities: []*schedulingv1.Availability{{
			Id: id(2), Employee: employee, Date: "2025-03-03", Generated: yes, Deleted: no, Version: version, Relations: relations(id(2)),
			Segments: []*schedulingv1.AvailabilitySegment{{
				Id: id(2), AvailabilityType: ref(1, "Available"), StartTime: "08:00:00", EndTime: "12:00:00",
			}},
		}}},
		Holidays: &schedulingv1.HolidayList{},
		DayLocks: &schedulingv1.DayLockList{Locks: []*schedulingv1.DayLock{{
			Id: proto.Int64(1), Employee: employee, StartDateTime: "2025-03-03T00:00:00", EndDateTime: "2025-03-04T00:00:00",
			Generated: no, Posted: no, Deleted: no, Version: proto.Int64(1),
		}}},
		ScheduleTags: &schedulingv1.ScheduleTagList{ScheduleTags: []*schedulingv1.ScheduleTag{{
			Id: id(3), Employee: employee, StartDateTime: "2025-03-03T10:00:00", EndDateTime: "2025-03-03T11:00:00",
			Posted: no, Generated: yes, Deleted: no, OnCall: yes, Version: version, Relations: relations(id(3)), CommentNotes: notes,
			Segments: []*schedulingv1.ScheduleTagSegment{{
				Id: id(3), SegmentType: "ON_CALL_SHIFT",
				TagDefinitionRef: ref(1, "Fire warden"), ScheduleTagColor: "blue", OrgJobRef: job, WorkruleRef: ref(4, "Nights"),
			}},
		}}},
		ScheduleDayList: &schedulingv1.ScheduleDayList{Days: []*schedulingv1.ScheduleDay{
			{Employee: employee, Day: "2025-03-03", HasShift: yes, HasPayCodeEdit: yes, HasHoliday: no},
			{Employee: employee, Day: "2025-03-04", HasShift: no, HasPayCodeEdit: yes, HasHoliday: no},
		}},
		Employees: &schedulingv1.EmployeeRefList{Employees: []*commonv1.Ref{employee}},
		// Commons does not know it.
		ExpandedJobs: &schedulingv1.ExpandedJobList{Jobs: []*schedulingv1.ExpandedJob{{Name: "Picker", Path: "Acme/Plant 1/Packing/Picker"}}},
	}
	// Equal bytes are asked for by decode; texts make a difference readable.
	assert.Empty(t, got.ProtoReflect().GetUnknown())
	require.Equal(t, want.String(), got.String())
	assert.True(t, proto.Equal(want, got))
}

func TestPayCodeEditAndTagWithoutTimes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.employee(1, "UTC")
	item := &schedulingv1.SchedulePatternItem{
		Day:                 proto.Int32(1),
		PayCodeEditTemplate: &schedulingv1.PayCodeEditTemplate{PayCode: ref(20, "Vacation"), DurationInDays: proto.Float64(1)},
		ScheduleTagTemplate: &schedulingv1.ScheduleTagTemplate{
			Segments: []*schedulingv1.ScheduleTagTemplateSegment{{TagDefinition: ref(1, "Fire warden")}},
		},
	}
	f.span(span{employee: 1, from: "2025-03-01", to: "3000-01-01", pattern: f.pattern(cycle(7, item)), position: 6, own: true})

	got := f.read(window("2025-03-01", "2025-03-03", nil, 1))
	require.Len(t, got.GetPayCodeEdits().GetPayCodeEdits(), 1)
	edit := got.GetPayCodeEdits().GetPayCodeEdits()[0]
	assert.Equal(t, "2025-03-02", edit.GetStartDate())
	assert.Equal(t, "2025-03-02", edit.GetEndDate())
	assert.Empty(t, edit.GetStartTime())
	assert.Equal(t, "FROM_PATTERNITEM_TO_ITEM", edit.GetRelations()[0].GetType())
	require.Len(t, got.GetScheduleTags().GetScheduleTags(), 1)
	tag := got.GetScheduleTags().GetScheduleTags()[0]
	assert.Equal(t, "2025-03-02T00:00:00", tag.GetStartDateTime())
	assert.Equal(t, "2025-03-03T00:00:00", tag.GetEndDateTime())
	assert.Equal(t, "SCHEDULE_TAG", tag.GetSegments()[0].GetSegmentType())
	assert.False(t, tag.GetOnCall())
}

func TestOnlyWhatIsSelectedIsPresent(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.employee(1, "UTC")
	got := f.read(window("2025-03-03", "2025-03-03", []string{"shifts", "PayCodeEdits"}, 1))
	want := &schedulingv1.Schedule{Shifts: &schedulingv1.ShiftList{}, PayCodeEdits: &schedulingv1.PayCodeEditList{}}
	assert.Equal(t, want.String(), got.String())
	got = f.read(window("2025-03-03", "2025-03-03", []string{"ONCALLFLAG"}, 1))
	assert.Empty(t, got.String())
}

func TestWindowEdges(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.employee(1, "UTC")
	f.span(span{employee: 1, from: "2025-03-01", to: "2025-03-04", pattern: f.pattern(cycle(1, shift(1, "22:00", "06:00")))})
	f.span(span{employee: 1, lane: 1, from: "2025-03-01", to: "2025-03-04", pattern: f.pattern(cycle(1, shift(1, "16:00", "00:00")))})

	oneDay := f.read(window("2025-03-02", "2025-03-02", onlyShifts(), 1))
	assert.Equal(t, []string{"P1 2025-03-01T22:00:00", "P1 2025-03-02T16:00:00", "P1 2025-03-02T22:00:00"}, starts(oneDay.GetShifts()),
		"the night shift of the evening before touches the day, the shift that ended at midnight does not")

	after := f.read(window("2025-03-04", "2025-03-10", onlyShifts(), 1))
	assert.Equal(t, []string{"P1 2025-03-03T22:00:00"}, starts(after.GetShifts()), "a shift outlives its span")

	req := window("2025-03-02", "2025-03-02", onlyShifts(), 1)
	req.MultiReadOptions = &schedulingv1.MultiReadOptions{ExcludeOvernightShiftsOnStartDate: proto.Bool(true)}
	assert.Equal(t, []string{"P1 2025-03-02T16:00:00", "P1 2025-03-02T22:00:00"}, starts(f.read(req).GetShifts()))

	beginning := f.read(window("1900-01-01", "1900-01-02", onlyShifts(), 1))
	assert.Empty(t, beginning.GetShifts().GetShifts())
	end := f.read(window("2999-12-30", "3400-01-01", onlyShifts(), 1))
	assert.Empty(t, end.GetShifts().GetShifts())
}

func TestSpansThatEndAtForever(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.employee(1, "Europe/Zurich")
	f.span(span{employee: 1, from: "1900-01-01", to: "3000-01-01", pattern: f.pattern(cycle(1, shift(1, "22:00", "06:00")))})
	got := f.read(window("1900-01-01", "1900-01-02", onlyShifts(), 1))
	assert.Equal(t, []string{"P1 1900-01-01T22:00:00", "P1 1900-01-02T22:00:00"}, starts(got.GetShifts()))
	got = f.read(window("2999-12-31", "3000-01-01", onlyShifts(), 1))
	assert.Equal(t, []string{"P1 2999-12-30T22:00:00", "P1 2999-12-31T22:00:00"}, starts(got.GetShifts()))
}

// A read that is given up while the database works on it is an error, and gives
// its connections back.
func TestReadThatIsGivenUp(t *testing.T) {
	t.Parallel()
	for _, table := range []string{"span", "employee"} {
		t.Run(table, func(t *testing.T) {
			f := newFixture(t)
			f.employee(1, "UTC")
			assert.ErrorIs(t, f.readLocked(table), context.DeadlineExceeded, table)
			assert.Eventually(t, func() bool { return f.Pool.Stat().AcquiredConns() == 0 }, 10*time.Second, time.Millisecond)
		})
	}
}

// readLocked reads employee 1 for a moment while a table is locked.
func (f *fixture) readLocked(table string) error {
	f.t.Helper()
	request := window("2025-03-02", "2025-03-02", onlyShifts(), 1)
	blocker, err := f.Pool.Begin(f.Ctx)
	require.NoError(f.t, err)
	defer func() { assert.NoError(f.t, blocker.Rollback(f.Ctx)) }()
	f.read(request) // The other connections know the statements.
	_, err = blocker.Exec(f.Ctx, "LOCK TABLE "+table)
	require.NoError(f.t, err)
	ctx, cancel := context.WithTimeout(f.Ctx, 50*time.Millisecond)
	defer cancel()
	_, err = f.handler.MultiReadSchedule(ctx, request)
	return err
}

func TestTenantsAreApart(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.employee(1, "UTC")
	f.span(span{employee: 1, from: "2025-03-01", to: "2025-03-04", pattern: f.pattern(cycle(1, shift(1, "08:00", "16:00")))})
	assert.Len(t, f.read(window("2025-03-02", "2025-03-02", onlyShifts())).GetShifts().GetShifts(), 1)

	other := tenant.With(t.Context(), tenantID+1)
	response, err := f.client.MultiReadSchedule(other, window("2025-03-02", "2025-03-02", onlyShifts()))
	require.NoError(t, err)
	assert.Empty(t, decode(t, response).GetShifts().GetShifts())
	_, err = f.client.MultiReadSchedule(other, window("2025-03-02", "2025-03-02", onlyShifts(), 1))
	assert.True(t, fault.HasCode(fault.FromError(err), "WFS-103401"))
	_, err = f.client.MultiReadSchedule(t.Context(), window("2025-03-02", "2025-03-02", nil, 1))
	assert.ErrorContains(t, err, "tenant")
}
