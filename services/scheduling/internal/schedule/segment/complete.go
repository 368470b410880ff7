package segment

import (
	"google.golang.org/protobuf/proto"

	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// Complete sets the missing flags of a shift and of its segments, and the empty list of comments,
// which clients expect in every shift. Missing flags are false.
func Complete(shift *schedulingv1.Shift) {
	for _, flag := range []**bool{
		&shift.Generated, &shift.Open, &shift.Locked, &shift.Posted, &shift.OnCall, &shift.SelfServiced,
		&shift.PostedNotified, &shift.PostedNotificationPending, &shift.Deleted,
	} {
		setFlag(flag, false)
	}
	if shift.CommentNotes == nil {
		shift.CommentNotes = &schedulingv1.CommentNoteList{}
	}
	for _, s := range shift.GetSegments() {
		CompleteFlags(s)
	}
}

// CompleteFlags sets the missing flags of a segment. The userEntered flags default to whether the
// segment has the value. The transfer flags default to false.
func CompleteFlags(s *schedulingv1.ShiftSegment) {
	for _, flag := range []**bool{&s.TransferOrgJob, &s.TransferWorkrule, &s.TransferCostCenter, &s.TransferLaborCategories} {
		setFlag(flag, false)
	}
	setFlag(&s.UserEnteredOrgJob, hasValue(s.GetOrgJobRef()))
	setFlag(&s.UserEnteredWorkrule, hasValue(s.GetWorkruleRef()))
	setFlag(&s.UserEnteredCostCenter, hasValue(s.GetCostCenter().GetCostCenter()))
	setFlag(&s.UserEnteredLaborCategories, len(s.GetLaborCategories().GetEntries()) > 0)
}

func setFlag(flag **bool, value bool) {
	if *flag == nil {
		*flag = proto.Bool(value)
	}
}

func hasValue(ref *commonv1.Ref) bool { return ref.GetId() != 0 || ref.GetQualifier() != "" }
