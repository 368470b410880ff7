package tagdefinition_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedtest"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/tagdefinition"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

type fixture struct {
	*schedtest.Env
	client schedulingv1.TagDefinitionServiceClient
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	env := schedtest.New(t)
	schedulingv1.RegisterTagDefinitionServiceServer(env.Local, tagdefinition.New(env.Pool, nil))
	return &fixture{env, schedulingv1.NewTagDefinitionServiceClient(env.Conn())}
}

func refsByName(names ...string) (refs []*commonv1.Ref) {
	for _, name := range names {
		refs = append(refs, &commonv1.Ref{Qualifier: proto.String(name)})
	}
	return refs
}

func ofSchedules(a *schedulingv1.ScheduleTagAttributes) *schedulingv1.TagDefinition {
	return &schedulingv1.TagDefinition{Name: "Standby", AssignmentContexts: refsByName("SCHEDULE"), ScheduleContextAttributes: a}
}

func (w *fixture) create(t *testing.T, name string, contexts ...string) int64 {
	t.Helper()
	made, err := w.client.CreateTagDefinition(w.Ctx, &schedulingv1.TagDefinition{Name: name, AssignmentContexts: refsByName(contexts...)})
	require.NoError(t, err)
	return made.GetId()
}

func TestTagDefinitionsAreCompleted(t *testing.T) {
	t.Parallel()
	on, off := proto.Bool(true), proto.Bool(false)
	optional := func(a *schedulingv1.ScheduleTagAttributes) *schedulingv1.ScheduleTagAttributes {
		a.CostCentersConstraint, a.JobTransfersConstraint, a.LaborCategoriesConstraint, a.WorkRulesConstraint = "OPTIONAL", "OPTIONAL", "OPTIONAL", "OPTIONAL"
		return a
	}
	for _, c := range []struct {
		name       string
		sent, want *schedulingv1.ScheduleTagAttributes
	}{
		{"without attributes", nil, nil},
		{"with none", &schedulingv1.ScheduleTagAttributes{}, optional(&schedulingv1.ScheduleTagAttributes{ImpactTotals: off, OnCall: off})},
		{"on call", &schedulingv1.ScheduleTagAttributes{OnCall: on}, optional(&schedulingv1.ScheduleTagAttributes{ImpactTotals: on, OnCall: on})},
		{"with an impact", &schedulingv1.ScheduleTagAttributes{ImpactTotals: on}, optional(&schedulingv1.ScheduleTagAttributes{ImpactTotals: on, OnCall: on})},
		{"with two that differ", &schedulingv1.ScheduleTagAttributes{ImpactTotals: off, OnCall: on}, optional(&schedulingv1.ScheduleTagAttributes{ImpactTotals: off, OnCall: off})},
		{
			"with times", &schedulingv1.ScheduleTagAttributes{DefaultStartTime: "22:00", DefaultEndTime: "06:00:30.5"},
			optional(&schedulingv1.ScheduleTagAttributes{DefaultStartTime: "22:00:00", DefaultEndTime: "06:00:30", ImpactTotals: off, OnCall: off}),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t)
			sent := ofSchedules(c.sent)
			sent.AssignmentContexts = refsByName("SEGMENT", "SCHEDULE", "SEGMENT")
			made, err := w.client.CreateTagDefinition(w.Ctx, sent)
			require.NoError(t, err)
			assert.True(t, proto.Equal(c.want, made.GetScheduleContextAttributes()), "%v", made)
			assert.Equal(t, "OPTIONAL", made.GetCommentsConstraint())
			require.Len(t, made.GetAssignmentContexts(), 2, "each once")
			assert.Equal(t, "SEGMENT", made.GetAssignmentContexts()[0].GetQualifier())
			found, err := w.client.GetTagDefinition(w.Ctx, &schedulingv1.GetTagDefinitionRequest{Id: made.GetId()})
			require.NoError(t, err)
			assert.True(t, proto.Equal(made, found), "%v", found)
		})
	}
}

func TestTagDefinitionsAreRefused(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.create(t, "Taken", "EMPLOYEE")
	type attributes = schedulingv1.ScheduleTagAttributes
	for _, c := range []struct {
		name string
		sent *schedulingv1.TagDefinition
		code string
	}{
		{"no name", &schedulingv1.TagDefinition{Name: " ", AssignmentContexts: refsByName("SCHEDULE")}, tagdefinition.CodeMissing},
		{"a name that is taken in another case", &schedulingv1.TagDefinition{Name: "TAKEN", AssignmentContexts: refsByName("SCHEDULE")}, tagdefinition.CodeTaken},
		{"a description that is too long", &schedulingv1.TagDefinition{Name: "x", AssignmentContexts: refsByName("SCHEDULE"), Description: strings.Repeat("ä", 1001)}, tagdefinition.CodeInvalid},
		{"a color that is too long", &schedulingv1.TagDefinition{Name: "x", AssignmentContexts: refsByName("SCHEDULE"), Color: strings.Repeat("ä", 101)}, tagdefinition.CodeInvalid},
		{"an icon that is too long", ofSchedules(&attributes{TagIconClass: strings.Repeat("ä", 101)}), tagdefinition.CodeInvalid},
		{"for nothing", &schedulingv1.TagDefinition{Name: "x"}, tagdefinition.CodeMissing},
		{"for something unknown", &schedulingv1.TagDefinition{Name: "x", AssignmentContexts: refsByName("SCHEDULE", "schedule")}, tagdefinition.CodeInvalid},
		{"for an id", &schedulingv1.TagDefinition{Name: "x", AssignmentContexts: []*commonv1.Ref{{Id: proto.Int64(1), Qualifier: proto.String("SCHEDULE")}}}, tagdefinition.CodeInvalid},
		{"another constraint of comments", &schedulingv1.TagDefinition{Name: "x", AssignmentContexts: refsByName("SCHEDULE"), CommentsConstraint: "required"}, tagdefinition.CodeInvalid},
		{"another constraint of jobs", ofSchedules(&attributes{JobTransfersConstraint: "SOMETIMES"}), tagdefinition.CodeInvalid},
		{"another constraint of work rules", ofSchedules(&attributes{WorkRulesConstraint: "SOMETIMES"}), tagdefinition.CodeInvalid},
		{"another constraint of cost centers", ofSchedules(&attributes{CostCentersConstraint: "SOMETIMES"}), tagdefinition.CodeInvalid},
		{"another constraint of labor categories", ofSchedules(&attributes{LaborCategoriesConstraint: "SOMETIMES"}), tagdefinition.CodeInvalid},
		{"a start that is no time", ofSchedules(&attributes{DefaultStartTime: "24:00"}), fault.CodeTime},
		{"an end that is no time", ofSchedules(&attributes{DefaultEndTime: "6:00"}), fault.CodeTime},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := w.client.CreateTagDefinition(w.Ctx, c.sent)
			assert.Equal(t, c.code, fault.FromError(err).Code, "%v", err)
		})
	}
}

func TestTagDefinitionsAreFound(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	night, day := w.create(t, "Night", "SCHEDULE", "SEGMENT"), w.create(t, "Day", "SCHEDULE")
	w.create(t, "Trainer", "EMPLOYEE")
	type where = schedulingv1.TagDefinitionsWhere
	list := func(l *commonv1.RefList) *where { return &where{TagDefinitions: l} }
	for _, c := range []struct {
		name  string
		where *where
		want  string
		code  string
	}{
		{"all", nil, "Day Night Trainer", ""},
		{"those of a context", &where{TagAssignmentContext: refsByName("SCHEDULE")[0]}, "Day Night", ""},
		{"those of another context", &where{TagAssignmentContext: refsByName("SEGMENT")[0]}, "Night", ""},
		{"those of no context that there is", &where{TagAssignmentContext: refsByName("PUNCH")[0]}, "", tagdefinition.CodeInvalid},
		{"by ids, as they are asked for", list(&commonv1.RefList{Ids: []int64{night, day, night}}), "Night Day Night", ""},
		{"by names in another case", list(&commonv1.RefList{Qualifiers: []string{"TRAINER", "day"}}), "Trainer Day", ""},
		{"by an id beside another name", list(&commonv1.RefList{Refs: []*commonv1.Ref{{Id: &night, Qualifier: proto.String("Day")}}}), "Night", ""},
		{"by an unknown id", list(&commonv1.RefList{Ids: []int64{day, 999}}), "", tagdefinition.CodeUnknown},
		{"by an unknown name", list(&commonv1.RefList{Qualifiers: []string{"Day", "Noon"}}), "", tagdefinition.CodeUnknownName},
		{"by nothing", list(&commonv1.RefList{Refs: []*commonv1.Ref{{}}}), "", tagdefinition.CodeMissing},
		{"by two lists", list(&commonv1.RefList{Ids: []int64{day}, Qualifiers: []string{"Day"}}), "", tagdefinition.CodeInvalid},
		{"by a list and a context", &where{TagDefinitions: &commonv1.RefList{Ids: []int64{day}}, TagAssignmentContext: refsByName("SCHEDULE")[0]}, "", tagdefinition.CodeInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			found, err := w.client.MultiReadTagDefinitions(w.Ctx, &schedulingv1.MultiReadTagDefinitionsRequest{Where: c.where})
			if c.code != "" {
				assert.Equal(t, c.code, fault.FromError(err).Code, "%v", err)
				return
			}
			require.NoError(t, err)
			var names []string
			for _, d := range found.GetItems() {
				names = append(names, d.GetName())
			}
			assert.Equal(t, c.want, strings.Join(names, " "))
		})
	}
}
