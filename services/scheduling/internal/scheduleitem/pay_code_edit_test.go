package scheduleitem_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/rpc"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

func TestPayCodeEditLifecycle(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	sent := newEdit(2, "2025-03-03", "")
	sent.StartTime = "08:00"
	made, err := f.edits.CreatePayCodeEdit(f.Ctx, sent)
	require.NoError(t, err)
	require.Len(t, made.GetPayCodeEdits(), 1)
	edit := made.GetPayCodeEdits()[0]
	want := &schedulingv1.PayCodeEdit{
		Id: edit.Id, Employee: &commonv1.Ref{Id: proto.Int64(2), Qualifier: proto.String("P2")}, PayCodeRef: sent.GetPayCodeRef(),
		StartDate: "2025-03-03", EndDate: "2025-03-03", StartTime: "08:00:00", DurationInDays: proto.Float64(1),
		Locked: proto.Bool(false), Posted: proto.Bool(false), Generated: proto.Bool(false), Deleted: proto.Bool(false), Version: proto.Int64(1),
	}
	assert.Equal(t, want.String(), edit.String())
	read, err := f.edits.GetPayCodeEdit(f.Ctx, &schedulingv1.GetPayCodeEditRequest{Id: edit.GetId()})
	require.NoError(t, err)
	assert.Equal(t, want.String(), read.String())

	edit.EndDate = "2025-03-05"
	updated, err := f.edits.UpdatePayCodeEdit(f.Ctx, &schedulingv1.UpdatePayCodeEditRequest{Id: edit.GetId(), PayCodeEdit: edit})
	require.NoError(t, err)
	assert.EqualValues(t, 2, updated.GetVersion())
	assert.Equal(t, []string{"P1 08:00 16:00", "P1 Training", "P2 Vacation"}, f.day("2025-03-05"))
	_, err = f.edits.UpdatePayCodeEdit(f.Ctx, &schedulingv1.UpdatePayCodeEditRequest{Id: edit.GetId(), PayCodeEdit: edit})
	requireRefused(t, err, "WFP-90004", 409)

	generated := entryID(t, 1, "2025-03-05", 1)
	read, err = f.edits.GetPayCodeEdit(f.Ctx, &schedulingv1.GetPayCodeEditRequest{Id: generated})
	require.NoError(t, err)
	assert.True(t, read.GetGenerated())
	read.PayCodeRef = &commonv1.Ref{Qualifier: proto.String("Travel")}
	_, err = f.edits.UpdatePayCodeEdit(f.Ctx, &schedulingv1.UpdatePayCodeEditRequest{Id: generated, PayCodeEdit: read})
	require.NoError(t, err)
	assert.Equal(t, []string{"P1 08:00 16:00", "P1 Travel", "P2 Vacation"}, f.day("2025-03-05"))

	_, err = f.edits.DeletePayCodeEdit(f.Ctx, &schedulingv1.DeletePayCodeEditRequest{Id: generated})
	require.NoError(t, err)
	remove := func(ids ...int64) error {
		_, err := f.edits.MultiDeletePayCodeEdits(f.Ctx, &schedulingv1.MultiDeletePayCodeEditsRequest{Where: &schedulingv1.DeletePayCodeEditsWhere{PayCodeEditIds: ids}})
		return err
	}
	requireRefused(t, remove(edit.GetId(), generated), "WFS-109101", 400)
	requireRefused(t, remove(), "WFS-111201", 400)
	require.NoError(t, remove(edit.GetId()))
	assert.Equal(t, []string{"P1 08:00 16:00"}, f.day("2025-03-05"))
	_, err = f.edits.GetPayCodeEdit(f.Ctx, &schedulingv1.GetPayCodeEditRequest{Id: generated})
	requireRefused(t, err, "WFS-109101", 404)
}

func TestRefusedPayCodeEdits(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	cases := map[string]struct {
		code   string
		mutate func(*schedulingv1.PayCodeEdit)
	}{
		"no employee":      {"WFS-103407", func(e *schedulingv1.PayCodeEdit) { e.Employee = nil }},
		"unknown employee": {"WFS-103401", func(e *schedulingv1.PayCodeEdit) { e.Employee = person(99) }},
		"no pay code":      {"WFS-101309", func(e *schedulingv1.PayCodeEdit) { e.PayCodeRef = &commonv1.Ref{} }},
		"no start":         {"WFS-101309", func(e *schedulingv1.PayCodeEdit) { e.StartDate = "" }},
		"end first":        {"WFS-101309", func(e *schedulingv1.PayCodeEdit) { e.EndDate = "2025-03-02" }},
		"too long":         {"WFS-101309", func(e *schedulingv1.PayCodeEdit) { e.EndDate = "2026-03-04" }},
		"no amount":        {"WFS-101309", func(e *schedulingv1.PayCodeEdit) { e.DurationInDays, e.StartTime = nil, "08:00" }},
		"a negative time":  {"WFS-101309", func(e *schedulingv1.PayCodeEdit) { e.DurationInTime = proto.Int64(-1) }},
		"years of time":    {"WFS-101309", func(e *schedulingv1.PayCodeEdit) { e.DurationInTime = proto.Int64(367 * 86400) }},
		"years of days":    {"WFS-101309", func(e *schedulingv1.PayCodeEdit) { e.DurationInDays = proto.Float64(1e300) }},
		"too much text":    {"API-10001", func(e *schedulingv1.PayCodeEdit) { e.TransferString = strings.Repeat("x", 20_000) }},
		"no number":        {"WFS-101309", func(e *schedulingv1.PayCodeEdit) { e.MoneyAmount = proto.Float64(math.NaN()) }},
		"no duration":      {"WFP-90101", func(e *schedulingv1.PayCodeEdit) { e.DurationInMinutes = "8h" }},
		"no time":          {"WFP-90101", func(e *schedulingv1.PayCodeEdit) { e.EndTime = "25:00" }},
		"after all days":   {"WFS-101309", func(e *schedulingv1.PayCodeEdit) { e.StartDate, e.EndDate = "3000-01-01", "" }},
	}
	for name, c := range cases {
		e := newEdit(2, "2025-03-03", "2025-03-03")
		c.mutate(e)
		_, err := f.edits.CreatePayCodeEdit(f.Ctx, e)
		t.Run(name, func(t *testing.T) { requireRefused(t, err, c.code, 400) })
	}
	good := newEdit(2, "2025-03-03", "2025-03-03")
	good.DurationInDays, good.DurationInMinutes = nil, "38:30"
	var header metadata.MD
	got, err := f.edits.MultiCreatePayCodeEdits(f.Ctx, &schedulingv1.MultiCreatePayCodeEditsRequest{
		Body:           &schedulingv1.NewPayCodeEdits{PayCodeEdits: []*schedulingv1.PayCodeEdit{{Employee: person(2)}, good}},
		PartialSuccess: proto.Bool(true),
	}, grpc.Header(&header))
	require.NoError(t, err)
	assert.Equal(t, []string{"207"}, header.Get(rpc.HeaderHTTPStatus))
	assert.Equal(t, []int32{0}, got.GetFailure().GetDetails().GetErrorOffsets())
	_, err = f.edits.MultiCreatePayCodeEdits(f.Ctx, &schedulingv1.MultiCreatePayCodeEditsRequest{})
	requireRefused(t, err, "WFS-111201", 400)
}
