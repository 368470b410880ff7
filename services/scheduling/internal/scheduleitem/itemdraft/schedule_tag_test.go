package itemdraft_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/testkit/faulttest"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedtest"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemdraft"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemfault"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/tagdefinition"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func tag(segments ...*schedulingv1.ScheduleTagSegment) *schedulingv1.ScheduleTag {
	return &schedulingv1.ScheduleTag{StartDateTime: "2026-03-02T08:00:00", EndDateTime: "2026-03-02T16:00:00", Segments: segments}
}

func TestScheduleTagsAreChecked(t *testing.T) {
	t.Parallel()
	until := func(end string) *schedulingv1.ScheduleTag {
		return &schedulingv1.ScheduleTag{StartDateTime: "2026-03-02T08:00:00", EndDateTime: end}
	}
	kinds := func(kinds ...string) *schedulingv1.ScheduleTag {
		out := tag()
		for _, kind := range kinds {
			out.Segments = append(out.Segments, &schedulingv1.ScheduleTagSegment{SegmentType: kind})
		}
		return out
	}
	for _, c := range []struct {
		name     string
		employee *projection.Employee
		sent     *schedulingv1.ScheduleTag
		code     string // "" for a tag up to the day
		to       civil.Date
		onCall   bool
	}{
		{"one of a day", baker(t), tag(), "", civil.Of(2026, 3, 2), false},
		{"one until midnight", baker(t), until("2026-03-03T00:00:00"), "", civil.Of(2026, 3, 2), false},
		{"one of a year and a day", baker(t), until("2027-03-03T00:00:00"), "", civil.Of(2027, 3, 2), false},
		{"a longer one", baker(t), until("2027-03-03T00:00:01"), fault.CodeInput, 0, false},
		{"one that ends as it starts", baker(t), until("2026-03-02T08:00:00"), fault.CodeInput, 0, false},
		{"nobody's", nil, tag(), itemfault.CodeEmployeeMissing, 0, false},
		{"one on call", baker(t), kinds("", "ON_CALL_SHIFT"), "", civil.Of(2026, 3, 2), true},
		{"one of a forecast", baker(t), kinds("PREDICTIVE_TAG"), "", civil.Of(2026, 3, 2), false},
		{"one of another type", baker(t), kinds("SCHEDULE_TAG", "REGULAR_SEGMENT"), fault.CodeInput, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			draft, err := itemdraft.ScheduleTag(c.sent, c.employee)
			faulttest.RequireCode(t, c.code, err)
			if c.code != "" {
				return
			}
			out := draft.Segmented.(*schedulingv1.ScheduleTag)
			assert.Equal(t, c.to, draft.To)
			assert.Equal(t, civil.Range{From: civil.Of(2026, 3, 2), To: civil.Of(2026, 3, 3)}, draft.Occupies, "it belongs to the day it starts")
			assert.Equal(t, c.onCall, out.GetOnCall())
			for _, s := range out.GetSegments() {
				assert.NotEmpty(t, s.GetSegmentType())
			}
		})
	}
}

func TestTagDefinitionsDecideAboutTags(t *testing.T) {
	t.Parallel()
	env := schedtest.New(t)
	definitions := tagdefinition.New(env.Pool, nil)
	schedules, segments := []*commonv1.Ref{refByName("SCHEDULE")}, []*commonv1.Ref{refByName("SEGMENT")}
	for _, d := range []*schedulingv1.TagDefinition{
		{Name: "Plain", AssignmentContexts: schedules},
		{Name: "Red", AssignmentContexts: schedules, Color: "red"},
		{Name: "Any color", AssignmentContexts: schedules, Color: "red", ColorOverridable: proto.Bool(true)},
		{Name: "Of segments", AssignmentContexts: segments},
		{Name: "Demanding", AssignmentContexts: schedules, CommentsConstraint: "REQUIRED", ScheduleContextAttributes: &schedulingv1.ScheduleTagAttributes{JobTransfersConstraint: "REQUIRED"}},
		{Name: "Bare", AssignmentContexts: schedules, CommentsConstraint: "NOT_SUPPORTED", ScheduleContextAttributes: &schedulingv1.ScheduleTagAttributes{
			JobTransfersConstraint: "NOT_SUPPORTED", WorkRulesConstraint: "NOT_SUPPORTED", CostCentersConstraint: "NOT_SUPPORTED", LaborCategoriesConstraint: "NOT_SUPPORTED",
		}},
	} {
		_, err := definitions.CreateTagDefinition(env.Ctx, d)
		require.NoError(t, err)
	}
	complete := itemdraft.CompleteScheduleTags(env.Pool)
	type piece = schedulingv1.ScheduleTagSegment
	noted := func(s *piece) *schedulingv1.ScheduleTag {
		out := tag(s)
		out.CommentNotes = []*schedulingv1.CommentNote{{}}
		return out
	}
	of := func(name, transfer string) *piece {
		return &piece{TagDefinitionRef: refByName(name), TransferString: transfer}
	}
	colored := func(name, color string) *piece {
		return &piece{TagDefinitionRef: refByName(name), ScheduleTagColor: color}
	}
	for _, c := range []struct {
		name  string
		sent  *schedulingv1.ScheduleTag
		code  string // "" for a tag whose first segment has the color
		color string
	}{
		{"its color", tag(colored("red", "")), "", "red"},
		{"its color, whatever is said", tag(colored("Red", "blue")), "", "red"},
		{"its color, when nothing is said", tag(colored("Any color", "")), "", "red"},
		{"another color that it allows", tag(colored("Any color", "blue")), "", "blue"},
		{"another color when it has none", tag(colored("Plain", "blue")), "", "blue"},
		{"no segment", tag(), itemfault.CodeMissing, ""},
		{"no definition", tag(&piece{}), tagdefinition.CodeMissing, ""},
		{"an unknown definition", tag(of("Never", "")), tagdefinition.CodeUnknownName, ""},
		{"an unknown definition of a later segment", tag(of("Plain", ""), &piece{TagDefinitionRef: refByID(999)}), tagdefinition.CodeUnknown, ""},
		{"a definition for something else", tag(of("Of segments", "")), itemfault.CodeTagDefinition, ""},
		{"what it requires", noted(&piece{TagDefinitionRef: refByName("Demanding"), OrgJobRef: refByName("Shop/Baker")}), "", ""},
		{"what it requires, in a transfer", noted(of("Demanding", "Shop/Baker;Nights")), "", ""},
		{"no comment that it requires", tag(of("Demanding", "Shop/Baker")), itemfault.CodeTagDefinition, ""},
		{"no job that it requires", noted(of("Demanding", ";Nights")), itemfault.CodeTagDefinition, ""},
		{"nothing more", tag(of("Bare", "")), "", ""},
		{"an empty transfer", tag(of("Bare", " ;;; ,,")), "", ""},
		{"a comment that it does not support", noted(of("Bare", "")), itemfault.CodeTagDefinition, ""},
		{"a job that it does not support", tag(&piece{TagDefinitionRef: refByName("Bare"), OrgJobRef: refByID(3)}), itemfault.CodeTagDefinition, ""},
		{"a job in a transfer", tag(of("Bare", "Shop/Baker")), itemfault.CodeTagDefinition, ""},
		{"a work rule in a transfer", tag(of("Bare", ";Nights")), itemfault.CodeTagDefinition, ""},
		{"a cost center in a transfer", tag(of("Bare", ";;4711")), itemfault.CodeTagDefinition, ""},
		{"a labor category in a transfer", tag(of("Bare", ";;;,Oven")), itemfault.CodeTagDefinition, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			failed := make([]error, 1)
			out, err := complete(env.Ctx, []*schedulingv1.ScheduleTag{c.sent}, failed)
			require.NoError(t, err)
			faulttest.RequireCode(t, c.code, failed[0])
			if c.code == "" {
				s := out[0].GetSegments()[0]
				assert.Equal(t, c.color, s.GetScheduleTagColor())
				assert.NotZero(t, s.GetTagDefinitionRef().GetId(), "the definition is named by its id")
			}
		})
	}
	t.Run("one by one", func(t *testing.T) {
		t.Parallel()
		before := errors.New("failed before")
		failed := []error{before, nil, nil}
		out, err := complete(env.Ctx, []*schedulingv1.ScheduleTag{tag(of("Never", "")), tag(of("Never", "")), tag(of("Red", ""))}, failed)
		require.NoError(t, err)
		assert.Equal(t, before, failed[0])
		faulttest.RequireCode(t, tagdefinition.CodeUnknownName, failed[1])
		require.NoError(t, failed[2])
		assert.Equal(t, "red", out[2].GetSegments()[0].GetScheduleTagColor())
	})
}
