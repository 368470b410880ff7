package explanation_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/asof"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/entryid"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedtest"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/explanation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

type fixture struct {
	*schedtest.Env

	t       *testing.T
	handler *explanation.Handler
	client  schedulingv1.ScheduleExplanationServiceClient // calls handler through the chain
}

// newFixture returns employee 1 in Zurich, on the term Nurses, whose rotation Early-Late of 14 days has a shift on
// its third day, at 06:00, and on its last, at 02:30. The first day of the cycle is Monday, 2025-03-03.
func newFixture(t *testing.T) *fixture {
	t.Helper()
	env := schedtest.New(t)
	reader := reading.NewReader(env.Pool, patterndefinition.New(patterndefinition.Settings{}, nil, nil))
	handler := explanation.New(explanation.Deps{
		Pool: env.Pool, Reader: reader, Directory: projection.NewResolver(env.Pool, schedtest.NoPersons{}, nil), Instants: asof.New(reader, -1),
	})
	schedulingv1.RegisterScheduleExplanationServiceServer(env.Local, handler)
	f := &fixture{Env: env, t: t, handler: handler, client: schedulingv1.NewScheduleExplanationServiceClient(env.Conn())}
	f.Exec(t, "INSERT INTO employee (tenant_id, id, person_number, full_name, time_zone, version, hire_date) VALUES (1, 1, 'P1', 'Person', 'Europe/Zurich', 1, '2025-01-01')")
	f.Exec(t, schedtest.InsertTerm, 5, "Nurses", true)
	f.Exec(t, "INSERT INTO membership (tenant_id, employee_id, employment_term_id, from_date, to_date) VALUES (1, 1, 5, '2025-02-01', '3000-01-01')")
	shift := func(day int32, start, end string) *schedulingv1.SchedulePatternItem {
		return &schedulingv1.SchedulePatternItem{Day: proto.Int32(day), ShiftTemplate: &schedulingv1.ShiftTemplate{
			StartDateTime: "1900-01-01T" + start, EndDateTime: "1900-01-01T" + end,
		}}
	}
	body, err := proto.Marshal(&schedulingv1.SchedulePattern{
		Name: "Early-Late", DayCount: proto.Int32(14),
		Items: []*schedulingv1.SchedulePatternItem{shift(3, "06:00:00", "14:00:00"), shift(14, "02:30:00", "10:30:00")},
	})
	require.NoError(t, err)
	f.Exec(t, "INSERT INTO schedule_pattern (tenant_id, id, digest, day_count, body) OVERRIDING SYSTEM VALUE VALUES (1, 8, sha256($1), 14, $1)", body)
	f.Exec(t, `INSERT INTO pattern_assignment (tenant_id, id, lineage_id, version, employment_term_id, from_date, to_date, pattern_id,
		day_count, anchor, start_date_offset, override, lane, seq, propagation_id)
		VALUES (1, 33, 33, 2, 5, '2025-03-03', '3000-01-01', 8, 14, '2025-03-03', 0, false, 0, 1, 7)`)
	f.Exec(t, `INSERT INTO span (tenant_id, employee_id, lane, from_date, to_date, pattern_id, position, day_count, assignment_id, inherited, propagation_id, series)
		VALUES (1, 1, 0, '2025-03-03', '3000-01-01', 8, 0, 14, 33, true, 7, 1024)`)
	return f
}

// id returns the id of a generated shift on a day of March 2025.
func (f *fixture) id(day int) int64 {
	f.t.Helper()
	at := time.Date(2025, 3, day, 0, 0, 0, 0, time.UTC)
	id, err := entryid.Encode(entryid.Entry{Series: 1024, Day: civil.FromTime(at)})
	require.NoError(f.t, err)
	return id
}

// explain explains a day of employee 1.
func (f *fixture) explain(day string) *schedulingv1.ScheduleExplanation {
	f.t.Helper()
	list, err := f.client.MultiReadScheduleExplanations(f.Ctx, request(day, day, 1))
	require.NoError(f.t, err)
	require.Len(f.t, list.GetExplanations(), 1)
	return list.GetExplanations()[0]
}

func request(first, last string, employees ...int64) *schedulingv1.MultiReadScheduleExplanationsRequest {
	return &schedulingv1.MultiReadScheduleExplanationsRequest{Where: &schedulingv1.ScheduleExplanationsWhere{
		Employees: &schedulingv1.ExplainedEmployees{EmployeeRefs: &commonv1.RefList{Ids: employees}, StartDate: first, EndDate: last},
	}}
}

// summaries lists kind, effect and text of layers.
func summaries(e *schedulingv1.ScheduleExplanation) []string {
	out := []string{e.GetOutcome()}
	for _, l := range e.GetLayers() {
		out = append(out, fmt.Sprintf("%s %s: %s", l.GetKind(), l.GetEffect(), l.GetText()))
	}
	return out
}

const (
	onTerm   = "MEMBERSHIP PRODUCES: The employee is on the employment term Nurses from 2025-02-01 on."
	assigned = "ASSIGNMENT PRODUCES: The rotation Early-Late is assigned to the employment term Nurses from 2025-03-03 on."
	early    = "PATTERN_DAY PRODUCES: Day 3 of 14 of the rotation Early-Late, counted from 2025-03-03, has the shift 06:00-14:00."
)

func TestExplanationsOfDays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, day string
		prepare   func(f *fixture)
		want      []string
	}{
		{"a shift of a rotation", "2025-03-05", nil, []string{"WORKS", onTerm, assigned, early}},
		{"a free day", "2025-03-06", nil, []string{
			"FREE", onTerm, assigned, "PATTERN_DAY PRODUCES: Day 4 of 14 of the rotation Early-Late, counted from 2025-03-03, is free.",
		}},
		{"no rotation yet", "2025-03-02", nil, []string{"NO_ASSIGNMENT", onTerm}},
		{"before the employment", "2024-12-31", nil, []string{"NOT_EMPLOYED"}},
		{"a deleted shift", "2025-03-05", func(f *fixture) { f.item(f.id(5), "2025-03-05", true, true) }, []string{
			"REMOVED", onTerm, assigned, early, "HAND_ENTRY HIDES: The shift 06:00-14:00 of the rotation was deleted by hand.",
		}},
		{"a changed shift", "2025-03-05", func(f *fixture) { f.item(f.id(5), "2025-03-05", false, true) }, []string{
			"WORKS", onTerm, assigned, early, "HAND_ENTRY HIDES: The shift 06:00-14:00 of the rotation was changed by hand.",
			"HAND_ENTRY ADDS: The shift 16:00-17:00 is a changed shift of a rotation.",
		}},
		{"a shift that was moved away", "2025-03-05", func(f *fixture) { f.item(f.id(5), "2025-03-08", false, true) }, []string{
			"REMOVED", onTerm, assigned, early, "HAND_ENTRY HIDES: The shift 06:00-14:00 of the rotation was moved to 2025-03-08 by hand.",
		}},
		{"an entered shift", "2025-03-02", func(f *fixture) { f.item(77, "2025-03-02", false, false) }, []string{
			"WORKS", onTerm, "HAND_ENTRY ADDS: The shift 16:00-17:00 was entered by hand.",
		}},
		{"leave", "2025-03-05", func(f *fixture) { f.leave(&schedulingv1.LeaveEdit{PaidSegment: fullDay()}) }, []string{
			"LEAVE", onTerm, assigned, early, "LEAVE HIDES: Leave takes the shift 06:00-14:00.",
		}},
		{"leave of an hour", "2025-03-05", func(f *fixture) { f.leave(&schedulingv1.LeaveEdit{DurationInTime: proto.Int64(3600)}) }, []string{
			"WORKS", onTerm, assigned, early, "LEAVE HIDES: Leave takes a part of the shift 06:00-14:00.",
		}},
		{"a locked day", "2025-03-05", func(f *fixture) {
			f.Exec(f.t, "INSERT INTO day_lock (tenant_id, employee_id, from_date, to_date) VALUES (1, 1, '2025-03-01', '2025-04-01')")
		}, []string{
			"WORKS", onTerm, assigned, early,
			"DAY_LOCK FREEZES: The schedule is locked from 2025-03-01 to 2025-03-31: later changes of rotations do not reach it.",
		}},
		{"a clock change", "2025-03-30", nil, []string{
			"WORKS", onTerm, assigned, "PATTERN_DAY PRODUCES: Day 14 of 14 of the rotation Early-Late, counted from 2025-03-03, has the shift 02:30-10:30.",
			"CLOCK_CHANGE MOVES: A clock change skips a time of the shift 02:30-10:30, which is moved to the first time after it.",
		}},
		{"a day that the calendar omits", "2011-12-30", func(f *fixture) {
			f.Exec(f.t, "UPDATE employee SET time_zone = 'Pacific/Apia', hire_date = NULL WHERE tenant_id = 1")
			f.Exec(f.t, "UPDATE span SET position = 2, from_date = '2011-12-30' WHERE tenant_id = 1")
		}, []string{
			"REMOVED", "ASSIGNMENT PRODUCES: The rotation Early-Late is assigned to the employment term from 2011-12-30 on.",
			"PATTERN_DAY PRODUCES: Day 3 of 14 of the rotation Early-Late has the shift 06:00-14:00.",
			"CLOCK_CHANGE HIDES: The calendar of the employee's time zone has no 2011-12-30, so that the shifts of the day do not take place.",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			if c.prepare != nil {
				c.prepare(f)
			}
			assert.Equal(t, c.want, summaries(f.explain(c.day)))
		})
	}
}

func fullDay() *schedulingv1.LeaveEditSegment {
	return &schedulingv1.LeaveEditSegment{SymbolicValue: &commonv1.Ref{Qualifier: proto.String("FULL_DAY")}}
}

// item stores a shift from 16:00 to 17:00, or a deletion, of employee 1. hides lets it hide the shift of 2025-03-05.
func (f *fixture) item(id int64, day string, deleted, hides bool) {
	f.t.Helper()
	body, err := proto.Marshal(&schedulingv1.Shift{StartDateTime: day + "T16:00:00", EndDateTime: day + "T17:00:00"})
	require.NoError(f.t, err)
	f.Exec(f.t, `INSERT INTO schedule_item (tenant_id, id, employee_id, kind, from_day, to_day, deleted, body) VALUES (1, $1, 1, 'SHIFT', $2, $2, $3, $4)`,
		id, day, deleted, body)
	if hides {
		f.Exec(f.t, "UPDATE schedule_item SET hides_day = '2025-03-05', hides_employee_id = 1, hidden_lane = 0, hidden_ordinal = 0 WHERE id = $1", id)
	}
}

// leave stores leave of employee 1 on 2025-03-05.
func (f *fixture) leave(edit *schedulingv1.LeaveEdit) {
	f.t.Helper()
	edit.StartDate, edit.EndDate = "2025-03-05", "2025-03-05"
	body, err := proto.Marshal(edit)
	require.NoError(f.t, err)
	f.Exec(f.t, "INSERT INTO leave_edit (tenant_id, id, employee_id, from_day, to_day, version, body) VALUES (1, 9, 1, '2025-03-05', '2025-03-05', 3, $1)", body)
}

func TestLayersNameTheirObjects(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	e := f.explain("2025-03-05")
	assert.Equal(t, "P1", e.GetEmployee().GetQualifier())
	assert.Equal(t, []int64{f.id(5)}, e.GetShiftIds())
	require.Len(t, e.GetLayers(), 3)
	member, assignment, day := e.GetLayers()[0], e.GetLayers()[1], e.GetLayers()[2]
	assert.EqualValues(t, 5, member.GetRef().GetId())
	assert.NotEmpty(t, member.GetDecidedAt())
	assert.EqualValues(t, 33, assignment.GetRef().GetId())
	assert.EqualValues(t, 2, assignment.GetVersion())
	assert.Equal(t, "2025-03-03", assignment.GetAnchor())
	assert.EqualValues(t, 7, assignment.GetPropagationId())
	assert.EqualValues(t, 3, day.GetCycleDay())
	assert.EqualValues(t, 14, day.GetDayCount())
	assert.Equal(t, []int64{f.id(5)}, day.GetShiftIds())
}

// The audit log names the users, for callers who may read it.
func TestDecidersAreShownToReadersOfTheAuditLog(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	tx, err := f.Pool.Begin(f.Ctx)
	require.NoError(t, err)
	_, err = tx.Exec(f.Ctx, "INSERT INTO day_lock (tenant_id, employee_id, from_date, to_date) VALUES (1, 1, '2025-03-05', '2025-03-06')")
	require.NoError(t, err)
	_, err = tx.Exec(f.Ctx, `INSERT INTO audit_event (tenant_id, occurred_at, user_name, person_id, client_id, service, operation, objects, request_id, outcome)
		VALUES (1, now(), 'petra', 0, '', '', 'lock', '{}', '', 'ok')`)
	require.NoError(t, err)
	require.NoError(t, tx.Commit(f.Ctx))
	read := func(permissions ...string) *schedulingv1.ScheduleLayer {
		t.Helper()
		p := &authn.Principal{Tenant: tenant.Default, Subject: "paula", Rows: string(rowvisibility.All), Permissions: append(permissions, "scheduling.schedule.read")}
		list, err := f.handler.MultiReadScheduleExplanations(authn.With(tenant.With(t.Context(), tenant.Default), p, ""), request("2025-03-05", "2025-03-05", 1))
		require.NoError(t, err)
		layers := list.GetExplanations()[0].GetLayers()
		return layers[len(layers)-1]
	}
	lock := read("auth.audit_event.read")
	assert.Equal(t, "DAY_LOCK", lock.GetKind())
	assert.Equal(t, "petra", lock.GetDecidedBy())
	assert.NotEmpty(t, lock.GetDecidedAt())
	lock = read()
	assert.Empty(t, lock.GetDecidedBy())
	assert.NotEmpty(t, lock.GetDecidedAt())
}

func TestTheShiftNamesItsDay(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.item(f.id(5), "2025-03-08", false, true)
	f.item(f.id(19), "2025-03-19", true, false)
	f.Exec(t, "UPDATE schedule_item SET hides_day = '2025-03-19', hides_employee_id = 1, hidden_lane = 0, hidden_ordinal = 0 WHERE id = $1", f.id(19))
	get := func(id int64) (*schedulingv1.ScheduleExplanation, error) {
		return f.client.GetShiftExplanation(f.Ctx, &schedulingv1.GetShiftExplanationRequest{Id: id})
	}
	for id, want := range map[int64][2]string{
		f.id(5): {"2025-03-08", "WORKS"}, f.id(19): {"2025-03-19", "REMOVED"}, f.id(16): {"2025-03-16", "WORKS"},
	} {
		t.Run(want[0], func(t *testing.T) {
			got, err := get(id)
			require.NoError(t, err)
			assert.Equal(t, want, [2]string{got.GetDate(), got.GetOutcome()})
		})
	}
	for _, unknown := range []int64{4711, f.id(6)} {
		t.Run(fmt.Sprint(unknown), func(t *testing.T) {
			_, err := get(unknown)
			assert.Equal(t, 404, fault.FromError(err).Status)
		})
	}
}

func TestThereIsALimitOfEmployeeDays(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, err := f.client.MultiReadScheduleExplanations(f.Ctx, request("2025-01-01", "2027-09-27", 1))
	require.NoError(t, err)
	_, err = f.client.MultiReadScheduleExplanations(f.Ctx, request("2025-01-01", "2027-09-28", 1))
	got := fault.FromError(err)
	assert.Equal(t, "WFP-90001", got.Code)
	assert.Equal(t, 413, got.Status)
}

func TestExplanationsOfOtherPersonsAreHidden(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Exec(t, "INSERT INTO employee (tenant_id, id, person_number, full_name, time_zone, version) VALUES (1, 2, 'P2', 'Person', 'UTC', 1)")
	for _, person := range []int64{1, 2} {
		t.Run(fmt.Sprint(person), func(t *testing.T) {
			ctx := schedtest.As(t.Context(), person, rowvisibility.Own)
			_, err := f.handler.GetShiftExplanation(ctx, &schedulingv1.GetShiftExplanationRequest{Id: f.id(5)})
			_, errs := f.handler.MultiReadScheduleExplanations(ctx, request("2025-03-05", "2025-03-05", 1))
			if person == 1 {
				require.NoError(t, err)
				require.NoError(t, errs)
				return
			}
			assert.True(t, fault.HasCode(err, "WFS-109101"), err)
			assert.True(t, fault.HasCode(errs, "WFS-103401"), errs)
		})
	}
}
