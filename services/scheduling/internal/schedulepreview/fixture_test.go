package schedulepreview_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/asof"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employeeschedulepattern"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employmentterm"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employmenttermschedulepattern"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation/propagationtest"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation/reconcile"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedtest"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulepatterntemplate"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulepreview"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/shifttemplate"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/undo"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// The terms, and the first and the last day of the window of previews.
const (
	warehouse, office     = 55, 56
	firstDay, lastDay     = "2026-03-02", "2026-03-29"
	employees             = 6
	waitTimeout           = 20 * time.Second
	memberFrom, memberEnd = "2025-01-01", "3000-01-01"
)

// fixture runs the operations of planners with a running propagator.
type fixture struct {
	*schedtest.Env

	t        *testing.T
	clock    *clock.Fake
	handler  *schedulepreview.Handler
	inherits *employmentterm.Handler
	terms    schedulingv1.EmploymentTermSchedulePatternServiceClient
	own      schedulingv1.EmployeeSchedulePatternServiceClient
	undos    schedulingv1.PropagationServiceClient
	previews schedulingv1.SchedulePreviewServiceClient
	shifts   schedulingv1.ShiftServiceClient
	schedule schedulingv1.ScheduleServiceClient
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	env := schedtest.New(t)
	w := &fixture{
		Env: env, t: t, clock: clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)),
		inherits: employmentterm.New(env.Pool),
		terms:    schedulingv1.NewEmploymentTermSchedulePatternServiceClient(env.Conn()),
		own:      schedulingv1.NewEmployeeSchedulePatternServiceClient(env.Conn()),
		undos:    schedulingv1.NewPropagationServiceClient(env.Conn()),
		previews: schedulingv1.NewSchedulePreviewServiceClient(env.Conn()),
		shifts:   schedulingv1.NewShiftServiceClient(env.Conn()),
		schedule: schedulingv1.NewScheduleServiceClient(env.Conn()),
	}
	propagationtest.Run(t, env.Pool, clock.System{})
	definitions := patterndefinition.New(patterndefinition.Settings{}, shifttemplate.Kind(), schedulepatterntemplate.Kind())
	resolver := projection.NewResolver(env.Pool, schedtest.NoPersons{}, nil)
	reader := reading.NewReader(env.Pool, definitions)
	previews := schedulepreview.NewPreviews(w.clock)
	own := employeeschedulepattern.New(employeeschedulepattern.Deps{Pool: env.Pool, Definitions: definitions, Directory: resolver})
	patterns := employmenttermschedulepattern.New(employmenttermschedulepattern.Settings{}, employmenttermschedulepattern.Deps{
		Pool: env.Pool, Definitions: definitions, Terms: employmentterm.NewLookup(env.Pool), Previews: previews,
	})
	undoers := undo.Undoers{Terms: w.inherits, TermPatterns: patterns, EmployeePatterns: own}
	schedulingv1.RegisterEmployeeSchedulePatternServiceServer(env.Local, own)
	schedulingv1.RegisterPropagationServiceServer(env.Local, propagation.NewHandler(env.Pool, resolver.Visible, propagation.Undos{Undo: undoers.Undo, Previews: previews}, pgtest.Log(t)))
	schedulingv1.RegisterEmploymentTermSchedulePatternServiceServer(env.Local, patterns)
	w.handler = schedulepreview.New(schedulepreview.Deps{
		Pool: env.Pool, Clock: w.clock, Terms: patterns.Assignments(), Reader: reader, Visible: resolver.Visible, ProposeUndo: undoers.Propose,
	})
	schedulingv1.RegisterSchedulePreviewServiceServer(env.Local, w.handler)
	schedulingv1.RegisterShiftServiceServer(env.Local, scheduleitem.NewShifts(scheduleitem.Deps{Pool: env.Pool, Directory: resolver, Reader: reader}))
	schedulingv1.RegisterScheduleServiceServer(env.Local, schedule.New(env.Pool, reader, resolver, nil, asof.New(reader, -1)))
	w.addTerm(warehouse, "Warehouse")
	w.addTerm(office, "Office")
	for id := range int64(employees) {
		zone := []string{"UTC", "Europe/Berlin"}[id%2]
		w.Exec(t, `INSERT INTO employee VALUES (1, $1, $2, 'P', $3, 1)`, id+1, fmt.Sprint("P", id+1), zone)
		w.setMember(id+1, member{warehouse, memberFrom, memberEnd})
	}
	w.settle()
	return w
}

// addTerm adds a term that passes on its patterns.
func (w *fixture) addTerm(id int64, name string) {
	w.t.Helper()
	body, err := proto.Marshal(&schedulingv1.EmploymentTerm{
		Name: name, AllowsInheritance: proto.Bool(true),
		Versions: &schedulingv1.EmploymentTermVersions{EmploymentTermVersion: []*schedulingv1.EmploymentTermVersion{
			{StartDate: "2024-01-01", EndDate: "3000-01-01"},
		}},
	})
	require.NoError(w.t, err)
	w.Exec(w.t, `INSERT INTO employment_term (tenant_id, id, name, allows_inheritance, body) OVERRIDING SYSTEM VALUE VALUES (1, $1, $2, true, $3)`, id, name, body)
}

// passOn lets a term pass on its patterns, or not.
func (w *fixture) passOn(term int64, passes bool) {
	w.t.Helper()
	old, err := w.inherits.GetEmploymentTerm(w.Ctx, &schedulingv1.GetEmploymentTermRequest{Id: term})
	require.NoError(w.t, err)
	old.AllowsInheritance = &passes
	_, err = w.inherits.UpdateEmploymentTerm(w.Ctx, &schedulingv1.UpdateEmploymentTermRequest{Id: term, EmploymentTerm: old})
	require.NoError(w.t, err)
}

// assignOwn assigns a pattern to an employee.
func (w *fixture) assignOwn(employee int64, from, to string, override bool, days ...string) error {
	w.t.Helper()
	_, err := w.own.ApplyCreateEmployeeSchedulePatterns(w.Ctx, &schedulingv1.ApplyCreateEmployeeSchedulePatternsRequest{
		Body: &schedulingv1.ApplyCreateEmployeeSchedulePatterns{EmployeeSchedulePatterns: &schedulingv1.EmployeeSchedulePatternCreation{
			Do: &schedulingv1.EmployeeSchedulePatternCreates{EmployeeSchedulePatternCreates: []*schedulingv1.EmployeeSchedulePatternCreate{{
				Override: &override, EmployeeSchedulePattern: &schedulingv1.EmployeeSchedulePattern{
					EmployeeRef: &commonv1.Ref{Id: &employee}, StartDate: from, EndDate: to, SchedulePattern: pattern(days...),
				},
			}}},
		}},
	})
	return err
}

// newest returns the id of the newest propagation.
func (w *fixture) newest() (id int64) {
	w.t.Helper()
	require.NoError(w.t, w.Pool.QueryRow(w.Ctx, `SELECT max(id) FROM propagation`).Scan(&id))
	return id
}

// undoing returns the undo of a propagation.
func undoing(id int64, mode string) *schedulingv1.CreateSchedulePreviewRequest {
	return &schedulingv1.CreateSchedulePreviewRequest{Undo: &schedulingv1.PreviewedUndo{PropagationId: &id, Mode: mode}}
}

// settle waits until all propagations are applied.
func (w *fixture) settle() {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		var open int
		err := w.Pool.QueryRow(w.Ctx, `SELECT count(*) FROM propagation WHERE state <> 'FINISHED'`).Scan(&open)
		return err == nil && open == 0
	}, waitTimeout, 5*time.Millisecond, "all propagations have finished")
	report, err := reconcile.Verify(w.Ctx, w.Pool, nil)
	require.NoError(w.t, err)
	require.Empty(w.t, report.Differences)
}

// member is a membership; to is the day after the last.
type member struct {
	term     int64
	from, to string
}

// setMember sets the memberships of an employee, and starts their propagation.
func (w *fixture) setMember(employee int64, list ...member) {
	w.t.Helper()
	w.Exec(w.t, `DELETE FROM membership WHERE employee_id = $1`, employee)
	for _, m := range list {
		w.Exec(w.t, `INSERT INTO membership (tenant_id, employee_id, employment_term_id, from_date, to_date)
			VALUES (1, $1, $2, $3::text::date, $4::text::date)`, employee, m.term, m.from, m.to)
	}
	require.NoError(w.t, pg.InTx(w.Ctx, w.Pool, func(ctx context.Context, tx pgx.Tx) error {
		_, err := propagation.Start(ctx, tx, propagation.Request{Cause: propagation.CauseMembership, EmployeeIDs: []int64{employee}})
		return err
	}))
}

// pattern returns a pattern with the shifts of each cycle day: E, L and N.
func pattern(days ...string) *schedulingv1.SchedulePattern {
	p := &schedulingv1.SchedulePattern{DayCount: proto.Int32(int32(len(days))), TimePeriodType: &schedulingv1.TimePeriodType{Name: "Daily"}}
	for i, letters := range days {
		for _, letter := range letters {
			times := map[rune][2]string{'E': {"1900-01-01T06:00:00", "1900-01-01T14:00:00"}, 'L': {"1900-01-01T14:00:00", "1900-01-01T22:00:00"}, 'N': {"1900-01-01T22:00:00", "1900-01-02T06:00:00"}}[letter]
			p.Items = append(p.Items, &schedulingv1.SchedulePatternItem{Day: proto.Int32(int32(i + 1)), ShiftTemplate: &schedulingv1.ShiftTemplate{
				StartDateTime: times[0], EndDateTime: times[1], Label: string(letter),
			}})
		}
	}
	return p
}

func newAssignment(term int64, from, to string, override bool, days ...string) *schedulingv1.GroupSchedulePatternCreate {
	return &schedulingv1.GroupSchedulePatternCreate{Override: &override, GroupSchedulePattern: &schedulingv1.GroupSchedulePattern{
		GroupRef: &commonv1.Ref{Id: &term}, StartDate: from, EndDate: to, SchedulePattern: pattern(days...),
	}}
}

func creation(list ...*schedulingv1.GroupSchedulePatternCreate) *schedulingv1.CreateSchedulePreviewRequest {
	return &schedulingv1.CreateSchedulePreviewRequest{ApplyCreate: &schedulingv1.ApplyCreateGroupSchedulePatterns{
		GroupSchedulePatterns: &schedulingv1.GroupSchedulePatternCreation{Do: &schedulingv1.GroupSchedulePatternCreates{GroupSchedulePatternCreates: list}},
	}}
}

func assignmentIDs(id int64) *schedulingv1.GroupSchedulePatternIds {
	return &schedulingv1.GroupSchedulePatternIds{GroupSchedulePatternIds: []int64{id}}
}

// preview previews a change for the window of the tests.
func (w *fixture) preview(change *schedulingv1.CreateSchedulePreviewRequest) *schedulingv1.SchedulePreview {
	w.t.Helper()
	change.Window = &schedulingv1.PreviewWindow{StartDate: firstDay, EndDate: lastDay}
	p, err := w.previews.CreateSchedulePreview(w.Ctx, change)
	require.NoError(w.t, err)
	return p
}

// apply makes a change. An id of 0 applies no preview.
func (w *fixture) apply(change *schedulingv1.CreateSchedulePreviewRequest, previewID int64) error {
	var id *int64
	if previewID != 0 {
		id = &previewID
	}
	var err error
	switch {
	case change.GetApplyCreate() != nil:
		_, err = w.terms.ApplyCreateEmploymentTermSchedulePatterns(w.Ctx, &schedulingv1.ApplyCreateGroupSchedulePatternsRequest{Body: change.GetApplyCreate(), PreviewId: id})
	case change.GetApplyUpdate() != nil:
		_, err = w.terms.ApplyUpdateEmploymentTermSchedulePatterns(w.Ctx, &schedulingv1.ApplyUpdateGroupSchedulePatternsRequest{Body: change.GetApplyUpdate(), PreviewId: id})
	case change.GetUndo() != nil:
		_, err = w.undos.UndoPropagation(w.Ctx, &schedulingv1.UndoPropagationRequest{
			Id: change.GetUndo().GetPropagationId(), Body: &schedulingv1.UndoPropagation{Mode: change.GetUndo().GetMode(), Reason: "it was wrong"}, PreviewId: id,
		})
	default:
		_, err = w.terms.DeleteEmploymentTermSchedulePattern(w.Ctx, &schedulingv1.DeleteEmploymentTermSchedulePatternRequest{Id: change.GetDelete().GetIds()[0], PreviewId: id})
	}
	return err
}

// readPreview returns all pages of a preview, with a few employees each.
func (w *fixture) readPreview(id int64) map[int64]*schedulingv1.PreviewedEmployee {
	w.t.Helper()
	out, after := map[int64]*schedulingv1.PreviewedEmployee{}, ""
	for {
		page, err := w.previews.MultiReadSchedulePreview(w.Ctx, &schedulingv1.MultiReadSchedulePreviewRequest{
			Where: &schedulingv1.SchedulePreviewWhere{Id: &id}, Count: proto.Int32(2), After: &after,
		})
		require.NoError(w.t, err)
		require.LessOrEqual(w.t, len(page.GetEmployees().GetEmployees()), 2)
		for _, e := range page.GetEmployees().GetEmployees() {
			require.Nil(w.t, out[e.GetEmployee().GetId()])
			out[e.GetEmployee().GetId()] = e
		}
		if page.Next == nil {
			return out
		}
		after = page.GetNext()
	}
}

// readShifts returns the shifts of an employee that begin in the window, without their ids.
func (w *fixture) readShifts(employee int64) []*schedulingv1.Shift {
	w.t.Helper()
	response, err := w.schedule.MultiReadSchedule(w.Ctx, &schedulingv1.MultiReadScheduleRequest{
		Select: []string{"SHIFTS"},
		Where: &schedulingv1.ScheduleWhere{Employees: &schedulingv1.EmployeeSchedules{
			EmployeeRefs: &commonv1.RefList{Ids: []int64{employee}}, StartDate: firstDay, EndDate: lastDay,
		}},
	})
	require.NoError(w.t, err)
	wire, err := proto.Marshal(response)
	require.NoError(w.t, err)
	out := &schedulingv1.Schedule{}
	require.NoError(w.t, proto.Unmarshal(wire, out))
	return slices.DeleteFunc(out.GetShifts().GetShifts(), func(s *schedulingv1.Shift) bool { return s.GetStartDateTime() < firstDay })
}

// readSpans returns the stored spans of an employee: "2026-03-02 2026-03-09 position/days".
func (w *fixture) readSpans(employee int64) []string {
	w.t.Helper()
	list, err := pg.Collect(w.Ctx, w.Pool, pgx.RowTo[string], `
SELECT from_date || ' ' || to_date || ' ' || position || '/' || day_count FROM span WHERE employee_id = $1`, employee)
	require.NoError(w.t, err)
	slices.Sort(list)
	return list
}
