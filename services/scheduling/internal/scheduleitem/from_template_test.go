package scheduleitem

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/civil"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// fill gives each property of a message a value, and each list one element.
func fill(m protoreflect.Message) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		switch {
		case f.IsMap():
		case f.IsList() && f.Message() != nil:
			fill(m.Mutable(f).List().AppendMutable().Message())
		case f.Message() != nil:
			fill(m.Mutable(f).Message())
		case f.Kind() == protoreflect.StringKind:
			m.Set(f, protoreflect.ValueOfString(string(f.Name())))
		case f.Kind() == protoreflect.BoolKind:
			m.Set(f, protoreflect.ValueOfBool(true))
		case f.Kind() == protoreflect.Int64Kind:
			m.Set(f, protoreflect.ValueOfInt64(int64(f.Number())))
		case f.Kind() == protoreflect.Int32Kind:
			m.Set(f, protoreflect.ValueOfInt32(int32(f.Number())))
		}
	}
}

// A shift from a template has each property of the template. A property that the contract adds to
// templates fails this test until it has a place in the shift, or a reason to have none.
func TestShiftsFromTemplatesLoseNothing(t *testing.T) {
	t.Parallel()
	const times = "1900-01-01T08:00:00"
	template := &schedulingv1.ShiftTemplate{}
	fill(template.ProtoReflect())
	template.StartDateTime, template.EndDateTime = times, times
	template.Segments[0].StartDateTime, template.Segments[0].EndDateTime = times, times
	day, err := civil.ParseDate("2026-03-02")
	require.NoError(t, err)
	shift, err := fromTemplate(template, day)
	require.NoError(t, err)

	for _, c := range []struct {
		name     string
		template proto.Message
		shift    proto.Message
		// place has the property of the shift for a property of the template with another name.
		place map[protoreflect.Name]protoreflect.Name
		// omitted has the reason why a property has no place in the shift.
		omitted map[protoreflect.Name]string
	}{
		{"shift", template, shift, nil, map[protoreflect.Name]string{
			"id": "stands in the relation", "name": "stands in the relation", "version": "that of the template",
			"description": "describes the template", "deleted": "computed", "system_generated": "that of the template",
			"comment_notes": "a list of its own type, compared below", "segments": "compared below",
		}},
		{"segment", template.GetSegments()[0], shift.GetSegments()[0], map[protoreflect.Name]protoreflect.Name{
			"segment_type": "segment_type_ref", "org_node": "org_job_ref", "work_rule": "workrule_ref",
			"segment_sc_profiles": "skill_cert_profile_refs", "segment_template_tags": "segment_tags",
		}, map[protoreflect.Name]string{"id": "that of the template", "order_number": "the order of the list"}},
		{"tag", template.GetSegments()[0].GetSegmentTemplateTags()[0], shift.GetSegments()[0].GetSegmentTags()[0], nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			from, to := c.template.ProtoReflect(), c.shift.ProtoReflect()
			fields := from.Descriptor().Fields()
			for i := range fields.Len() {
				f := fields.Get(i)
				if c.omitted[f.Name()] != "" {
					continue
				}
				name := f.Name()
				if other, ok := c.place[name]; ok {
					name = other
				}
				g := to.Descriptor().Fields().ByName(name)
				if !assert.NotNil(t, g, "a shift has no %s", name) {
					continue
				}
				assert.True(t, to.Has(g), "%s is lost", f.Name())
				if f.Kind() != protoreflect.MessageKind && name != "start_date_time" && name != "end_date_time" {
					assert.Equal(t, from.Get(f).Interface(), to.Get(g).Interface(), f.Name())
				}
			}
		})
	}
	require.Len(t, shift.GetCommentNotes().GetCommentNotes(), 1)
	assert.True(t, proto.Equal(template.GetCommentNotes()[0], shift.GetCommentNotes().GetCommentNotes()[0]))
}
