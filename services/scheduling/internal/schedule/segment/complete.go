package segment

import (
	"google.golang.org/protobuf/proto"

	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// Complete gives a shift the flags and the list that clients read of every shift, where
// they are not set, and the flags of its segments. All are false or empty by themselves.
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

// CompleteFlags gives a segment the flags that are not set: whether somebody entered
// what it names, which is so when it names something, and whether that is a transfer,
// which is false as long as nobody says otherwise.
func CompleteFlags(s *schedulingv1.ShiftSegment) {
	for _, flag := range []**bool{&s.TransferOrgJob, &s.TransferWorkrule, &s.TransferCostCenter, &s.TransferLaborCategories} {
		setFlag(flag, false)
	}
	setFlag(&s.UserEnteredOrgJob, named(s.GetOrgJobRef()))
	setFlag(&s.UserEnteredWorkrule, named(s.GetWorkruleRef()))
	setFlag(&s.UserEnteredCostCenter, named(s.GetCostCenter().GetCostCenter()))
	setFlag(&s.UserEnteredLaborCategories, len(s.GetLaborCategories().GetEntries()) > 0)
}

func setFlag(flag **bool, value bool) {
	if *flag == nil {
		*flag = proto.Bool(value)
	}
}

func named(ref *commonv1.Ref) bool { return ref.GetId() != 0 || ref.GetQualifier() != "" }
