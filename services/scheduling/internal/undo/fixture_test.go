package undo_test

import (
	"context"
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/pkg/testkit/rpctest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/asof"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/daylock"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employeeschedulepattern"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employmentterm"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employmenttermschedulepattern"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/leave"
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
	"github.com/rotaloom/rotaloom/services/scheduling/migrations"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const waitTimeout = 30 * time.Second

// fixture runs the operations of planners with a running propagator.
type fixture struct {
	*schedtest.Env

	t            *testing.T
	workers      *pg.Pool // of the propagator, so that tests can kill its connections alone
	terms        *employmentterm.Handler
	termPatterns schedulingv1.EmploymentTermSchedulePatternServiceClient
	ownPatterns  schedulingv1.EmployeeSchedulePatternServiceClient
	shifts       schedulingv1.ShiftServiceClient
	schedule     schedulingv1.ScheduleServiceClient
	locks        schedulingv1.DayLockServiceClient
	propagations schedulingv1.PropagationServiceClient
	leave        *leave.Handler
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	sets, err := serve.Migrations("scheduling_version", migrations.FS)
	require.NoError(t, err)
	config := pgtest.Config(t, sets...)
	open := func(config pg.Config) *pg.Pool {
		pool, err := pg.Open(t.Context(), config, pgtest.Log(t))
		require.NoError(t, err)
		t.Cleanup(pool.Close)
		return pool
	}
	env := &schedtest.Env{Pool: open(config), Ctx: tenant.With(t.Context(), tenant.Default), Local: rpctest.Local(t)}
	workers := config
	workers.URL = obs.Secret(withParameter(t, config.URL.Reveal(), "application_name", "workers"))
	conn := env.Conn()
	w := &fixture{
		Env: env, t: t, workers: open(workers), terms: employmentterm.New(env.Pool), leave: leave.New(env.Pool),
		termPatterns: schedulingv1.NewEmploymentTermSchedulePatternServiceClient(conn),
		ownPatterns:  schedulingv1.NewEmployeeSchedulePatternServiceClient(conn),
		shifts:       schedulingv1.NewShiftServiceClient(conn),
		schedule:     schedulingv1.NewScheduleServiceClient(conn),
		locks:        schedulingv1.NewDayLockServiceClient(conn),
		propagations: schedulingv1.NewPropagationServiceClient(conn),
	}
	propagationtest.Run(t, w.workers, clock.System{})
	w.serve()
	return w
}

func withParameter(t *testing.T, address, name, value string) string {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	q := u.Query()
	q.Set(name, value)
	u.RawQuery = q.Encode()
	return u.String()
}

// serve registers the handlers.
func (w *fixture) serve() {
	definitions := patterndefinition.New(patterndefinition.Settings{}, shifttemplate.Kind(), schedulepatterntemplate.Kind())
	resolver := projection.NewResolver(w.Pool, schedtest.NoPersons{}, nil)
	reader := reading.NewReader(w.Pool, definitions)
	previews := schedulepreview.NewPreviews(clock.System{})
	termPatterns := employmenttermschedulepattern.New(employmenttermschedulepattern.Settings{}, employmenttermschedulepattern.Deps{
		Pool: w.Pool, Definitions: definitions, Terms: employmentterm.NewLookup(w.Pool), Previews: previews,
	})
	ownPatterns := employeeschedulepattern.New(employeeschedulepattern.Deps{Pool: w.Pool, Definitions: definitions, Directory: resolver})
	undoers := undo.Undoers{Terms: w.terms, TermPatterns: termPatterns, EmployeePatterns: ownPatterns}
	schedulingv1.RegisterEmploymentTermServiceServer(w.Local, w.terms)
	schedulingv1.RegisterEmploymentTermSchedulePatternServiceServer(w.Local, termPatterns)
	schedulingv1.RegisterEmployeeSchedulePatternServiceServer(w.Local, ownPatterns)
	schedulingv1.RegisterShiftServiceServer(w.Local, scheduleitem.NewShifts(scheduleitem.Deps{Pool: w.Pool, Directory: resolver, Reader: reader}))
	schedulingv1.RegisterScheduleServiceServer(w.Local, schedule.New(w.Pool, reader, resolver, nil, asof.New(reader, -1)))
	schedulingv1.RegisterDayLockServiceServer(w.Local, daylock.New(w.Pool, resolver))
	schedulingv1.RegisterPropagationServiceServer(w.Local, propagation.NewHandler(w.Pool, resolver.Visible, propagation.Undos{Undo: undoers.Undo, Previews: previews}, pgtest.Log(w.t)))
}

// term makes a term that passes patterns on.
func (w *fixture) term(id int64) {
	w.t.Helper()
	body, err := proto.Marshal(&schedulingv1.EmploymentTerm{
		Name: fmt.Sprint("Term ", id), AllowsInheritance: proto.Bool(true),
		Versions: &schedulingv1.EmploymentTermVersions{EmploymentTermVersion: []*schedulingv1.EmploymentTermVersion{
			{StartDate: "2024-01-01", EndDate: "3000-01-01"},
		}},
	})
	require.NoError(w.t, err)
	w.Exec(w.t, `INSERT INTO employment_term (tenant_id, id, name, allows_inheritance, body) OVERRIDING SYSTEM VALUE VALUES (1, $1, $2, true, $3)`,
		id, fmt.Sprint("Term ", id), body)
}

// employee puts a new employee on a term.
func (w *fixture) employee(id, term int64) {
	w.t.Helper()
	w.Exec(w.t, `INSERT INTO employee VALUES (1, $1, $2, 'P', 'UTC', 1)`, id, fmt.Sprint("P", id))
	w.Exec(w.t, `INSERT INTO membership (tenant_id, employee_id, employment_term_id, from_date, to_date) VALUES (1, $1, $2, '2025-01-01', '3000-01-01')`, id, term)
}

// settle waits until all changes are applied, and compares the spans with the tables.
func (w *fixture) settle() {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		var open int
		err := w.Pool.QueryRow(w.Ctx, `SELECT count(*) FROM propagation WHERE state <> 'FINISHED'`).Scan(&open)
		return err == nil && open == 0
	}, waitTimeout, 2*time.Millisecond, "all propagations have finished")
	report, err := reconcile.Verify(w.Ctx, w.Pool, nil)
	require.NoError(w.t, err)
	require.Empty(w.t, report.Differences)
}

// killWorkers ends the connections of the propagator that are in a transaction, as a failover of the
// database does.
func (w *fixture) killWorkers() {
	w.t.Helper()
	w.Exec(w.t, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'workers' AND xact_start IS NOT NULL`)
}

// shift returns a shift of a pattern on a day of its cycle.
func shift(day int32, name string) *schedulingv1.SchedulePatternItem {
	hours := map[string][2]string{"EARLY": {"06:00", "14:00"}, "LATE": {"14:00", "22:00"}, "NIGHT": {"22:00", "23:30"}, "MIDDAY": {"10:00", "16:00"}}[name]
	return &schedulingv1.SchedulePatternItem{Day: &day, ShiftTemplate: &schedulingv1.ShiftTemplate{
		Name: name, StartDateTime: "1900-01-01T" + hours[0] + ":00", EndDateTime: "1900-01-01T" + hours[1] + ":00",
	}}
}

// pattern is a cycle with a shift on each day: its name, or "" for none.
func pattern(names ...string) *schedulingv1.SchedulePattern {
	p := &schedulingv1.SchedulePattern{DayCount: proto.Int32(int32(len(names))), TimePeriodType: &schedulingv1.TimePeriodType{Name: "Daily"}}
	for i, name := range names {
		if name != "" {
			p.Items = append(p.Items, shift(int32(i+1), name))
		}
	}
	return p
}

// assign assigns a pattern to a term, and returns the ids of the assignment and the propagation. It
// may generate shifts twice.
func (w *fixture) assign(term int64, from, to string, override bool, names ...string) (id, propagationID int64) {
	w.t.Helper()
	response, err := w.termPatterns.ApplyCreateEmploymentTermSchedulePatterns(w.Ctx, &schedulingv1.ApplyCreateGroupSchedulePatternsRequest{
		Body: &schedulingv1.ApplyCreateGroupSchedulePatterns{GroupSchedulePatterns: &schedulingv1.GroupSchedulePatternCreation{
			Do: &schedulingv1.GroupSchedulePatternCreates{GroupSchedulePatternCreates: []*schedulingv1.GroupSchedulePatternCreate{{
				Override: &override, AllowDuplicate: proto.Bool(true), GroupSchedulePattern: &schedulingv1.GroupSchedulePattern{
					GroupRef: &commonv1.Ref{Id: &term}, StartDate: from, EndDate: to, SchedulePattern: pattern(names...),
				},
			}}},
		}},
	})
	require.NoError(w.t, err)
	return response.GetResults()[0].GetGroupSchedulePattern().GetId(), w.newest()
}

// assignOwn assigns a pattern to an employee, and returns the ids of the assignment and the
// propagation. It may generate shifts twice.
func (w *fixture) assignOwn(employee int64, from, to string, override bool, names ...string) (id, propagationID int64) {
	w.t.Helper()
	response, err := w.ownPatterns.ApplyCreateEmployeeSchedulePatterns(w.Ctx, &schedulingv1.ApplyCreateEmployeeSchedulePatternsRequest{
		Body: &schedulingv1.ApplyCreateEmployeeSchedulePatterns{EmployeeSchedulePatterns: &schedulingv1.EmployeeSchedulePatternCreation{
			Do: &schedulingv1.EmployeeSchedulePatternCreates{EmployeeSchedulePatternCreates: []*schedulingv1.EmployeeSchedulePatternCreate{{
				Override: &override, AllowDuplicate: proto.Bool(true), EmployeeSchedulePattern: &schedulingv1.EmployeeSchedulePattern{
					EmployeeRef: &commonv1.Ref{Id: &employee}, StartDate: from, EndDate: to, SchedulePattern: pattern(names...),
				},
			}}},
		}},
	})
	require.NoError(w.t, err)
	return response.GetResults()[0].GetEmployeeSchedulePattern().GetId(), w.newest()
}

// update changes assignments of terms, and returns the id of the propagation.
func (w *fixture) update(body *schedulingv1.ApplyUpdateGroupSchedulePatterns) int64 {
	w.t.Helper()
	_, err := w.termPatterns.ApplyUpdateEmploymentTermSchedulePatterns(w.Ctx, &schedulingv1.ApplyUpdateGroupSchedulePatternsRequest{Body: body})
	require.NoError(w.t, err)
	return w.newest()
}

func (w *fixture) recreate(id int64, names ...string) int64 {
	w.t.Helper()
	return w.update(&schedulingv1.ApplyUpdateGroupSchedulePatterns{Recreate: &schedulingv1.RecreateGroupSchedulePatterns{
		Where: ids(id), Do: &schedulingv1.RecreateGroupSchedulePattern{GroupSchedulePattern: &schedulingv1.GroupSchedulePattern{SchedulePattern: pattern(names...)}},
	}})
}

func (w *fixture) replaceFrom(id int64, date string, names ...string) int64 {
	w.t.Helper()
	return w.update(&schedulingv1.ApplyUpdateGroupSchedulePatterns{UpdateAsOfDate: &schedulingv1.UpdateGroupSchedulePatternsAsOfDate{
		Where: ids(id), Do: &schedulingv1.UpdateGroupSchedulePatternAsOfDate{Date: date, GroupSchedulePattern: &schedulingv1.GroupSchedulePattern{SchedulePattern: pattern(names...)}},
	}})
}

func (w *fixture) takeAway(id int64, from, to string) int64 {
	w.t.Helper()
	return w.update(&schedulingv1.ApplyUpdateGroupSchedulePatterns{Remove: &schedulingv1.RemoveGroupSchedulePatterns{
		Where: ids(id), Do: &schedulingv1.RemovedDays{StartDate: from, EndDate: to},
	}})
}

func (w *fixture) remove(id int64) int64 {
	w.t.Helper()
	_, err := w.termPatterns.DeleteEmploymentTermSchedulePattern(w.Ctx, &schedulingv1.DeleteEmploymentTermSchedulePatternRequest{Id: id})
	require.NoError(w.t, err)
	return w.newest()
}

// passOn lets a term pass its patterns on, or not, and returns the id of the propagation.
func (w *fixture) passOn(term int64, passes bool) int64 {
	w.t.Helper()
	old, err := w.terms.GetEmploymentTerm(w.Ctx, &schedulingv1.GetEmploymentTermRequest{Id: term})
	require.NoError(w.t, err)
	old.AllowsInheritance = &passes
	_, err = w.terms.UpdateEmploymentTerm(w.Ctx, &schedulingv1.UpdateEmploymentTermRequest{Id: term, EmploymentTerm: old})
	require.NoError(w.t, err)
	return w.newest()
}

// member puts an employee on a term for the days from a date on; "" means on no term.
func (w *fixture) member(employee, term int64, from string) {
	w.t.Helper()
	require.NoError(w.t, pg.InTx(w.Ctx, w.Pool, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `DELETE FROM membership WHERE employee_id = $1`, employee); err != nil {
			return err
		}
		if from != "" {
			if _, err := tx.Exec(ctx, `INSERT INTO membership (tenant_id, employee_id, employment_term_id, from_date, to_date)
				VALUES (1, $1, $2, $3::text::date, '3000-01-01')`, employee, term, from); err != nil {
				return err
			}
		}
		_, err := propagation.Start(ctx, tx, propagation.Request{Cause: propagation.CauseMembership, EmployeeIDs: []int64{employee}})
		return err
	}))
}

// lock locks days of an employee, both included.
func (w *fixture) lock(employee int64, from, to string) {
	w.t.Helper()
	_, err := w.locks.ApplyCreateDayLocks(w.Ctx, &schedulingv1.ApplyCreateDayLocksRequest{ForEmployees: &schedulingv1.DayLocksForEmployees{Where: &schedulingv1.DayLocksWhere{
		EmployeeRefs: &commonv1.RefList{Ids: []int64{employee}}, StartDate: from, EndDate: to,
	}}})
	require.NoError(w.t, err)
}

// newest returns the id of the newest propagation.
func (w *fixture) newest() (id int64) {
	w.t.Helper()
	require.NoError(w.t, w.Pool.QueryRow(w.Ctx, `SELECT max(id) FROM propagation`).Scan(&id))
	return id
}

func ids(id int64) *schedulingv1.GroupSchedulePatternIds {
	return &schedulingv1.GroupSchedulePatternIds{GroupSchedulePatternIds: []int64{id}}
}

// undo undoes a propagation strictly, and returns the propagation of the undo.
func (w *fixture) undo(id int64) int64 {
	w.t.Helper()
	response, err := w.propagations.UndoPropagation(w.Ctx, &schedulingv1.UndoPropagationRequest{Id: id, Body: &schedulingv1.UndoPropagation{Reason: "it was a mistake"}})
	require.NoError(w.t, err)
	require.Equal(w.t, "UNDO", response.GetCause())
	require.Equal(w.t, id, response.GetUndoesPropagationId())
	require.Equal(w.t, "it was a mistake", response.GetReason())
	return response.GetId()
}

// undoState returns the state of the undo of a propagation.
func (w *fixture) undoState(id int64) string {
	w.t.Helper()
	response, err := w.propagations.GetPropagation(w.Ctx, &schedulingv1.GetPropagationRequest{Id: id})
	require.NoError(w.t, err)
	return response.GetUndo().GetState()
}

// read reads the shifts of an employee on a range of days.
func (w *fixture) read(employee int64, from, to string) []*schedulingv1.Shift {
	w.t.Helper()
	response, err := w.schedule.MultiReadSchedule(w.Ctx, &schedulingv1.MultiReadScheduleRequest{
		Select: []string{"SHIFTS"},
		Where: &schedulingv1.ScheduleWhere{Employees: &schedulingv1.EmployeeSchedules{
			EmployeeRefs: &commonv1.RefList{Ids: []int64{employee}}, StartDate: from, EndDate: to,
		}},
	})
	require.NoError(w.t, err)
	wire, err := proto.Marshal(response)
	require.NoError(w.t, err)
	out := &schedulingv1.Schedule{}
	require.NoError(w.t, proto.Unmarshal(wire, out))
	return out.GetShifts().GetShifts()
}

// readShown lists the shifts of an employee with their ids.
func (w *fixture) readShown(employee int64, from, to string) []string {
	w.t.Helper()
	var out []string
	for _, s := range w.read(employee, from, to) {
		out = append(out, fmt.Sprint(s.GetStartDateTime(), " ", s.GetId(), " ", s.GetGenerated()))
	}
	return out
}
