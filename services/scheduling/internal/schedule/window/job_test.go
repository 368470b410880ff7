package window

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
)

// Splicing bytes into an encoded shift gives the same result as setting the fields of its message.
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
			shift.CommentNotes = &schedulingv1.CommentNoteList{CommentNotes: []*schedulingv1.CommentNote{{Id: proto.Int64(3)}}}
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
		spliced, err := BodyWithJob(body, KindShift, NewJob(projection.Job{Path: path}))
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

// The same of a pay code edit, as it is stored and in the sections of a template.
func TestJobsAreSplicedIntoPayCodeEdits(t *testing.T) {
	t.Parallel()
	const path = "Acme/Packer"
	ref := func(path string) *commonv1.Ref { return &commonv1.Ref{Qualifier: proto.String(path)} }
	rapid.Check(t, func(t *rapid.T) {
		given := &schedulingv1.PayCodeEditTemplate{PayCode: ref("Vacation"), Locked: proto.Bool(rapid.Bool().Draw(t, "locked"))}
		if rapid.Bool().Draw(t, "times") {
			given.StartDateTime, given.EndDateTime = "1900-01-01T06:00:00", "1900-01-02T02:00:00"
		}
		if rapid.Bool().Draw(t, "transfer") {
			given.TransferString = "x"
		}
		if rapid.Bool().Draw(t, "notes") {
			given.CommentNotes = []*schedulingv1.CommentNote{{Id: proto.Int64(3)}}
		}
		given.OrgJob = rapid.SampledFrom([]*commonv1.Ref{nil, ref("Acme/Driver"), ref(path)}).Draw(t, "job")
		template, err := payCodeEditTemplate(given)
		require.NoError(t, err)
		plain, body := template.Text(), template.Text()

		want := &schedulingv1.PayCodeEdit{}
		require.NoError(t, proto.Unmarshal(plain, want))
		want.Position, want.PrimaryOrgJobRef = ref(path), ref(path)
		want.UserEnteredOrgJob = proto.Bool(given.OrgJob != nil)
		want.TransferOrgJob = proto.Bool(given.OrgJob != nil && given.GetOrgJob().GetQualifier() != path)
		if given.OrgJob == nil {
			want.OrgJobRef = ref(path)
		}

		onJob, err := template.WithJob(NewJob(projection.Job{Path: path}))
		require.NoError(t, err)
		text := onJob.Text()
		stored, err := BodyWithJob(body, KindPayCodeEdit, NewJob(projection.Job{Path: path}))
		require.NoError(t, err)
		for _, spliced := range [][]byte{text, stored} {
			got := &schedulingv1.PayCodeEdit{}
			require.NoError(t, proto.Unmarshal(spliced, got))
			require.Equal(t, want.String(), got.String())
			inOrder, err := proto.MarshalOptions{Deterministic: true}.Marshal(want)
			require.NoError(t, err)
			require.Equal(t, inOrder, spliced, "fields ascend")
		}
		require.Equal(t, template.sections[0].text[template.lockedAt], onJob.sections[0].text[onJob.lockedAt])
		require.Equal(t, plain, template.Text(), "the template itself stays as it is")
		for i, h := range onJob.sections[0].placeholders {
			before := template.sections[0].placeholders[i]
			length := int32(dateLen)
			if h.form == formClock {
				length = int32(clockLen)
			}
			require.Equal(t, template.sections[0].text[before.at:before.at+length], onJob.sections[0].text[h.at:h.at+length])
		}
	})
}

// A segment or an edit at the employee's own location is not a transfer, by whatever path it names the location.
func TestTransfersLeaveThePrimaryJob(t *testing.T) {
	t.Parallel()
	job := NewJob(projection.Job{Path: "Acme/S/1", LocationID: 9, OtherPaths: []string{"Acme/N/1", "Acme/One"}})
	named := func(id int64, path string) *commonv1.Ref {
		out := &commonv1.Ref{}
		if id != 0 {
			out.Id = &id
		}
		if path != "" {
			out.Qualifier = &path
		}
		return out
	}
	for _, c := range []struct {
		name     string
		ref      *commonv1.Ref
		transfer bool
	}{
		{"none", nil, false},
		{"the path", named(0, "Acme/S/1"), false},
		{"an older path", named(0, "Acme/N/1"), false},
		{"the id", named(9, ""), false},
		{"the id with the path", named(9, "Acme/S/1"), false},
		{"the id with an older path", named(9, "Acme/One"), false},
		{"another path", named(0, "Acme/S/2"), true},
		{"the end of the path", named(0, "1"), true},
		{"another id", named(8, ""), true},
		{"the id with another path", named(9, "Acme/S/2"), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			shift := &schedulingv1.Shift{Segments: []*schedulingv1.ShiftSegment{{OrgJobRef: c.ref, TransferOrgJob: proto.Bool(false)}}}
			body, err := proto.Marshal(shift)
			require.NoError(t, err)
			text, err := BodyWithJob(body, KindShift, job)
			require.NoError(t, err)
			require.NoError(t, proto.Unmarshal(text, shift))
			assert.Equal(t, c.transfer, shift.GetSegments()[0].GetTransferOrgJob())
			edit := &schedulingv1.PayCodeEdit{OrgJobRef: c.ref}
			body, err = proto.Marshal(edit)
			require.NoError(t, err)
			text, err = BodyWithJob(body, KindPayCodeEdit, job)
			require.NoError(t, err)
			require.NoError(t, proto.Unmarshal(text, edit))
			assert.Equal(t, c.transfer, edit.GetTransferOrgJob())
		})
	}
}
