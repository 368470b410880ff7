// Package historytest shows that the history of schedules is right, whatever people and
// propagations change at the same time.
package historytest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/asof"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/daylock"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employeelock"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation/propagationtest"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedtest"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// historyTables are the tables that shape an employee's schedule. Each has its past in
// a table of the same name with _past behind it.
var historyTables = []string{"span", "schedule_item", "day_lock", "membership", "leave_edit", "locked_leave"}

// bookkeepingColumns are columns that do not belong to the recorded state: the times of validity,
// and columns that follow from other tables.
const bookkeepingColumns = ` - '{believed_from,believed_until,hidden_lane,hidden_ordinal}'::text[]`

// employees are in two buckets of locks.
var employees = []int64{1, 2, 3, employeelock.BucketSize + 1, employeelock.BucketSize + 2}

type fixture struct {
	*schedtest.Env
	t         *testing.T
	shifts    schedulingv1.ShiftServiceClient
	schedules schedulingv1.ScheduleServiceClient
	locks     schedulingv1.DayLockServiceClient
	patterns  []int64
	reader    *reading.Reader
}

func newFixture(t *testing.T) *fixture {
	env := schedtest.New(t)
	w := &fixture{
		Env: env, t: t, shifts: schedulingv1.NewShiftServiceClient(env.Conn()),
		schedules: schedulingv1.NewScheduleServiceClient(env.Conn()), locks: schedulingv1.NewDayLockServiceClient(env.Conn()),
	}
	for _, id := range employees {
		w.Exec(w.t, `INSERT INTO employee VALUES (1, $1, $2, 'Person', 'UTC', 1)`, id, fmt.Sprint("P", id))
	}
	for id := int64(1); id <= 3; id++ {
		w.Exec(w.t, schedtest.InsertTerm, id, fmt.Sprint("Term ", id), false)
	}
	for _, start := range []string{"06", "08", "14"} {
		w.patterns = append(w.patterns, w.pattern(start))
	}
	propagationtest.Run(t, env.Pool, clock.System{})
	directory := projection.NewResolver(env.Pool, nil, nil)
	reader := reading.NewReader(env.Pool, patterndefinition.New(patterndefinition.Settings{}, nil, nil))
	w.reader = reader
	schedulingv1.RegisterShiftServiceServer(env.Local, scheduleitem.NewShifts(scheduleitem.Deps{Pool: env.Pool, Directory: directory, Reader: reader}))
	schedulingv1.RegisterScheduleServiceServer(env.Local, schedule.New(env.Pool, reader, directory, nil, asof.New(reader, -1)))
	schedulingv1.RegisterDayLockServiceServer(env.Local, daylock.New(env.Pool, directory))
	return w
}

// pattern stores one with a shift of two hours on each day of three.
func (w *fixture) pattern(start string) (id int64) {
	body := &schedulingv1.SchedulePattern{DayCount: proto.Int32(3)}
	for day := range int32(3) {
		body.Items = append(body.Items, &schedulingv1.SchedulePatternItem{Day: proto.Int32(day + 1), ShiftTemplate: &schedulingv1.ShiftTemplate{
			StartDateTime: "1900-01-01T" + start + ":00:00", EndDateTime: fmt.Sprintf("1900-01-01T%s:%02d:00", start, 30+day),
		}})
	}
	text, err := proto.Marshal(body)
	require.NoError(w.t, err)
	require.NoError(w.t, w.Pool.QueryRow(w.Ctx, `INSERT INTO schedule_pattern (tenant_id, digest, day_count, body)
		VALUES (1, sha256($1), 3, $1) RETURNING id`, text).Scan(&id))
	return id
}

// change does something by chance to the schedule of an employee.
func (w *fixture) change(random *rand.Rand) error {
	id := employees[random.IntN(len(employees))]
	day := civil.Date(20_000 + random.IntN(10))
	switch n := random.IntN(12); {
	case n < 3:
		return w.enter(id, day)
	case n < 7:
		return w.edit(random, id, day)
	case n < 8 && random.IntN(2) == 0:
		return w.unlock(id, day, day)
	case n < 8:
		return w.lock(id, day, day)
	case n < 10:
		return w.assign(id, day, w.patterns[random.IntN(len(w.patterns))])
	case n < 11:
		return w.underLock(id, `DELETE FROM membership WHERE tenant_id = 1 AND employee_id = $1`,
			`INSERT INTO membership (tenant_id, employee_id, employment_term_id, from_date, to_date) VALUES (1, $1, $2, $3, '3000-01-01')`,
			int64(random.IntN(3)+1), day.Time())
	default:
		edit := &schedulingv1.LeaveEdit{PaidSegment: &schedulingv1.LeaveEditSegment{SymbolicValue: &commonv1.Ref{Qualifier: proto.String("FULL_DAY")}}}
		if random.IntN(3) == 0 {
			edit = &schedulingv1.LeaveEdit{DurationInTime: proto.Int64(600)}
		}
		edit.StartDate, edit.EndDate = day.String(), day.String()
		body, err := proto.Marshal(edit)
		if err != nil {
			return err
		}
		return w.underLock(id, `DELETE FROM leave_edit WHERE tenant_id = 1 AND employee_id = $1 AND id % 2 = 0`,
			`INSERT INTO leave_edit (tenant_id, id, employee_id, from_day, to_day, version, body) VALUES (1, $1 * 10 + $2, $1, $3, $3, 1, $4)
			ON CONFLICT (tenant_id, id) DO UPDATE SET from_day = excluded.from_day, to_day = excluded.to_day, version = leave_edit.version + 1,
			    body = excluded.body`,
			int64(random.IntN(4)), day.Time(), body)
	}
}

// lock locks the days of an employee, inclusive.
func (w *fixture) lock(id int64, first, last civil.Date) error {
	_, err := w.locks.ApplyCreateDayLocks(w.Ctx, &schedulingv1.ApplyCreateDayLocksRequest{
		ForEmployees: &schedulingv1.DayLocksForEmployees{Where: &schedulingv1.DayLocksWhere{
			EmployeeRefs: &commonv1.RefList{Ids: []int64{id}}, StartDate: first.String(), EndDate: last.String(),
		}},
	})
	return err
}

// unlock unlocks the days of an employee, inclusive.
func (w *fixture) unlock(id int64, first, last civil.Date) error {
	_, err := w.locks.MultiDeleteDayLocks(w.Ctx, &schedulingv1.MultiDeleteDayLocksRequest{Where: &schedulingv1.DeleteDayLocksWhere{
		Employees: &schedulingv1.DayLocksWhere{
			EmployeeRefs: &commonv1.RefList{Ids: []int64{id}}, StartDate: first.String(), EndDate: last.String(),
		},
	}})
	return err
}

func (w *fixture) enter(id int64, day civil.Date) error {
	_, err := w.shifts.CreateShift(w.Ctx, newShift(id, day, 16))
	return err
}

func newShift(id int64, day civil.Date, hour int32) *schedulingv1.Shift {
	return &schedulingv1.Shift{
		Employee:      &commonv1.Ref{Id: &id},
		StartDateTime: day.At(hour * 3600).String(), EndDateTime: day.At(hour*3600 + 1800).String(),
	}
}

// edit deletes or changes a shift of an employee; a change may give it to another employee.
func (w *fixture) edit(random *rand.Rand, id int64, day civil.Date) error {
	response, err := w.schedules.MultiReadSchedule(w.Ctx, &schedulingv1.MultiReadScheduleRequest{
		Select: []string{"SHIFTS"}, Where: &schedulingv1.ScheduleWhere{Employees: &schedulingv1.EmployeeSchedules{
			EmployeeRefs: &commonv1.RefList{Ids: []int64{id}}, StartDate: day.String(), EndDate: day.String(),
		}},
	})
	if err != nil {
		return err
	}
	wire, err := proto.Marshal(response)
	if err != nil {
		return err
	}
	got := &schedulingv1.Schedule{}
	if err := proto.Unmarshal(wire, got); err != nil {
		return err
	}
	shifts := got.GetShifts().GetShifts()
	if len(shifts) == 0 {
		return w.enter(id, day)
	}
	shift := shifts[random.IntN(len(shifts))].GetId()
	if random.IntN(3) == 0 {
		_, err = w.shifts.DeleteShift(w.Ctx, &schedulingv1.DeleteShiftRequest{Id: shift})
		return err
	}
	other := employees[random.IntN(len(employees))]
	_, err = w.shifts.UpdateShift(w.Ctx, &schedulingv1.UpdateShiftRequest{Id: shift, Shift: newShift(other, day, int32(random.IntN(23)))})
	return err
}

// assign gives an employee another pattern from a day on.
func (w *fixture) assign(id int64, day civil.Date, pattern int64) error {
	return pg.InTx(w.Ctx, w.Pool, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `UPDATE pattern_assignment SET believed_until = change_time()
			WHERE tenant_id = 1 AND employee_id = $1 AND believed_until = 'infinity'`, id); err != nil {
			return err
		}
		request := propagation.Request{Cause: propagation.CausePattern, EmployeeIDs: []int64{id}}
		propagated, err := propagation.Start(ctx, tx, request)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `WITH n AS (SELECT nextval('pattern_assignment_id') AS id)
			INSERT INTO pattern_assignment (tenant_id, id, lineage_id, version, employee_id, from_date, to_date, pattern_id,
			    day_count, anchor, start_date_offset, override, lane, seq, propagation_id)
			SELECT 1, id, id, 1, $1, $2, '3000-01-01', $3, 3, $2, 0, false, 0, nextval('pattern_assignment_seq'), $4 FROM n`,
			id, day.Time(), pattern, propagated)
		return err
	})
}

// underLock executes two statements as the consumers of other domains' events do.
func (w *fixture) underLock(id int64, before, sql string, args ...any) error {
	return pg.InTx(w.Ctx, w.Pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := employeelock.Lock(ctx, tx, []int64{id}); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, before, id); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, sql, append([]any{id}, args...)...)
		return err
	})
}

// seen is the recorded state of employees at an instant.
type seen struct {
	employees []int64
	at        time.Time
	state     string
}

// now reads what holds of an employee, and the time of the last change of it.
func (w *fixture) now(id int64) (s seen, err error) {
	var states, times []string
	for _, table := range historyTables {
		states = append(states, fmt.Sprintf(`SELECT '%[1]s ' || (to_jsonb(t)%[2]s)::text AS row FROM %[1]s t WHERE tenant_id = 1 AND employee_id = $1`, table, bookkeepingColumns))
		times = append(times, fmt.Sprintf(`SELECT believed_from AS at FROM %[1]s WHERE tenant_id = 1 AND employee_id = $1
			UNION ALL SELECT believed_until FROM %[1]s_past WHERE tenant_id = 1 AND employee_id = $1`, table))
	}
	s.employees = []int64{id}
	err = w.Pool.QueryRow(w.Ctx, `SELECT (SELECT coalesce(string_agg(row, E'\n' ORDER BY row), '') FROM (`+strings.Join(states, " UNION ALL ")+`) AS s),
		(SELECT coalesce(max(at), 'epoch') FROM (`+strings.Join(times, " UNION ALL ")+`) AS t)`, id).Scan(&s.state, &s.at)
	return s, err
}

// readAsOf reads the recorded state of employees at an instant.
func (w *fixture) readAsOf(ids []int64, at time.Time) (state string, err error) {
	var states []string
	for _, table := range historyTables {
		states = append(states, fmt.Sprintf(`SELECT '%[1]s ' || (to_jsonb(t)%[2]s)::text AS row FROM %[1]s t
			WHERE tenant_id = 1 AND employee_id = ANY($1) AND believed_from <= $2
			UNION ALL SELECT '%[1]s ' || (to_jsonb(p)%[2]s)::text FROM %[1]s_past p
			WHERE tenant_id = 1 AND employee_id = ANY($1) AND believed_from <= $2 AND believed_until > $2`, table, bookkeepingColumns))
	}
	err = w.Pool.QueryRow(w.Ctx, `SELECT coalesce(string_agg(row, E'\n' ORDER BY row), '') FROM (`+strings.Join(states, " UNION ALL ")+`) AS s`, ids, at).Scan(&state)
	return state, err
}

const (
	writers          = 4
	changesOfAWriter = 60
)

// While people, propagations and other domains change schedules, readers see a state of an
// employee. Later, the history of the last change that they saw shows the same state. The history
// of a settled instant never changes.
func TestThePastIsWhatReadersSaw(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	seed := rand.Uint64()
	if text := os.Getenv("ROTALOOM_HISTORY_SEED"); text != "" {
		var err error
		seed, err = strconv.ParseUint(text, 10, 64)
		require.NoError(t, err)
	}
	t.Logf("ROTALOOM_HISTORY_SEED=%d", seed)
	for _, id := range employees {
		require.NoError(t, w.assign(id, 20_000, w.patterns[0]))
	}
	var writing, reading errgroup.Group
	for n := range writers {
		random := rand.New(rand.NewPCG(seed, uint64(n)))
		writing.Go(func() error {
			for range changesOfAWriter {
				// What collides is refused.
				if err := w.change(random); err != nil && fault.FromError(err).Status >= 500 {
					return err
				}
			}
			return nil
		})
	}
	done := make(chan struct{})
	var ofOne, ofAll []seen
	reading.Go(func() error {
		for i := 0; ; i++ {
			select {
			case <-done:
				return nil
			default:
			}
			s, err := w.now(employees[i%len(employees)])
			if err != nil {
				return err
			}
			ofOne = append(ofOne, s)
		}
	})
	reading.Go(func() error {
		for {
			select {
			case <-done:
				return nil
			default:
			}
			s := seen{employees: employees}
			err := w.Pool.QueryRow(w.Ctx, "SELECT settled_time()").Scan(&s.at)
			if err == nil {
				s.state, err = w.readAsOf(s.employees, s.at)
			}
			if err != nil {
				return err
			}
			ofAll = append(ofAll, s)
		}
	})
	err := writing.Wait()
	// By chance no lock may have met another one: then the one that is there becomes wider. Nor
	// may there have been leave on a day that was unlocked.
	last := civil.Date(20_100)
	require.NoError(t, w.underLock(employees[0], `SELECT $1::bigint`, `INSERT INTO leave_edit (tenant_id, id, employee_id, from_day, to_day, version, body)
		VALUES (1, 1000, $1, $2, $2, 1, '')`, last.Time()))
	for days := range civil.Date(2) {
		require.NoError(t, w.lock(employees[0], last, last+days))
	}
	require.NoError(t, w.unlock(employees[0], last, last))
	close(done)
	require.NoError(t, reading.Wait())
	require.NoError(t, err)
	t.Log("states of one:", len(ofOne), "of all:", len(ofAll), "past:", w.Rows(t, pastTables()...))

	for _, s := range append(ofOne, ofAll...) {
		state, err := w.readAsOf(s.employees, s.at)
		require.NoError(t, err)
		require.Equal(t, s.state, state, "employees %v at %s", s.employees, s.at)
	}
	for _, table := range pastTables() {
		n := 0
		require.NoError(t, w.Pool.QueryRow(w.Ctx, "SELECT count(*) FROM "+table+" WHERE believed_until <= believed_from").Scan(&n))
		assert.Zero(t, n, "rows of %s end before they begin", table)
		require.NoError(t, w.Pool.QueryRow(w.Ctx, "SELECT count(*) FROM "+table).Scan(&n))
		assert.NotZero(t, n, "nothing became past of %s", table)
	}
}

func pastTables() []string {
	out := make([]string, len(historyTables))
	for i, table := range historyTables {
		out[i] = table + "_past"
	}
	return out
}
