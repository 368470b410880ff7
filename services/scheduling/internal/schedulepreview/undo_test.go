package schedulepreview_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/faulttest"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// makeEarly makes the change early, and returns the id of its propagation.
func (w *fixture) makeEarly() int64 {
	w.t.Helper()
	require.NoError(w.t, w.apply(early(), 0))
	w.settle()
	return w.newest()
}

func TestAnUndoIsPreviewedAndMadeOnce(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	made := w.makeEarly()
	written := []string{"schedule_pattern", "pattern_assignment", "propagation", "span", "outbox"}
	before := w.Rows(t, written...)
	p := w.preview(undoing(made, ""))
	assert.Equal(t, before, w.Rows(t, written...))
	assert.Equal(t, "READY", p.GetState())
	assert.Empty(t, p.GetResults())
	assert.Empty(t, p.GetLaterDecisions())
	assert.EqualValues(t, warehouse, p.GetBasis().GetGroupRefs()[0].GetId())
	assert.Equal(t, "Warehouse", p.GetBasis().GetGroupRefs()[0].GetQualifier())
	assert.Empty(t, p.GetBasis().GetEmployeeRefs())
	assert.EqualValues(t, employees, p.GetSummary().GetEmployeesChanged())
	assert.EqualValues(t, 4*employees, p.GetSummary().GetShiftsRemoved())
	assert.Zero(t, p.GetSummary().GetSecondsAfter())

	faulttest.Require(t, w.apply(undoing(made, "REMAINING"), p.GetId()), "WRL-30622", http.StatusUnprocessableEntity)
	faulttest.Require(t, w.apply(undoing(made, "STRICT"), p.GetId()+1), "WRL-30625", http.StatusNotFound)
	require.NoError(t, w.apply(undoing(made, "strict"), p.GetId()), "STRICT is the default")
	w.settle()
	assert.Empty(t, w.readShifts(1))
	shown := w.get(p.GetId())
	assert.Equal(t, "APPLIED", shown.GetState())
	assert.Equal(t, w.newest(), shown.GetPropagationId())
	faulttest.Require(t, w.apply(undoing(made, ""), p.GetId()), "WRL-30624", http.StatusConflict)
	faulttest.Require(t, w.apply(undoing(made, ""), 0), "WRL-30541", http.StatusConflict)
	_, err := w.previews.CreateSchedulePreview(w.Ctx, undoing(made, ""))
	faulttest.Require(t, err, "WRL-30541", http.StatusConflict)
}

func TestAPreviewOfAnUndoExpiresOrBecomesStale(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	made := w.makeEarly()
	p := w.preview(undoing(made, ""))
	require.NoError(t, w.apply(creation(newAssignment(warehouse, firstDay, "", false, "N")), 0))
	w.settle()
	assert.Equal(t, "ASSIGNMENT", w.get(p.GetId()).GetMadeStaleBy().GetType())
	faulttest.Require(t, w.apply(undoing(made, ""), p.GetId()), "WRL-30621", http.StatusConflict)
	p = w.preview(undoing(made, ""))
	w.clock.Advance(15 * time.Minute)
	faulttest.Require(t, w.apply(undoing(made, ""), p.GetId()), "WRL-30623", http.StatusGone)
	assert.Len(t, w.readShifts(1), 4+28)
}

func TestLaterDecisionsAreShownBeforeAnUndo(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	made := w.makeEarly()
	require.NoError(t, w.apply(creation(newAssignment(warehouse, "2026-03-09", "2026-03-15", true, "L")), 0))
	w.settle()
	_, err := w.previews.CreateSchedulePreview(w.Ctx, undoing(made, "STRICT"))
	faulttest.Require(t, err, "WRL-30540", http.StatusConflict)
	refused := w.apply(undoing(made, "STRICT"), 0)
	assert.Equal(t, fault.FromError(refused).Error(), fault.FromError(err).Error())
	assert.True(t, proto.Equal(fault.FromError(refused).Details, fault.FromError(err).Details), "%v\n%v", refused, err)
	require.Len(t, fault.FromError(err).Details.GetErrors(), 1)

	p := w.preview(undoing(made, "REMAINING"))
	require.Len(t, p.GetLaterDecisions(), 1)
	assert.Equal(t, "OVERRIDDEN", p.GetLaterDecisions()[0].GetReason())
	assert.True(t, proto.Equal(p.GetLaterDecisions()[0], w.get(p.GetId()).GetLaterDecisions()[0]))
	assert.EqualValues(t, 3*employees, p.GetSummary().GetShiftsRemoved(), "the week of the override stays")
	require.NoError(t, w.apply(undoing(made, "REMAINING"), p.GetId()))
	w.settle()
	assert.Len(t, w.readShifts(1), 7)
}

func TestUndosOfEmployeesPatternsArePreviewed(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.makeEarly()
	require.NoError(t, w.assignOwn(2, firstDay, "", true, "L"))
	w.settle()
	made := w.newest()
	p := w.preview(undoing(made, ""))
	assert.Empty(t, p.GetBasis().GetGroupRefs())
	require.Len(t, p.GetBasis().GetEmployeeRefs(), 1)
	assert.Equal(t, "P2", p.GetBasis().GetEmployeeRefs()[0].GetQualifier())
	assert.EqualValues(t, 1, p.GetSummary().GetEmployeesTotal())
	shown := w.readPreview(p.GetId())
	require.Len(t, shown, 1)
	assert.Len(t, previewTexts(shown[2].GetBefore()), 28)
	assert.Len(t, previewTexts(shown[2].GetAfter()), 4, "the shifts of the term return")

	w.Exec(t, `INSERT INTO day_lock (tenant_id, employee_id, from_date, to_date) VALUES (1, 3, '2026-03-05', '2026-03-06')`)
	assert.Equal(t, "READY", w.get(p.GetId()).GetState(), "another employee has no influence")
	w.Exec(t, `INSERT INTO day_lock (tenant_id, employee_id, from_date, to_date) VALUES (1, 2, '2026-03-05', '2026-03-06')`)
	assert.Equal(t, "DAY_LOCK", w.get(p.GetId()).GetMadeStaleBy().GetType())
	p = w.preview(undoing(made, ""))
	assert.EqualValues(t, 1, p.GetSkipped()[0].GetEmployees())
	require.NoError(t, w.apply(undoing(made, ""), p.GetId()))
	w.settle()
	assert.Len(t, w.readShifts(2), 5, "the locked day keeps its shift")
}

func TestUndosOfInheritanceArePreviewed(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.makeEarly()
	for _, passes := range []bool{false, true} {
		w.passOn(warehouse, passes)
		w.settle()
		made := w.newest()
		before := w.readShifts(1)
		p := w.preview(undoing(made, ""))
		assert.EqualValues(t, employees, p.GetSummary().GetEmployeesChanged())
		require.NoError(t, w.apply(undoing(made, ""), p.GetId()))
		w.settle()
		assert.EqualValues(t, 4*employees, p.GetSummary().GetShiftsAdded()+p.GetSummary().GetShiftsRemoved())
		assert.Equal(t, 4, len(before)+len(w.readShifts(1)))
		w.passOn(warehouse, passes)
		w.settle()
	}
}

// The preview of an undo needs what the undo itself needs.
func TestPreviewsOfUndosNeedThePermissionsOfUndos(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	made := w.makeEarly()
	require.NoError(t, w.assignOwn(2, firstDay, "", true, "L"))
	w.settle()
	ofEmployee := w.newest()
	as := func(own []string, permissions ...string) context.Context {
		p := &authn.Principal{Tenant: tenant.Default, Subject: "paula", PersonID: 2, Rows: string(rowvisibility.All), Permissions: permissions, OwnActions: own}
		return authn.With(tenant.With(t.Context(), tenant.Default), p, "")
	}
	create := func(ctx context.Context, id int64) error {
		_, err := w.handler.CreateSchedulePreview(ctx, undoing(id, ""))
		return err
	}
	const undo, terms, own = "scheduling.propagation.write", "scheduling.employment_term_schedule_pattern.write", "scheduling.employee_schedule_pattern.write"
	faulttest.Require(t, create(as(nil, terms), made), fault.CodeNoAccess, http.StatusForbidden)
	faulttest.Require(t, create(as(nil, undo), made), fault.CodeNoAccess, http.StatusForbidden)
	require.NoError(t, create(as(nil, undo, terms), made))
	faulttest.Require(t, create(as(nil, undo, terms), ofEmployee), fault.CodeNoAccess, http.StatusForbidden)
	faulttest.Require(t, create(as(nil, undo, own), ofEmployee), fault.CodeOwnRecord, http.StatusForbidden)
	require.NoError(t, create(as([]string{"scheduling.schedule_pattern"}, undo, own), ofEmployee))
}

func TestAPreviewOfAnUndoNamesItsPropagation(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	for _, c := range []struct {
		name   string
		change *schedulingv1.CreateSchedulePreviewRequest
		code   string
		status int
	}{
		{"no propagation", &schedulingv1.CreateSchedulePreviewRequest{Undo: &schedulingv1.PreviewedUndo{}}, "WFS-111201", http.StatusBadRequest},
		{"an unknown propagation", undoing(4711, ""), fault.CodeNotFound, http.StatusNotFound},
		{"a membership", undoing(w.newest(), ""), "WRL-30541", http.StatusConflict},
		{"another mode", undoing(w.newest(), "SOME"), "WRL-00400", http.StatusBadRequest},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := w.previews.CreateSchedulePreview(w.Ctx, c.change)
			faulttest.Require(t, err, c.code, c.status)
		})
	}
}
