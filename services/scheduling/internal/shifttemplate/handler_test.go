package shifttemplate_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/faulttest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedtest"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/shifttemplate"
)

type fixture struct {
	*schedtest.Env
	client schedulingv1.ShiftTemplateServiceClient
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	env := schedtest.New(t)
	rules := patterndefinition.NewRules(patterndefinition.Settings{})
	schedulingv1.RegisterShiftTemplateServiceServer(env.Local, shifttemplate.New(env.Pool, rules, projection.NewResolver(env.Pool, schedtest.NoPersons{}, nil), nil))
	return &fixture{Env: env, client: schedulingv1.NewShiftTemplateServiceClient(env.Conn())}
}

func template(name string) *schedulingv1.ShiftTemplate {
	return &schedulingv1.ShiftTemplate{Name: name, StartDateTime: "1900-01-01T06:00:00", EndDateTime: "1900-01-01T14:00:00"}
}

func (w *fixture) create(t *testing.T, name string) *schedulingv1.ShiftTemplate {
	t.Helper()
	created, err := w.client.CreateShiftTemplate(w.Ctx, template(name))
	require.NoError(t, err)
	return created
}

func names(list *schedulingv1.ShiftTemplateList) []string {
	out := []string{}
	for _, s := range list.GetShiftTemplates() {
		out = append(out, s.GetName())
	}
	return out
}

func TestLifeOfAShiftTemplate(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	created := w.create(t, "Early")
	assert.Equal(t, "1", created.GetVersion())
	require.Len(t, created.GetSegments(), 1)

	read, err := w.client.GetShiftTemplate(w.Ctx, &schedulingv1.GetShiftTemplateRequest{Id: created.GetId()})
	require.NoError(t, err)
	assert.True(t, proto.Equal(created, read))

	changed := template("early bird")
	changed.Version = "1"
	update := &schedulingv1.UpdateShiftTemplateRequest{Id: created.GetId(), ShiftTemplate: changed}
	updated, err := w.client.UpdateShiftTemplate(w.Ctx, update)
	require.NoError(t, err)
	assert.Equal(t, "2", updated.GetVersion())
	_, err = w.client.UpdateShiftTemplate(w.Ctx, update)
	faulttest.Require(t, err, fault.CodeStale, 409)

	list, err := w.client.ListShiftTemplates(w.Ctx, &schedulingv1.ListShiftTemplatesRequest{Name: proto.String("EARLY BIRD")})
	require.NoError(t, err)
	assert.Equal(t, []string{"early bird"}, names(list))
	_, err = w.client.ListShiftTemplates(w.Ctx, &schedulingv1.ListShiftTemplatesRequest{Name: proto.String("Early")})
	faulttest.Require(t, err, patterndefinition.CodeUnknown, 404)

	_, err = w.client.DeleteShiftTemplate(w.Ctx, &schedulingv1.DeleteShiftTemplateRequest{Id: created.GetId()})
	require.NoError(t, err)
	_, err = w.client.DeleteShiftTemplate(w.Ctx, &schedulingv1.DeleteShiftTemplateRequest{Id: created.GetId()})
	faulttest.Require(t, err, patterndefinition.CodeUnknown, 404)
	_, err = w.client.GetShiftTemplate(w.Ctx, &schedulingv1.GetShiftTemplateRequest{Id: created.GetId()})
	faulttest.Require(t, err, patterndefinition.CodeUnknown, 404)
	_, err = w.client.UpdateShiftTemplate(w.Ctx, update)
	faulttest.Require(t, err, patterndefinition.CodeUnknown, 404)
}

func TestShiftTemplateIsRefused(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	early, late := w.create(t, "Early"), w.create(t, "Late")
	before := w.Rows(t, "shift_template")
	noStart := template("Other")
	noStart.StartDateTime = ""
	otherID := template("Other")
	otherID.Id = late.Id
	noVersion := template("Other")
	noVersion.Version = "first"
	cases := []struct {
		name   string
		update bool
		given  *schedulingv1.ShiftTemplate
		code   string
	}{
		{"without name", false, template(" "), patterndefinition.CodeMissing},
		{"with a name that is too long", false, template(strings.Repeat("ä", 251)), patterndefinition.CodeInvalid},
		{"with a control character in the name", false, template("a\x00b"), patterndefinition.CodeInvalid},
		{"with a name that is taken in another case", false, template("EARLY"), patterndefinition.CodeInvalid},
		{"without start", false, noStart, patterndefinition.CodeMissing},
		{"with another id in the body", true, otherID, patterndefinition.CodeOtherID},
		{"with a name that another one has", true, template("late"), patterndefinition.CodeInvalid},
		{"with a version that is no number", true, noVersion, patterndefinition.CodeInvalid},
		{"without anything", true, nil, patterndefinition.CodeMissing},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var err error
			if c.update {
				_, err = w.client.UpdateShiftTemplate(w.Ctx, &schedulingv1.UpdateShiftTemplateRequest{Id: early.GetId(), ShiftTemplate: c.given})
			} else {
				_, err = w.client.CreateShiftTemplate(w.Ctx, c.given)
			}
			faulttest.Require(t, err, c.code, 400)
			assert.Equal(t, before, w.Rows(t, "shift_template"))
		})
	}
}

func TestMultiCreateShiftTemplates(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.create(t, "Early")
	bad := &schedulingv1.MultiCreateShiftTemplatesRequest{Body: &schedulingv1.ShiftTemplateList{
		ShiftTemplates: []*schedulingv1.ShiftTemplate{template("Late"), template("early"), template(""), template("late"), template("Late")},
	}}
	_, err := w.client.MultiCreateShiftTemplates(w.Ctx, bad)
	faulttest.Require(t, err, patterndefinition.CodeMissing, 400)
	assert.Equal(t, 1, w.Rows(t, "shift_template")["shift_template"], "all or nothing")
	bad.GetBody().GetShiftTemplates()[2].Name = "Night"
	_, err = w.client.MultiCreateShiftTemplates(w.Ctx, bad)
	faulttest.Require(t, err, patterndefinition.CodeInvalid, 400)
	assert.Equal(t, 1, w.Rows(t, "shift_template")["shift_template"], "all or nothing")

	bad.PartialSuccess = proto.Bool(true)
	var header metadata.MD
	list, err := w.client.MultiCreateShiftTemplates(w.Ctx, bad, grpc.Header(&header))
	require.NoError(t, err)
	assert.Equal(t, []string{"207"}, header.Get(rpc.HeaderHTTPStatus))
	assert.Equal(t, []int32{1, 3, 4}, list.GetFailure().GetDetails().GetErrorOffsets())
	input := &schedulingv1.ShiftTemplate{}
	require.NoError(t, list.GetFailure().GetDetails().GetResults()[1].GetError().GetDetails().GetInput().UnmarshalTo(input))
	assert.True(t, proto.Equal(template("early"), input), "the input as it was sent")
	assert.Equal(t, 3, w.Rows(t, "shift_template")["shift_template"])

	_, err = w.client.MultiCreateShiftTemplates(w.Ctx, bad)
	f := faulttest.Require(t, err, fault.CodeBulkFailed, 400)
	assert.Len(t, f.Details.GetResults(), 5)

	good := &schedulingv1.MultiCreateShiftTemplatesRequest{Body: &schedulingv1.ShiftTemplateList{
		ShiftTemplates: []*schedulingv1.ShiftTemplate{template("B"), template("A")},
	}}
	list, err = w.client.MultiCreateShiftTemplates(w.Ctx, good)
	require.NoError(t, err)
	assert.Equal(t, []string{"B", "A"}, names(list))
	_, err = w.client.MultiCreateShiftTemplates(w.Ctx, &schedulingv1.MultiCreateShiftTemplatesRequest{})
	faulttest.Require(t, err, patterndefinition.CodeNothing, 400)
}

func TestMultiReadShiftTemplates(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	late, early := w.create(t, "Late"), w.create(t, "Early")
	read := func(refs *commonv1.RefList) (*schedulingv1.ShiftTemplateList, error) {
		return w.client.MultiReadShiftTemplates(w.Ctx, &schedulingv1.MultiReadShiftTemplatesRequest{
			Where: &schedulingv1.ShiftTemplateWhere{Refs: &schedulingv1.ShiftTemplateRefs{TemplateRefs: refs}},
		})
	}
	for i, c := range []struct {
		refs *commonv1.RefList
		want []string
	}{
		{nil, []string{"Early", "Late"}},
		{&commonv1.RefList{Ids: []int64{late.GetId(), early.GetId()}}, []string{"Late", "Early"}},
		{&commonv1.RefList{Qualifiers: []string{"late"}}, []string{"Late"}},
		{&commonv1.RefList{Refs: []*commonv1.Ref{{Id: early.Id, Qualifier: proto.String("Late")}}}, []string{"Early"}},
	} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			list, err := read(c.refs)
			require.NoError(t, err)
			assert.Equal(t, c.want, names(list))
		})
	}
	_, err := read(&commonv1.RefList{Ids: []int64{1}, Qualifiers: []string{"Late"}})
	faulttest.Require(t, err, patterndefinition.CodeOnlyOne, 400)
	_, err = read(&commonv1.RefList{Qualifiers: []string{"Night"}})
	faulttest.Require(t, err, patterndefinition.CodeUnknown, 400)
	_, err = read(&commonv1.RefList{Refs: []*commonv1.Ref{{}}})
	faulttest.Require(t, err, patterndefinition.CodeMissing, 400)

	w.Exec(t, "INSERT INTO employee VALUES (1, 7, 'P7', 'Seven', 'UTC', 1)")
	open := func(employee *commonv1.Ref, refs *schedulingv1.ShiftTemplateRefs) (*schedulingv1.ShiftTemplateList, error) {
		return w.client.MultiReadShiftTemplates(w.Ctx, &schedulingv1.MultiReadShiftTemplatesRequest{Where: &schedulingv1.ShiftTemplateWhere{
			Employee: &schedulingv1.ShiftTemplateEmployee{EmployeeRef: employee}, Refs: refs,
		}})
	}
	all, err := open(&commonv1.Ref{Qualifier: proto.String("P7")}, nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"Early", "Late"}, names(all), "all are open to every employee")
	_, err = open(&commonv1.Ref{Id: proto.Int64(99)}, nil)
	faulttest.Require(t, err, "WFS-103401", 400)
	_, err = open(nil, nil)
	faulttest.Require(t, err, "WFS-103407", 400)
	_, err = open(&commonv1.Ref{Id: proto.Int64(7)}, &schedulingv1.ShiftTemplateRefs{})
	faulttest.Require(t, err, patterndefinition.CodeOnlyOne, 400)

	list, err := w.client.ListShiftTemplates(tenant.With(t.Context(), 2), &schedulingv1.ListShiftTemplatesRequest{})
	require.NoError(t, err)
	assert.Empty(t, list.GetShiftTemplates(), "another tenant sees nothing")
}

func TestMultiUpdateShiftTemplates(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	early, late := w.create(t, "Early"), w.create(t, "Late")
	with := func(id *int64, name string) *schedulingv1.ShiftTemplate {
		out := template(name)
		out.Id = id
		return out
	}
	update := func(ctx context.Context, list ...*schedulingv1.ShiftTemplate) error {
		_, err := w.client.MultiUpdateShiftTemplates(ctx, &schedulingv1.MultiUpdateShiftTemplatesRequest{Body: &schedulingv1.ShiftTemplateList{ShiftTemplates: list}})
		return err
	}
	faulttest.Require(t, update(w.Ctx, with(early.Id, "Late"), with(late.Id, "Early")), patterndefinition.CodeInvalid, 400)
	faulttest.Require(t, update(w.Ctx, with(early.Id, "Night"), with(late.Id, "NIGHT")), patterndefinition.CodeInvalid, 400)
	faulttest.Require(t, update(tenant.With(t.Context(), 2), with(early.Id, "Night")), patterndefinition.CodeUnknown, 400)
	require.NoError(t, update(w.Ctx, with(early.Id, "EARLY"), with(late.Id, "Night")))
	list, err := w.client.ListShiftTemplates(w.Ctx, &schedulingv1.ListShiftTemplatesRequest{})
	require.NoError(t, err)
	assert.Equal(t, []string{"EARLY", "Night"}, names(list))
}

func TestApplyReadMakesOneTemplate(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	read := func(given *schedulingv1.ShiftTemplate) (*schedulingv1.ShiftTemplateList, error) {
		return w.client.ApplyReadShiftTemplates(w.Ctx, &schedulingv1.ApplyReadShiftTemplatesRequest{Where: &schedulingv1.ApplyReadShiftTemplatesWhere{
			Equivalent: &schedulingv1.EquivalentShiftTemplate{ShiftTemplate: given},
		}})
	}
	var group errgroup.Group
	for range 8 {
		group.Go(func() error {
			list, err := read(template(""))
			if err == nil && len(list.GetShiftTemplates()) != 1 {
				err = fmt.Errorf("there are %d", len(list.GetShiftTemplates()))
			}
			return err
		})
	}
	require.NoError(t, group.Wait())
	assert.Equal(t, 1, w.Rows(t, "shift_template")["shift_template"])

	w.create(t, "Early")
	list, err := read(template("Other"))
	require.NoError(t, err)
	assert.Len(t, names(list), 2, "all that are equal")
	other := template("Early")
	other.Label = "E"
	_, err = read(other)
	faulttest.Require(t, err, patterndefinition.CodeInvalid, 400)
}
