package schedulepatterntemplate_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/setup"
	"github.com/rotaloom/rotaloom/pkg/testkit/faulttest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedtest"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulepatterntemplate"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/shifttemplate"
)

type fixture struct {
	*schedtest.Env
	client schedulingv1.SchedulePatternTemplateServiceClient
}

// newFixture has the shift template "Early".
func newFixture(t *testing.T) *fixture {
	t.Helper()
	env := schedtest.New(t)
	handler := schedulepatterntemplate.New(env.Pool, patterndefinition.New(patterndefinition.Settings{}, shifttemplate.Kind(), schedulepatterntemplate.Kind()), nil)
	schedulingv1.RegisterSchedulePatternTemplateServiceServer(env.Local, handler)
	_, err := (&setup.Resource[*schedulingv1.ShiftTemplate]{Kind: shifttemplate.Kind(), Pool: env.Pool}).Create(env.Ctx, &schedulingv1.ShiftTemplate{
		Name: "Early", StartDateTime: "1900-01-01T06:00:00", EndDateTime: "1900-01-01T14:00:00",
	})
	require.NoError(t, err)
	return &fixture{Env: env, client: schedulingv1.NewSchedulePatternTemplateServiceClient(env.Conn())}
}

func rota(name string) *schedulingv1.SchedulePattern {
	return &schedulingv1.SchedulePattern{
		Name: name, Description: "A then B", DayCount: proto.Int32(14),
		TimePeriodType: &schedulingv1.TimePeriodType{Name: "Weekly"},
		Items: []*schedulingv1.SchedulePatternItem{
			{Day: proto.Int32(1), ShiftTemplate: &schedulingv1.ShiftTemplate{Name: "Early"}},
		},
	}
}

func TestLifeOfAPatternTemplate(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	given := rota("Rota")
	given.AnchorStartDay = proto.Int64(2)
	created, err := w.client.CreateSchedulePatternTemplate(w.Ctx, given)
	require.NoError(t, err)
	want := rota("Rota")
	want.Id, want.AnchorStartDay = created.Id, proto.Int64(1)
	want.Deleted, want.SystemGenerated = proto.Bool(false), proto.Bool(false)
	shift := created.GetItems()[0].GetShiftTemplate()
	require.NotZero(t, shift.GetId())
	want.Items[0].ShiftTemplate.Id = shift.Id
	assert.True(t, proto.Equal(want, created), "as it was sent, with the id of the shift template and without read-only values")
	read, err := w.client.GetSchedulePatternTemplate(w.Ctx, &schedulingv1.GetSchedulePatternTemplateRequest{Id: created.GetId()})
	require.NoError(t, err)
	assert.True(t, proto.Equal(want, read))

	list, err := w.client.ListSchedulePatternTemplates(w.Ctx, &schedulingv1.ListSchedulePatternTemplatesRequest{AllDetails: proto.Bool(false)})
	require.NoError(t, err)
	require.Len(t, list.GetSchedulePatterns(), 1)
	want.Items, want.AnchorStartDay, want.Deleted = nil, nil, nil
	assert.True(t, proto.Equal(want, list.GetSchedulePatterns()[0]))

	changed := rota("Rota 2")
	changed.DayCount = proto.Int32(7)
	_, err = w.client.UpdateSchedulePatternTemplate(w.Ctx, &schedulingv1.UpdateSchedulePatternTemplateRequest{Name: proto.String("ROTA"), SchedulePattern: changed})
	require.NoError(t, err)
	list, err = w.client.ListSchedulePatternTemplates(w.Ctx, &schedulingv1.ListSchedulePatternTemplatesRequest{Name: proto.String("rota 2")})
	require.NoError(t, err)
	require.Len(t, list.GetSchedulePatterns(), 1)
	assert.Equal(t, int32(7), list.GetSchedulePatterns()[0].GetDayCount())
	assert.Equal(t, created.GetId(), list.GetSchedulePatterns()[0].GetId())

	_, err = w.client.DeleteSchedulePatternTemplate(w.Ctx, &schedulingv1.DeleteSchedulePatternTemplateRequest{Name: proto.String("Rota 2")})
	require.NoError(t, err)
	_, err = w.client.GetSchedulePatternTemplate(w.Ctx, &schedulingv1.GetSchedulePatternTemplateRequest{Id: created.GetId()})
	faulttest.Require(t, err, patterndefinition.CodeUnknown, 404)
}

func TestPatternTemplateIsRefused(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	created, err := w.client.CreateSchedulePatternTemplate(w.Ctx, rota("Rota"))
	require.NoError(t, err)
	unknown := rota("Other")
	unknown.Items[0].ShiftTemplate.Name = "Late"
	empty := rota("Other")
	empty.Items = nil
	otherID := rota("Rota")
	otherID.Id = proto.Int64(99)
	create := func(p *schedulingv1.SchedulePattern) error {
		_, err := w.client.CreateSchedulePatternTemplate(w.Ctx, p)
		return err
	}
	update := func(id int64, name *string, p *schedulingv1.SchedulePattern) error {
		_, err := w.client.UpdateSchedulePatternTemplate(w.Ctx, &schedulingv1.UpdateSchedulePatternTemplateRequest{Id: id, Name: name, SchedulePattern: p})
		return err
	}
	remove := func(id int64, name *string) error {
		_, err := w.client.DeleteSchedulePatternTemplate(w.Ctx, &schedulingv1.DeleteSchedulePatternTemplateRequest{Id: id, Name: name})
		return err
	}
	faulttest.Require(t, create(rota("")), patterndefinition.CodeMissing, 400)
	faulttest.Require(t, create(rota("rota")), patterndefinition.CodeInvalid, 400)
	faulttest.Require(t, create(unknown), patterndefinition.CodeUnknown, 400)
	faulttest.Require(t, create(empty), patterndefinition.CodeMissing, 400)
	faulttest.Require(t, create(&schedulingv1.SchedulePattern{Name: "Rota"}), patterndefinition.CodeMissing, 400)
	faulttest.Require(t, update(0, nil, rota("Rota")), patterndefinition.CodeMissing, 400)
	faulttest.Require(t, update(0, proto.String("None"), rota("Rota")), patterndefinition.CodeUnknown, 400)
	faulttest.Require(t, update(99, nil, rota("Other")), patterndefinition.CodeUnknown, 404)
	faulttest.Require(t, update(created.GetId(), nil, otherID), patterndefinition.CodeOtherID, 400)
	faulttest.Require(t, update(created.GetId(), nil, unknown), patterndefinition.CodeUnknown, 400)
	faulttest.Require(t, update(created.GetId(), nil, nil), patterndefinition.CodeMissing, 400)
	faulttest.Require(t, remove(0, nil), patterndefinition.CodeMissing, 400)
	faulttest.Require(t, remove(0, proto.String("None")), patterndefinition.CodeUnknown, 400)
	faulttest.Require(t, remove(99, nil), patterndefinition.CodeUnknown, 404)

	read, err := w.client.GetSchedulePatternTemplate(w.Ctx, &schedulingv1.GetSchedulePatternTemplateRequest{Id: created.GetId()})
	require.NoError(t, err)
	assert.True(t, proto.Equal(created, read), "nothing was changed")
	assert.Equal(t, 1, w.Rows(t, "schedule_pattern_template")["schedule_pattern_template"])
}

func TestManyPatternTemplates(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	bad := rota("C")
	bad.Items[0].Day = proto.Int32(15)
	req := &schedulingv1.MultiCreateSchedulePatternTemplatesRequest{Body: &schedulingv1.SchedulePatternList{
		SchedulePatterns: []*schedulingv1.SchedulePattern{rota("B"), bad, rota("A")},
	}}
	_, err := w.client.MultiCreateSchedulePatternTemplates(w.Ctx, req)
	faulttest.Require(t, err, patterndefinition.CodeInvalid, 400)
	assert.Equal(t, 0, w.Rows(t, "schedule_pattern_template")["schedule_pattern_template"])
	req.PartialSuccess = proto.Bool(true)
	list, err := w.client.MultiCreateSchedulePatternTemplates(w.Ctx, req)
	require.NoError(t, err)
	assert.Equal(t, []int32{1}, list.GetFailure().GetDetails().GetErrorOffsets())

	read := func(refs ...*commonv1.Ref) ([]string, error) {
		list, err := w.client.MultiReadSchedulePatternTemplates(w.Ctx, &schedulingv1.MultiReadSchedulePatternTemplatesRequest{Refs: refs})
		var names []string
		for _, p := range list.GetSchedulePatterns() {
			names = append(names, p.GetName())
		}
		return names, err
	}
	all, err := read()
	require.NoError(t, err)
	assert.Equal(t, []string{"A", "B"}, all)
	some, err := read(&commonv1.Ref{Qualifier: proto.String("b")}, &commonv1.Ref{Qualifier: proto.String("A")})
	require.NoError(t, err)
	assert.Equal(t, []string{"B", "A"}, some)
	_, err = read(&commonv1.Ref{Id: proto.Int64(99), Qualifier: proto.String("A")})
	faulttest.Require(t, err, patterndefinition.CodeUnknown, 400)
}
