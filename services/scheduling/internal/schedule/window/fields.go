package window

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/protofield"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// entries has an empty message of each kind of entry.
var entries = [Kinds]proto.Message{
	KindShift: &schedulingv1.Shift{}, KindPayCodeEdit: &schedulingv1.PayCodeEdit{}, KindAvailability: &schedulingv1.Availability{},
	KindTag: &schedulingv1.ScheduleTag{}, KindLeaveEdit: &schedulingv1.LeaveEdit{},
}

// The tags of fields that have the same number in all kinds of entries.
var (
	idTag       = byte(protowire.EncodeTag(sharedNumber("id"), protowire.VarintType))
	employeeTag = byte(protowire.EncodeTag(sharedNumber("employee"), protowire.BytesType))
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

// jobPaths are the field paths to the job of an entry. If it has segments, each has a job.
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

// The fields of references.
var (
	refID        = protofield.MustShort(&commonv1.Ref{}, "id")
	refQualifier = protofield.MustShort(&commonv1.Ref{}, "qualifier")
)

// sharedNumber returns the number that a field has in all kinds of entries.
func sharedNumber(name protoreflect.Name) protowire.Number {
	numbers := make([]protowire.Number, len(entries))
	for k, m := range entries {
		numbers[k] = protofield.MustShort(m, name)
	}
	return protofield.MustShare(numbers...)
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
