package propagator

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
)

// nights is the id of a pattern with a shift from 22:00 to 06:00 on each day.
const nights = 30

func (w *fixture) nights() {
	w.t.Helper()
	body, err := proto.Marshal(&schedulingv1.SchedulePattern{Name: "Nights", DayCount: proto.Int32(1), Items: []*schedulingv1.SchedulePatternItem{{
		Day: proto.Int32(1), ShiftTemplate: &schedulingv1.ShiftTemplate{StartDateTime: "1900-01-01T22:00:00", EndDateTime: "1900-01-02T06:00:00"},
	}}})
	require.NoError(w.t, err)
	w.exec(`INSERT INTO schedule_pattern (tenant_id, id, digest, day_count, body) OVERRIDING SYSTEM VALUE VALUES (1, $1, '\x30', 1, $2)`, nights, body)
}

// handShift stores a shift that was made by hand.
func (w *fixture) handShift(id, employee int64, day, start, end string) {
	w.t.Helper()
	body, err := proto.Marshal(&schedulingv1.Shift{StartDateTime: day + "T" + start, EndDateTime: day + "T" + end})
	require.NoError(w.t, err)
	w.exec(`INSERT INTO schedule_item (tenant_id, id, employee_id, kind, from_day, to_day, body) VALUES (1, $1, $2, 'SHIFT', $3, $3, $4)`,
		id, employee, day, body)
}

// startNights gives three employees the pattern of nights from 2026-12-07 on. Employee 2 has a shift by
// hand, and two days of employee 3 are locked.
func (w *fixture) startNights() int64 {
	w.t.Helper()
	w.nights()
	w.term(5)
	w.members(5, "2026-01-01", "3000-01-01", 1, 2, 3)
	w.exec(`INSERT INTO employee (tenant_id, id, person_number, full_name, time_zone, version) SELECT 1, n, 'P' || n, 'Pat', 'Europe/Brussels', 1 FROM generate_series(1, 3) AS n`)
	w.handShift(900, 2, "2026-12-07", "10:00:00", "18:00:00")
	w.lock(3, "2026-12-08", "2026-12-10")
	w.exec(`INSERT INTO pattern_assignment (tenant_id, id, version, employment_term_id, from_date, to_date, pattern_id,
		day_count, anchor, start_date_offset, override, lane, seq, propagation_id)
		VALUES (1, 60, 1, 5, '2026-12-07', '3000-01-01', $1, 1, '2026-12-07', 0, false, 0, nextval('pattern_assignment_seq'), 0)`, nights)
	planner := &fixture{t: w.t, ctx: authn.With(w.ctx, &authn.Principal{Tenant: 1, Subject: "ann", PersonID: 77}, ""), pool: w.pool}
	id := planner.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{5}, AssignmentIDs: []int64{60}})
	w.apply(id)
	return id
}

func TestWarningsAndSkippedDaysNamePersons(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	p := w.get(w.startNights())
	assert.Equal(t, int64(3), p.GetEmployeesChanged())

	require.Len(t, p.GetWarnings(), 1)
	rest := p.GetWarnings()[0]
	assert.Equal(t, "SHORT_REST", rest.GetCode())
	assert.Equal(t, int64(60), rest.GetAssignmentId())
	assert.Equal(t, int64(1), rest.GetEmployees())
	require.Len(t, rest.GetPersons(), 1)
	assert.Equal(t, int64(2), rest.GetPersons()[0].GetEmployee().GetId())
	assert.Equal(t, "P2", rest.GetPersons()[0].GetEmployee().GetQualifier())
	assert.Equal(t, []string{"2026-12-07"}, rest.GetPersons()[0].GetDates())
	assert.Equal(t, "There are 4 h of rest between the shift 10:00-18:00 on 2026-12-07 and the shift 22:00-06:00 on 2026-12-07.", rest.GetPersons()[0].GetText())

	require.Len(t, p.GetSkipped(), 1)
	locked := p.GetSkipped()[0]
	assert.Equal(t, "LOCKED_DAYS", locked.GetReason())
	assert.Equal(t, int64(1), locked.GetEmployees())
	require.Len(t, locked.GetPersons(), 1)
	assert.Equal(t, int64(3), locked.GetPersons()[0].GetEmployee().GetId())
	require.Len(t, locked.GetPersons()[0].GetDays(), 1)
	assert.True(t, proto.Equal(&schedulingv1.PropagationDays{StartDate: "2026-12-08", EndDate: "2026-12-09"}, locked.GetPersons()[0].GetDays()[0]))
}

func TestPropagationsNameTermPlannerAndPattern(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	id := w.startNights()
	page, err := w.handler().MultiReadPropagations(w.ctx, &schedulingv1.MultiReadPropagationsRequest{})
	require.NoError(t, err)
	listed := page.GetPropagations().GetPropagations()
	require.Len(t, listed, 1)
	for _, p := range []*schedulingv1.Propagation{w.get(id), listed[0]} {
		require.Len(t, p.GetEmploymentTerms(), 1)
		assert.Equal(t, "Term 5", p.GetEmploymentTerms()[0].GetQualifier())
		assert.Equal(t, int64(77), p.GetPlanner().GetId())
		assert.Equal(t, "ann", p.GetPlanner().GetQualifier())
		require.Len(t, p.GetPatterns(), 1)
		assert.Equal(t, int64(60), p.GetPatterns()[0].GetAssignmentId())
		assert.Equal(t, "Nights", p.GetPatterns()[0].GetName())
		assert.Equal(t, int64(5), p.GetPatterns()[0].GetEmploymentTerm().GetId())
	}
	require.Len(t, listed[0].GetWarnings(), 1)
	assert.Equal(t, int64(1), listed[0].GetWarnings()[0].GetEmployees())
	assert.Empty(t, listed[0].GetWarnings()[0].GetPersons(), "lists name no persons")
}

func TestOnlyVisiblePersonsAreNamed(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	id := w.startNights()
	seesThree := func(context.Context) (rowvisibility.Set, error) { return rowvisibility.Persons(3), nil }
	h := propagation.NewHandler(w.pool, seesThree, propagation.Undos{}, pgtest.Log(w.t))
	p, err := h.GetPropagation(w.ctx, &schedulingv1.GetPropagationRequest{Id: id})
	require.NoError(t, err)
	assert.Equal(t, int64(1), p.GetWarnings()[0].GetEmployees())
	assert.Empty(t, p.GetWarnings()[0].GetPersons())
	assert.Len(t, p.GetSkipped()[0].GetPersons(), 1)

	page, err := h.MultiReadPropagationPersons(w.ctx, &schedulingv1.MultiReadPropagationPersonsRequest{Id: id})
	require.NoError(t, err)
	assert.Equal(t, []string{"LOCKED_DAYS 3"}, listPersons(page))
}

func TestPersonsArePaged(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	id := w.startNights()
	h := w.handler()
	read := func(req *schedulingv1.MultiReadPropagationPersonsRequest) *schedulingv1.PropagationPersonPage {
		req.Id = id
		page, err := h.MultiReadPropagationPersons(w.ctx, req)
		require.NoError(t, err)
		return page
	}
	first := read(&schedulingv1.MultiReadPropagationPersonsRequest{Count: proto.Int32(1)})
	assert.Equal(t, []string{"SHORT_REST 2"}, listPersons(first))
	require.Equal(t, int64(2), first.GetNext())
	second := read(&schedulingv1.MultiReadPropagationPersonsRequest{Count: proto.Int32(1), After: first.Next})
	assert.Equal(t, []string{"LOCKED_DAYS 3"}, listPersons(second))
	assert.Nil(t, second.Next)
	assert.Equal(t, []string{"LOCKED_DAYS 3"}, listPersons(read(&schedulingv1.MultiReadPropagationPersonsRequest{Codes: []string{"locked_days"}})))
	_, err := h.MultiReadPropagationPersons(w.ctx, &schedulingv1.MultiReadPropagationPersonsRequest{Id: id + 1})
	require.ErrorContains(t, err, "There is no propagation with this id.")
}

func listPersons(page *schedulingv1.PropagationPersonPage) (out []string) {
	for _, p := range page.GetPersons().GetPersons() {
		out = append(out, p.GetCode()+" "+p.GetEmployee().GetQualifier()[1:])
	}
	return out
}

// A change that has no effect says so.
func TestEmptyChange(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.startNights()
	again := w.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{5}})
	w.apply(again)
	p := w.get(again)
	assert.Zero(t, p.GetEmployeesChanged())
	require.Len(t, p.GetWarnings(), 1)
	assert.Equal(t, "EMPTY_CHANGE", p.GetWarnings()[0].GetCode())
	assert.Equal(t, int64(3), p.GetWarnings()[0].GetEmployees())
}
