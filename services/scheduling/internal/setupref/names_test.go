package setupref_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/setupref"
)

func refByName(name string) *commonv1.Ref { return &commonv1.Ref{Qualifier: &name} }

// Transfer strings have the present name of their work rule.
func TestTransfersFollowRenames(t *testing.T) {
	t.Parallel()
	names := setupref.NewNames([]setupref.Former{
		{Kind: setupref.WorkRule, ID: 1, Key: "nights", Present: "Late", ByName: true},
		{Kind: setupref.WorkRule, ID: 2, Key: "days", Present: "Days; early", ByName: true},
	})
	for sent, want := range map[string]string{
		"":                          "",
		";Nights":                   ";Late",
		"Nights;NIGHTS;Nights;c":    "Nights;Late;Nights;c",
		"Store/Baker; nights ;4711": "Store/Baker; Late ;4711",
		"Store/Baker;Late;":         "Store/Baker;Late;",
		"Nights":                    "Nights",
		"Store/Baker;;Nights":       "Store/Baker;;Nights",
		"Store/Baker;Days;":         "Store/Baker;Days;", // The present name cannot be in a transfer.
	} {
		t.Run(sent, func(t *testing.T) {
			t.Parallel()
			segment := &schedulingv1.ShiftSegment{TransferString: sent}
			assert.Equal(t, want != sent, names.Apply(segment))
			assert.Equal(t, want, segment.GetTransferString())
		})
	}
}

// References are found in encoded messages.
func TestFieldsOfReferences(t *testing.T) {
	t.Parallel()
	shifts, edits := setupref.FieldsOf(&schedulingv1.Shift{}), setupref.FieldsOf(&schedulingv1.PayCodeEdit{})
	segment := func(s *schedulingv1.ShiftSegment) proto.Message {
		return &schedulingv1.Shift{Label: "E", Segments: []*schedulingv1.ShiftSegment{{Type: "REGULAR_SEGMENT"}, s}}
	}
	for _, c := range []struct {
		name    string
		fields  *setupref.Fields
		message proto.Message
		want    bool
	}{
		{"a plain shift", shifts, segment(&schedulingv1.ShiftSegment{OrgJobRef: refByName("Store/Baker")}), false},
		{"a work rule", shifts, segment(&schedulingv1.ShiftSegment{WorkruleRef: refByName("Nights")}), true},
		{"a transfer", shifts, segment(&schedulingv1.ShiftSegment{TransferString: ";Nights"}), true},
		{"a tag", shifts, segment(&schedulingv1.ShiftSegment{SegmentTags: []*schedulingv1.SegmentTag{{TagDefinitionRef: refByName("On call")}}}), true},
		{"a pay code", edits, &schedulingv1.PayCodeEdit{PayCodeRef: refByName("Sick")}, true},
		{"an edit without a pay code", edits, &schedulingv1.PayCodeEdit{StartDate: "2026-01-01"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			body, err := proto.Marshal(c.message)
			require.NoError(t, err)
			assert.Equal(t, c.want, c.fields.In(body))
		})
	}
	assert.False(t, shifts.In([]byte{0xff}))
}
