package encoding

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/rotaloom/rotaloom/pkg/protofield"
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

// itemTag is the tag of the entries of a list. All kinds of lists share its number.
var itemTag = byte(protowire.EncodeTag(protofield.MustShare(
	protofield.MustShort(&schedulingv1.ShiftList{}, "shifts"), protofield.MustShort(&schedulingv1.PayCodeEditList{}, "pay_code_edits"),
	protofield.MustShort(&schedulingv1.AvailabilityList{}, "availabilities"), protofield.MustShort(&schedulingv1.ScheduleTagList{}, "schedule_tags"),
	protofield.MustShort(&schedulingv1.LeaveEditList{}, "leave_edits"),
), protowire.BytesType))

// The fields of other messages.
var (
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
