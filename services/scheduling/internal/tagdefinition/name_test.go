package tagdefinition_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/setupref"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/tagdefinition"
)

// putTag puts a tag on the schedule of P1.
func (w *fixture) putTag(t *testing.T, ref *commonv1.Ref) {
	t.Helper()
	body, err := proto.Marshal(&schedulingv1.ScheduleTag{Segments: []*schedulingv1.ScheduleTagSegment{{TagDefinitionRef: ref}}})
	require.NoError(t, err)
	w.Exec(t, "INSERT INTO employee VALUES (1, 1, 'P1', 'One', 'Europe/Zurich', 1) ON CONFLICT DO NOTHING")
	w.Exec(t, `INSERT INTO schedule_item (tenant_id, id, employee_id, kind, from_day, to_day, body)
		VALUES (1, 1, 1, 'SCHEDULE_TAG', '2026-03-03', '2026-03-03', $1)`, body)
}

// putPattern puts a tag that names its definition into a pattern template.
func (w *fixture) putPattern(t *testing.T, name string) {
	t.Helper()
	body, err := proto.Marshal(&schedulingv1.SchedulePattern{Items: []*schedulingv1.SchedulePatternItem{{ScheduleTagTemplate: &schedulingv1.ScheduleTagTemplate{
		Segments: []*schedulingv1.ScheduleTagTemplateSegment{{TagDefinition: &commonv1.Ref{Qualifier: &name}}},
	}}}})
	require.NoError(t, err)
	w.Exec(t, `INSERT INTO schedule_pattern_template (tenant_id, name, body) VALUES (1, 'Week', $1)`, body)
}

func (w *fixture) rename(id int64, name string) error {
	_, err := w.client.UpdateTagDefinition(w.Ctx, &schedulingv1.UpdateTagDefinitionRequest{
		Id: id, Body: &schedulingv1.TagDefinition{Name: name, AssignmentContexts: refsByName("SCHEDULE")},
	})
	return err
}

func (w *fixture) remove(id int64) error {
	_, err := w.client.DeleteTagDefinition(w.Ctx, &schedulingv1.DeleteTagDefinitionRequest{Id: id})
	return err
}

func requireRefused(t *testing.T, err error, code, text string) {
	t.Helper()
	require.Error(t, err)
	assert.Equal(t, code, fault.FromError(err).Code)
	assert.Contains(t, err.Error(), text)
}

// A definition stays while a tag on a schedule, or a pattern, refers to it.
func TestTagDefinitionsInUseStay(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	id := w.create(t, "Night", "SCHEDULE")
	w.putTag(t, &commonv1.Ref{Id: &id})
	requireRefused(t, w.remove(id), tagdefinition.CodeInUse, `The schedule of the employee "P1" on 2026-03-03 refers to the tag definition "Night"`)
	w.Exec(t, "UPDATE schedule_item SET deleted = true")
	w.putPattern(t, "night")
	requireRefused(t, w.remove(id), tagdefinition.CodeInUse, `The schedule pattern template "Week" refers to the tag definition "Night"`)
	require.NoError(t, w.rename(id, "Late"))
	requireRefused(t, w.remove(id), tagdefinition.CodeInUse, `The schedule pattern template "Week" refers to the tag definition "Late"`)
	w.Exec(t, "DELETE FROM schedule_pattern_template")
	require.NoError(t, w.remove(id))
	names, err := setupref.ReadNames(w.Ctx, w.Pool)
	require.NoError(t, err)
	assert.Nil(t, names, "the former names are deleted with the definition")
}

// A former name means its definition, until another definition gets the name. No definition gets it while a
// pattern uses it.
func TestFormerNamesOfTagDefinitions(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	first, second := w.create(t, "Night", "SCHEDULE"), w.create(t, "Day", "SCHEDULE")
	require.NoError(t, w.rename(first, "Late"))
	require.NoError(t, w.rename(first, "Dark"))
	show := func(ref *commonv1.Ref) string {
		tag := &schedulingv1.ScheduleTag{Segments: []*schedulingv1.ScheduleTagSegment{{TagDefinitionRef: proto.CloneOf(ref)}}}
		require.NoError(t, setupref.Show(w.Ctx, w.Pool, tag))
		return tag.GetSegments()[0].GetTagDefinitionRef().GetQualifier()
	}
	byID := &commonv1.Ref{Id: &first, Qualifier: proto.String("Night")}
	for name, want := range map[string]string{"night": "Dark", "LATE": "Dark", "Dark": "Dark", "Day": "Day", "Unknown": "Unknown"} {
		assert.Equal(t, want, show(refsByName(name)[0]), name)
	}
	assert.Equal(t, "Dark", show(byID))
	assert.Equal(t, "Night", show(&commonv1.Ref{Id: &second, Qualifier: proto.String("Night")}), "another definition")

	w.putPattern(t, "night")
	requireRefused(t, w.rename(second, "NIGHT"), tagdefinition.CodeTaken, `The schedule pattern template "Week" refers to the tag definition "Dark" by this former name`)
	w.Exec(t, "DELETE FROM schedule_pattern_template")
	require.NoError(t, w.rename(second, "Night"))
	assert.Equal(t, "Night", show(refsByName("Night")[0]))
	assert.Equal(t, "Dark", show(byID))
	require.NoError(t, w.rename(second, "Noon"))
	assert.Equal(t, "Noon", show(refsByName("Night")[0]), "the last definition with the name")
	require.NoError(t, w.rename(first, "Night"))
	assert.Equal(t, "Night", show(refsByName("Dark")[0]))
}
