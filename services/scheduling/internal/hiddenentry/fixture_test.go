package hiddenentry_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
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
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// The employees. The tests change the schedule of one only, so the colleague shows the patterns
// alone. Both are on the warehouse term.
const (
	anna, colleague   = 1, 2
	warehouse, office = 55, 56
	waitTimeout       = 20 * time.Second
)

// fixture runs the operations of planners and employees with a running propagator.
type fixture struct {
	*schedtest.Env

	t        *testing.T
	terms    schedulingv1.EmploymentTermSchedulePatternServiceClient
	shifts   schedulingv1.ShiftServiceClient
	edits    schedulingv1.PayCodeEditServiceClient
	schedule schedulingv1.ScheduleServiceClient
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	env := schedtest.New(t)
	w := &fixture{
		Env: env, t: t,
		terms:    schedulingv1.NewEmploymentTermSchedulePatternServiceClient(env.Conn()),
		shifts:   schedulingv1.NewShiftServiceClient(env.Conn()),
		edits:    schedulingv1.NewPayCodeEditServiceClient(env.Conn()),
		schedule: schedulingv1.NewScheduleServiceClient(env.Conn()),
	}
	propagationtest.Run(t, env.Pool, clock.System{})
	definitions := patterndefinition.New(patterndefinition.Settings{}, shifttemplate.Kind(), schedulepatterntemplate.Kind())
	resolver := projection.NewResolver(env.Pool, schedtest.NoPersons{}, nil)
	reader := reading.NewReader(env.Pool, definitions)
	schedulingv1.RegisterEmploymentTermSchedulePatternServiceServer(env.Local, employmenttermschedulepattern.New(employmenttermschedulepattern.Settings{}, employmenttermschedulepattern.Deps{
		Pool: env.Pool, Definitions: definitions, Terms: employmentterm.NewLookup(env.Pool), Previews: schedulepreview.NewPreviews(clock.System{}),
	}))
	deps := scheduleitem.Deps{Pool: env.Pool, Directory: resolver, Reader: reader}
	schedulingv1.RegisterShiftServiceServer(env.Local, scheduleitem.NewShifts(deps))
	schedulingv1.RegisterPayCodeEditServiceServer(env.Local, scheduleitem.NewPayCodeEdits(deps))
	schedulingv1.RegisterScheduleServiceServer(env.Local, schedule.New(env.Pool, reader, resolver, nil, asof.New(reader, -1)))
	w.Exec(w.t, schedtest.InsertTerm, 55, "Warehouse", true)
	w.Exec(w.t, schedtest.InsertTerm, 56, "Office", true)
	for _, id := range []int64{anna, colleague} {
		w.Exec(w.t, `INSERT INTO employee VALUES (1, $1, $2, 'P', 'UTC', 1)`, id, fmt.Sprint("P", id))
		w.Exec(w.t, `INSERT INTO membership (tenant_id, employee_id, employment_term_id, from_date, to_date) VALUES (1, $1, 55, '2025-01-01', '3000-01-01')`, id)
	}
	return w
}

// settle waits until all that was accepted is applied.
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

// pattern is a cycle of one day with the entries that are named.
func pattern(names ...string) *schedulingv1.SchedulePattern {
	p := &schedulingv1.SchedulePattern{DayCount: proto.Int32(1), TimePeriodType: &schedulingv1.TimePeriodType{Name: "Daily"}}
	for _, name := range names {
		p.Items = append(p.Items, entries[name]())
	}
	return p
}

var entries = map[string]func() *schedulingv1.SchedulePatternItem{
	"EARLY":    func() *schedulingv1.SchedulePatternItem { return shift("06:00", "14:00") },
	"LATE":     func() *schedulingv1.SchedulePatternItem { return shift("14:00", "22:00") },
	"NIGHT":    func() *schedulingv1.SchedulePatternItem { return shift("22:00", "23:30") },
	"TRAINING": func() *schedulingv1.SchedulePatternItem { return payCodeEdit("TRAINING") },
}

var shiftNames = map[string]string{"06:00": "EARLY", "14:00": "LATE", "22:00": "NIGHT"}

// assign assigns a pattern to a term and returns the assignment's id.
func (w *fixture) assign(term int64, from, to string, override bool, names ...string) int64 {
	w.t.Helper()
	response, err := w.terms.ApplyCreateEmploymentTermSchedulePatterns(w.Ctx, &schedulingv1.ApplyCreateGroupSchedulePatternsRequest{
		Body: &schedulingv1.ApplyCreateGroupSchedulePatterns{GroupSchedulePatterns: &schedulingv1.GroupSchedulePatternCreation{
			Do: &schedulingv1.GroupSchedulePatternCreates{GroupSchedulePatternCreates: []*schedulingv1.GroupSchedulePatternCreate{{
				Override: &override, AllowDuplicate: proto.Bool(true), GroupSchedulePattern: &schedulingv1.GroupSchedulePattern{
					GroupRef: &commonv1.Ref{Id: &term}, StartDate: from, EndDate: to, SchedulePattern: pattern(names...),
				},
			}}},
		}},
	})
	require.NoError(w.t, err)
	w.settle()
	return response.GetResults()[0].GetGroupSchedulePattern().GetId()
}

func (w *fixture) update(body *schedulingv1.ApplyUpdateGroupSchedulePatterns) *schedulingv1.GroupSchedulePatternResult {
	w.t.Helper()
	response, err := w.terms.ApplyUpdateEmploymentTermSchedulePatterns(w.Ctx, &schedulingv1.ApplyUpdateGroupSchedulePatternsRequest{Body: body})
	require.NoError(w.t, err)
	w.settle()
	return response.GetResults()[0]
}

func ids(id int64) *schedulingv1.GroupSchedulePatternIds {
	return &schedulingv1.GroupSchedulePatternIds{GroupSchedulePatternIds: []int64{id}}
}

func (w *fixture) recreate(id int64, names ...string) {
	w.t.Helper()
	w.update(&schedulingv1.ApplyUpdateGroupSchedulePatterns{Recreate: &schedulingv1.RecreateGroupSchedulePatterns{
		Where: ids(id), Do: &schedulingv1.RecreateGroupSchedulePattern{GroupSchedulePattern: &schedulingv1.GroupSchedulePattern{SchedulePattern: pattern(names...)}},
	}})
}

func (w *fixture) changeAsOf(id int64, date string, names ...string) int64 {
	w.t.Helper()
	return w.update(&schedulingv1.ApplyUpdateGroupSchedulePatterns{UpdateAsOfDate: &schedulingv1.UpdateGroupSchedulePatternsAsOfDate{
		Where: ids(id), Do: &schedulingv1.UpdateGroupSchedulePatternAsOfDate{Date: date, GroupSchedulePattern: &schedulingv1.GroupSchedulePattern{SchedulePattern: pattern(names...)}},
	}}).GetGroupSchedulePattern().GetId()
}

func (w *fixture) endOn(id int64, date string) {
	w.t.Helper()
	w.update(&schedulingv1.ApplyUpdateGroupSchedulePatterns{UpdateEndDate: &schedulingv1.UpdateGroupSchedulePatternsEndDate{
		Where: ids(id), Do: &schedulingv1.UpdateGroupSchedulePatternEndDate{Date: date},
	}})
}

func (w *fixture) takeAway(id int64, from, to string) {
	w.t.Helper()
	w.update(&schedulingv1.ApplyUpdateGroupSchedulePatterns{Remove: &schedulingv1.RemoveGroupSchedulePatterns{
		Where: ids(id), Do: &schedulingv1.RemovedDays{StartDate: from, EndDate: to},
	}})
}

func (w *fixture) remove(id int64) {
	w.t.Helper()
	_, err := w.terms.DeleteEmploymentTermSchedulePattern(w.Ctx, &schedulingv1.DeleteEmploymentTermSchedulePatternRequest{Id: id})
	require.NoError(w.t, err)
	w.settle()
}

// member puts an employee on terms: "55 2025-01-01 2025-06-01".
func (w *fixture) member(employee int64, list ...string) {
	w.t.Helper()
	w.setMember(employee, list...)
	w.settle()
}

// setMember does what member does, and does not wait until it is applied.
func (w *fixture) setMember(employee int64, list ...string) {
	w.t.Helper()
	w.Exec(w.t, `DELETE FROM membership WHERE employee_id = $1`, employee)
	for _, m := range list {
		parts := strings.Fields(m)
		w.Exec(w.t, `INSERT INTO membership (tenant_id, employee_id, employment_term_id, from_date, to_date)
			VALUES (1, $1, $2::text::bigint, $3::text::date, $4::text::date)`, employee, parts[0], parts[1], parts[2])
	}
	require.NoError(w.t, pg.InTx(w.Ctx, w.Pool, func(ctx context.Context, tx pgx.Tx) error {
		_, err := propagation.Start(ctx, tx, propagation.Request{Cause: propagation.CauseMembership, EmployeeIDs: []int64{employee}})
		return err
	}))
}

func (w *fixture) read(employee int64, date string) *schedulingv1.Schedule {
	w.t.Helper()
	return w.readAll([]int64{employee}, date)
}

// readAll reads a day of employees.
func (w *fixture) readAll(employees []int64, date string) *schedulingv1.Schedule {
	w.t.Helper()
	response, err := w.schedule.MultiReadSchedule(w.Ctx, &schedulingv1.MultiReadScheduleRequest{
		Select: []string{"SHIFTS", "PAYCODEEDITS"},
		Where: &schedulingv1.ScheduleWhere{Employees: &schedulingv1.EmployeeSchedules{
			EmployeeRefs: &commonv1.RefList{Ids: employees}, StartDate: date, EndDate: date,
		}},
	})
	require.NoError(w.t, err)
	wire, err := proto.Marshal(response)
	require.NoError(w.t, err)
	out := &schedulingv1.Schedule{}
	require.NoError(w.t, proto.Unmarshal(wire, out))
	return out
}

// day lists the entries of an employee on a day. A shift by hand has a star.
func (w *fixture) day(employee int64, date string) []string {
	w.t.Helper()
	s, out := w.read(employee, date), []string{}
	for _, shift := range s.GetShifts().GetShifts() {
		name := shiftNames[shift.GetStartDateTime()[11:16]]
		if !shift.GetGenerated() {
			name += "*"
		}
		out = append(out, name)
	}
	for _, edit := range s.GetPayCodeEdits().GetPayCodeEdits() {
		out = append(out, edit.GetPayCodeRef().GetQualifier())
	}
	slices.Sort(out)
	require.Equal(w.t, len(s.GetShifts().GetShifts()), w.countCopies(employee, date), "employee %d on %s: whoever keeps a copy counts other shifts", employee, date)
	return out
}

// find returns the id of an entry.
func (w *fixture) find(employee int64, date, name string) int64 {
	w.t.Helper()
	s := w.read(employee, date)
	for _, shift := range s.GetShifts().GetShifts() {
		if shiftNames[shift.GetStartDateTime()[11:16]] == name {
			return shift.GetId()
		}
	}
	for _, edit := range s.GetPayCodeEdits().GetPayCodeEdits() {
		if edit.GetPayCodeRef().GetQualifier() == name {
			return edit.GetId()
		}
	}
	require.Fail(w.t, fmt.Sprintf("no %s on %s", name, date))
	return 0
}

func (w *fixture) delete(employee int64, date, name string) int64 {
	w.t.Helper()
	id := w.find(employee, date, name)
	_, err := w.shifts.DeleteShift(w.Ctx, &schedulingv1.DeleteShiftRequest{Id: id})
	require.NoError(w.t, err)
	return id
}

// edit changes a shift, but not its times.
func (w *fixture) edit(employee int64, date, name string) int64 {
	w.t.Helper()
	id := w.find(employee, date, name)
	got, err := w.shifts.GetShift(w.Ctx, &schedulingv1.GetShiftRequest{Id: id})
	require.NoError(w.t, err)
	got.Label, got.Segments = "changed", nil
	_, err = w.shifts.UpdateShift(w.Ctx, &schedulingv1.UpdateShiftRequest{Id: id, Shift: got})
	require.NoError(w.t, err)
	return id
}
