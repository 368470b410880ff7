package encoding

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/protofield"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// The fields of Schedule.
var (
	fieldShifts         = protofield.MustShort(&schedulingv1.Schedule{}, "shifts")
	fieldOpenShifts     = protofield.MustShort(&schedulingv1.Schedule{}, "open_shifts")
	fieldOpenSummary    = protofield.MustShort(&schedulingv1.Schedule{}, "open_shifts_summary")
	fieldPayCodeEdits   = protofield.MustShort(&schedulingv1.Schedule{}, "pay_code_edits")
	fieldLeaveEdits     = protofield.MustShort(&schedulingv1.Schedule{}, "leave_edits")
	fieldAvailabilities = protofield.MustShort(&schedulingv1.Schedule{}, "availabilities")
	fieldHolidays       = protofield.MustShort(&schedulingv1.Schedule{}, "holidays")
	fieldDayLocks       = protofield.MustShort(&schedulingv1.Schedule{}, "day_locks")
	fieldTags           = protofield.MustShort(&schedulingv1.Schedule{}, "schedule_tags")
	fieldDays           = protofield.MustShort(&schedulingv1.Schedule{}, "schedule_day_list")
	fieldEmployees      = protofield.MustShort(&schedulingv1.Schedule{}, "employees")
	fieldJobs           = protofield.MustShort(&schedulingv1.Schedule{}, "expanded_jobs")
)

// entries has an empty message of each kind of entry.
var entries = [Kinds]proto.Message{
	KindShift: &schedulingv1.Shift{}, KindPayCodeEdit: &schedulingv1.PayCodeEdit{}, KindAvailability: &schedulingv1.Availability{},
	KindTag: &schedulingv1.ScheduleTag{}, KindLeaveEdit: &schedulingv1.LeaveEdit{},
}

// Fields that have the same number in all kinds of entries, and in all kinds of lists.
var (
	fieldID       = sharedNumber(entries[:], "id", "id", "id", "id", "id")
	fieldEmployee = sharedNumber(entries[:], "employee", "employee", "employee", "employee", "employee")
	fieldItems    = sharedNumber([]proto.Message{
		&schedulingv1.ShiftList{}, &schedulingv1.PayCodeEditList{}, &schedulingv1.AvailabilityList{}, &schedulingv1.ScheduleTagList{},
		&schedulingv1.LeaveEditList{},
	}, "shifts", "pay_code_edits", "availabilities", "schedule_tags", "leave_edits")

	idTag       = byte(protowire.EncodeTag(fieldID, protowire.VarintType))
	employeeTag = byte(protowire.EncodeTag(fieldEmployee, protowire.BytesType))
	itemTag     = byte(protowire.EncodeTag(fieldItems, protowire.BytesType))
)

// Fields whose numbers depend on the kind. Availabilities and tags have no locked field; its number
// is 0.
var (
	versionFields  = kindNumbers("version")
	relationFields = kindNumbers("relations")
	lockedFields   = kindNumbers("locked")

	versionTags  = tags(versionFields, protowire.VarintType)
	relationTags = tags(relationFields, protowire.BytesType)
)

// jobPaths are the field paths to the job of a stored item. If it has segments, that is the job of
// the first one.
var jobPaths = [Kinds][]protowire.Number{
	KindShift: {
		protofield.MustNumber(&schedulingv1.Shift{}, "segments"), protofield.MustNumber(&schedulingv1.ShiftSegment{}, "org_job_ref"),
	},
	KindPayCodeEdit: {protofield.MustNumber(&schedulingv1.PayCodeEdit{}, "org_job_ref")},
	KindTag: {
		protofield.MustNumber(&schedulingv1.ScheduleTag{}, "segments"), protofield.MustNumber(&schedulingv1.ScheduleTagSegment{}, "org_job_ref"),
	},
}

// The times of entries.
var (
	shiftStart   = protofield.MustNumber(&schedulingv1.Shift{}, "start_date_time")
	shiftEnd     = protofield.MustNumber(&schedulingv1.Shift{}, "end_date_time")
	shiftSegment = protofield.MustNumber(&schedulingv1.Shift{}, "segments")
	segmentID    = protofield.MustShort(&schedulingv1.ShiftSegment{}, "id")
	segmentStart = protofield.MustNumber(&schedulingv1.ShiftSegment{}, "start_date_time")
	segmentEnd   = protofield.MustNumber(&schedulingv1.ShiftSegment{}, "end_date_time")

	editStartDate = protofield.MustNumber(&schedulingv1.PayCodeEdit{}, "start_date")
	editEndDate   = protofield.MustNumber(&schedulingv1.PayCodeEdit{}, "end_date")
	editStart     = protofield.MustNumber(&schedulingv1.PayCodeEdit{}, "start_time")
	editEnd       = protofield.MustNumber(&schedulingv1.PayCodeEdit{}, "end_time")

	availabilityDate     = protofield.MustNumber(&schedulingv1.Availability{}, "date")
	availabilitySegments = protofield.MustNumber(&schedulingv1.Availability{}, "segments")

	tagStart    = protofield.MustNumber(&schedulingv1.ScheduleTag{}, "start_date_time")
	tagEnd      = protofield.MustNumber(&schedulingv1.ScheduleTag{}, "end_date_time")
	tagSegments = protofield.MustNumber(&schedulingv1.ScheduleTag{}, "segments")

	leaveEndDate = protofield.MustNumber(&schedulingv1.LeaveEdit{}, "end_date")
	leaveStart   = protofield.MustNumber(&schedulingv1.LeaveEdit{}, "start_time")
)

// The fields of other messages.
var (
	refID        = protofield.MustShort(&commonv1.Ref{}, "id")
	refQualifier = protofield.MustShort(&commonv1.Ref{}, "qualifier")

	summaryTotal  = protofield.MustShort(&schedulingv1.OpenShiftsSummary{}, "total_count")
	summaryCounts = protofield.MustShort(&schedulingv1.OpenShiftsSummary{}, "counts_by_date")
	countDate     = protofield.MustShort(&schedulingv1.OpenShiftCount{}, "date")
	countShifts   = protofield.MustShort(&schedulingv1.OpenShiftCount{}, "open_shift_count")
	countJob      = protofield.MustShort(&schedulingv1.OpenShiftCount{}, "org_job")

	lockItems    = protofield.MustShort(&schedulingv1.DayLockList{}, "locks")
	lockID       = protofield.MustShort(&schedulingv1.DayLock{}, "id")
	lockEmployee = protofield.MustShort(&schedulingv1.DayLock{}, "employee")
	lockStart    = protofield.MustShort(&schedulingv1.DayLock{}, "start_date_time")
	lockEnd      = protofield.MustShort(&schedulingv1.DayLock{}, "end_date_time")
	lockFlags    = []protowire.Number{
		protofield.MustShort(&schedulingv1.DayLock{}, "generated"), protofield.MustShort(&schedulingv1.DayLock{}, "posted"),
		protofield.MustShort(&schedulingv1.DayLock{}, "deleted"),
	}
	lockVersion = protofield.MustShort(&schedulingv1.DayLock{}, "version")

	dayItems          = protofield.MustShort(&schedulingv1.ScheduleDayList{}, "days")
	dayEmployee       = protofield.MustShort(&schedulingv1.ScheduleDay{}, "employee")
	dayDay            = protofield.MustShort(&schedulingv1.ScheduleDay{}, "day")
	dayHasShift       = protofield.MustShort(&schedulingv1.ScheduleDay{}, "has_shift")
	dayHasPayCodeEdit = protofield.MustShort(&schedulingv1.ScheduleDay{}, "has_pay_code_edit")
	dayHasHoliday     = protofield.MustShort(&schedulingv1.ScheduleDay{}, "has_holiday")

	employeeItems = protofield.MustShort(&schedulingv1.EmployeeRefList{}, "employees")

	holidayItems    = protofield.MustShort(&schedulingv1.HolidayList{}, "holidays")
	holidayEmployee = protofield.MustShort(&schedulingv1.ScheduledHoliday{}, "employee")
)

// sharedNumber returns the number that fields of several messages share. It panics if the numbers
// differ.
func sharedNumber(messages []proto.Message, names ...protoreflect.Name) protowire.Number {
	number := protofield.MustShort(messages[0], names[0])
	for i, m := range messages {
		if protofield.MustShort(m, names[i]) != number {
			panic(fmt.Sprintf("encoding: %s.%s does not have the number %d", m.ProtoReflect().Descriptor().FullName(), names[i], number))
		}
	}
	return number
}

// kindNumbers returns the number of a field in each kind; 0 for kinds without it.
func kindNumbers(name protoreflect.Name) (numbers [Kinds]protowire.Number) {
	for k, m := range entries {
		numbers[k], _ = protofield.Number(m, name)
	}
	return numbers
}

func tags(fields [Kinds]protowire.Number, t protowire.Type) (tags [Kinds][]byte) {
	for k, field := range fields {
		tags[k] = protowire.AppendTag(nil, field, t)
	}
	return tags
}
