package encoding

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// What is spliced into the bytes of a shift is what one would set in its message.
func TestJobsAreSplicedAsMessagesAreFilled(t *testing.T) {
	t.Parallel()
	const path = "Acme/Packer"
	ref := func(path string) *commonv1.Ref { return &commonv1.Ref{Qualifier: proto.String(path)} }
	rapid.Check(t, func(t *rapid.T) {
		shift := &schedulingv1.Shift{Label: "E", Deleted: no, Posted: no}
		if rapid.Bool().Draw(t, "position") {
			shift.Position = ref("other")
		}
		if rapid.Bool().Draw(t, "notes") {
			shift.CommentNotes = []*schedulingv1.CommentNote{{Id: proto.Int64(3)}}
		}
		if rapid.Bool().Draw(t, "flags") {
			shift.Deleted = nil
		}
		for range rapid.IntRange(0, 3).Draw(t, "segments") {
			s := &schedulingv1.ShiftSegment{Id: proto.Int64(1 << 52), StartDateTime: "1900-01-01T06:00:00"}
			if rapid.Bool().Draw(t, "flags") {
				s.TransferOrgJob, s.UserEnteredOrgJob = proto.Bool(false), proto.Bool(false)
			}
			if rapid.Bool().Draw(t, "work rule") {
				s.WorkruleRef = ref("Day")
			}
			if rapid.Bool().Draw(t, "profiles") {
				s.SkillCertProfileRefs = []*commonv1.Ref{ref("Forklift")}
			}
			switch rapid.IntRange(0, 2).Draw(t, "job") {
			case 1:
				s.OrgJobRef = ref("Acme/Driver")
			case 2:
				s.OrgJobRef = ref(path)
			}
			shift.Segments = append(shift.Segments, s)
		}
		body, err := proto.Marshal(shift)
		require.NoError(t, err)
		spliced, err := BodyWithJob(body, NewJob(path))
		require.NoError(t, err)
		got := &schedulingv1.Shift{}
		require.NoError(t, proto.Unmarshal(spliced, got))

		if shift.Position == nil {
			shift.Position = ref(path)
		}
		for _, s := range shift.GetSegments() {
			s.PrimaryOrgJobRef = ref(path)
			if s.OrgJobRef == nil {
				s.OrgJobRef = ref(path)
			}
			if s.TransferOrgJob != nil {
				s.TransferOrgJob = proto.Bool(s.GetOrgJobRef().GetQualifier() != path)
			}
		}
		assert.Equal(t, shift.String(), got.String())
		if t.Failed() {
			t.FailNow()
		}
	})
}
