package schedulepreview_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/faulttest"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// early is a change that gives all employees of the warehouse an early shift on Mondays.
func early() *schedulingv1.CreateSchedulePreviewRequest {
	return creation(newAssignment(warehouse, firstDay, "", false, "E", "", "", "", "", "", ""))
}

func (w *fixture) get(id int64) *schedulingv1.SchedulePreview {
	w.t.Helper()
	p, err := w.previews.GetSchedulePreview(w.Ctx, &schedulingv1.GetSchedulePreviewRequest{Id: id})
	require.NoError(w.t, err)
	return p
}

func TestAPreviewCountsAndChangesNothing(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	written := []string{"schedule_pattern", "pattern_assignment", "propagation", "span", "outbox"}
	before := w.Rows(t, written...)
	var header metadata.MD
	change := early()
	p, err := w.previews.CreateSchedulePreview(w.Ctx, change, grpc.Header(&header))
	require.NoError(t, err)

	assert.Equal(t, before, w.Rows(t, written...))
	assert.Equal(t, "READY", p.GetState())
	assert.Equal(t, []string{"/v1/scheduling/previews/1"}, header.Get(rpc.HeaderContentLocation))
	assert.Equal(t, firstDay, p.GetWindow().GetStartDate())
	assert.Equal(t, lastDay, p.GetWindow().GetEndDate())
	assert.Equal(t, "2026-03-01T12:15:00Z", p.GetExpiresAt())
	require.Len(t, p.GetResults(), 1)
	assert.Nil(t, p.GetResults()[0].GetGroupSchedulePattern().Id, "the assignment does not exist yet")
	assert.EqualValues(t, warehouse, p.GetBasis().GetGroupRefs()[0].GetId())
	sums := p.GetSummary()
	assert.EqualValues(t, employees, sums.GetEmployeesTotal())
	assert.EqualValues(t, employees, sums.GetEmployeesChanged())
	assert.EqualValues(t, employees, sums.GetSpansAdded())
	assert.EqualValues(t, 4*employees, sums.GetShiftsAdded())
	assert.Zero(t, sums.GetSecondsBefore())
	assert.EqualValues(t, 4*employees*8*3600, sums.GetSecondsAfter())
	assert.Empty(t, p.GetWarnings())

	shown := w.get(p.GetId())
	assert.Empty(t, shown.GetResults())
	p.Results = nil
	assert.True(t, proto.Equal(p, shown), "%v\n%v", p, shown)
}

func TestAPreviewIsAppliedOnce(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	p := w.preview(early())
	require.NoError(t, w.apply(early(), p.GetId()))
	w.settle()
	assert.Len(t, w.readShifts(1), 4)
	shown := w.get(p.GetId())
	assert.Equal(t, "APPLIED", shown.GetState())
	assert.Positive(t, shown.GetPropagationId())
	faulttest.Require(t, w.apply(early(), p.GetId()), "WRL-30624", http.StatusConflict)
	_, err := w.previews.MultiReadSchedulePreview(w.Ctx, &schedulingv1.MultiReadSchedulePreviewRequest{Where: &schedulingv1.SchedulePreviewWhere{Id: &p.Id}})
	faulttest.Require(t, err, "WRL-30624", http.StatusConflict)
}

func TestAPreviewIsOfOneRequestAndOneUser(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	p := w.preview(early())
	other := creation(newAssignment(warehouse, firstDay, "", false, "L"))
	faulttest.Require(t, w.apply(other, p.GetId()), "WRL-30622", http.StatusUnprocessableEntity)
	faulttest.Require(t, w.apply(early(), p.GetId()+1), "WRL-30625", http.StatusNotFound)
	w.Exec(t, `UPDATE schedule_preview SET created_by = 'somebody'`)
	_, err := w.previews.GetSchedulePreview(w.Ctx, &schedulingv1.GetSchedulePreviewRequest{Id: p.GetId()})
	faulttest.Require(t, err, "WRL-30625", http.StatusNotFound)
	faulttest.Require(t, w.apply(early(), p.GetId()), "WRL-30625", http.StatusNotFound)
	w.Exec(t, `UPDATE schedule_preview SET created_by = ''`)
	require.NoError(t, w.apply(early(), p.GetId()), "the preview can still be applied")
}

func TestAPreviewExpires(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	p := w.preview(early())
	w.clock.Advance(15 * time.Minute)
	assert.Equal(t, "EXPIRED", w.get(p.GetId()).GetState())
	faulttest.Require(t, w.apply(early(), p.GetId()), "WRL-30623", http.StatusGone)
	assert.Zero(t, w.Rows(t, "pattern_assignment")["pattern_assignment"])
}

func TestALaterChangeMakesAPreviewStale(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	require.NoError(t, w.apply(creation(newAssignment(office, firstDay, "", false, "L")), 0))
	w.settle()
	for _, c := range []struct {
		name, kind string
		stale      bool
		do         func()
	}{
		{"an assignment of another term", "", false, func() {
			require.NoError(t, w.apply(creation(newAssignment(office, firstDay, "", false, "N")), 0))
		}},
		{"an assignment of the term", "ASSIGNMENT", true, func() {
			require.NoError(t, w.apply(creation(newAssignment(warehouse, firstDay, "", false, "N")), 0))
		}},
		{"an employee who leaves the term", "MEMBERSHIP", true, func() { w.setMember(2, member{office, memberFrom, memberEnd}) }},
		{"an employee who joins the term", "MEMBERSHIP", true, func() { w.setMember(2, member{warehouse, memberFrom, memberEnd}) }},
		{"a locked day", "DAY_LOCK", true, func() {
			w.Exec(t, `INSERT INTO day_lock (tenant_id, employee_id, from_date, to_date) VALUES (1, 3, '2026-03-05', '2026-03-06')`)
		}},
		{"an unlocked day", "DAY_LOCK", true, func() { w.Exec(t, `DELETE FROM day_lock`) }},
		{"a changed shift", "ENTRY", true, func() {
			_, err := w.shifts.DeleteShift(w.Ctx, &schedulingv1.DeleteShiftRequest{Id: w.readShifts(4)[0].GetId()})
			require.NoError(t, err)
		}},
		{"a term that stops passing on its patterns", "EMPLOYMENT_TERM", true, func() {
			w.Exec(t, `UPDATE employment_term SET allows_inheritance = false WHERE id = $1`, warehouse)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := w.preview(early())
			c.do()
			if c.kind != "EMPLOYMENT_TERM" { // This change starts no propagation.
				w.settle()
			}
			shown := w.get(p.GetId())
			if !c.stale {
				assert.Equal(t, "READY", shown.GetState())
				return
			}
			assert.Equal(t, "STALE", shown.GetState())
			assert.Equal(t, c.kind, shown.GetMadeStaleBy().GetType())
			assert.NotZero(t, shown.GetMadeStaleBy().GetId())
			assert.True(t, proto.Equal(p.GetSummary(), shown.GetSummary()), "the summary stays")
			faulttest.Require(t, w.apply(early(), p.GetId()), "WRL-30621", http.StatusConflict)
		})
	}
}

// The audit log names the user who made a preview stale, for callers who may read it.
func TestTheLaterChangeNamesItsUser(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	as := func(permissions ...string) context.Context {
		p := &authn.Principal{Tenant: tenant.Default, Subject: "paula", Rows: string(rowvisibility.All), Permissions: permissions}
		return authn.With(tenant.With(t.Context(), tenant.Default), p, "")
	}
	p, err := w.handler.CreateSchedulePreview(as(), early())
	require.NoError(t, err)
	require.NoError(t, pgx.BeginFunc(w.Ctx, w.Pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(w.Ctx, `INSERT INTO day_lock (tenant_id, employee_id, from_date, to_date) VALUES (1, 3, '2026-03-05', '2026-03-06')`); err != nil {
			return err
		}
		_, err := tx.Exec(w.Ctx, `INSERT INTO audit_event (tenant_id, occurred_at, user_name, person_id, client_id, service, operation, objects, request_id, outcome)
			VALUES (1, now(), 'petra', 0, '', '', 'lock', '{}', '', 'ok')`)
		return err
	}))
	for user, ctx := range map[string]context.Context{"petra": as("auth.audit_event.read"), "": as()} {
		shown, err := w.handler.GetSchedulePreview(ctx, &schedulingv1.GetSchedulePreviewRequest{Id: p.GetId()})
		require.NoError(t, err)
		assert.Equal(t, "DAY_LOCK", shown.GetMadeStaleBy().GetType())
		assert.NotEmpty(t, shown.GetMadeStaleBy().GetDateTime())
		assert.Equal(t, user, shown.GetMadeStaleBy().GetDecidedBy())
	}
}

func TestPreviewsAreLimited(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	for range 100 {
		w.preview(early())
	}
	_, err := w.previews.CreateSchedulePreview(w.Ctx, early())
	faulttest.Require(t, err, "WRL-30626", http.StatusTooManyRequests)
	w.clock.Advance(15 * time.Minute)
	w.preview(early())
	long := early()
	long.Window = &schedulingv1.PreviewWindow{StartDate: "2026-01-01", EndDate: "2026-04-03"}
	_, err = w.previews.CreateSchedulePreview(w.Ctx, long)
	faulttest.Require(t, err, "WFP-90001", http.StatusRequestEntityTooLarge)
}

func TestAChangeWithoutEffectIsPreviewed(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	p := w.preview(creation(newAssignment(office, firstDay, "", false, "L")))
	require.Len(t, p.GetWarnings(), 1)
	assert.Equal(t, "EMPTY_CHANGE", p.GetWarnings()[0].GetCode())
	assert.Zero(t, p.GetSummary().GetEmployeesTotal())
	assert.Empty(t, w.readPreview(p.GetId()))
}
