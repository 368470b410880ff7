package timeoffedit_test

import (
	"strconv"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/domain/symbolicamount"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/testkit/faulttest"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedtest"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemfault"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/timeoffedit"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// fixture has the employee 1.
type fixture struct {
	*schedtest.Env
	t       *testing.T
	edits   *scheduleitem.PayCodeEdits
	handler *timeoffedit.Handler
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	env := schedtest.New(t)
	directory := projection.NewResolver(env.Pool, schedtest.NoPersons{}, nil)
	reader := reading.NewReader(env.Pool, patterndefinition.New(patterndefinition.Settings{}, nil, nil))
	edits := scheduleitem.NewPayCodeEdits(scheduleitem.Deps{Pool: env.Pool, Directory: directory, Reader: reader})
	env.Exec(t, "INSERT INTO employee VALUES (1, 1, 'P1', 'One', 'Europe/Zurich', 1)")
	return &fixture{Env: env, t: t, edits: edits, handler: timeoffedit.New(timeoffedit.Deps{
		Pool: env.Pool, Directory: directory, Schedules: edits,
	})}
}

// putDays puts whole days of a request on the schedule, and returns the version that holds.
func (f *fixture) putDays(request, version int64, repeats bool, days ...string) (int64, error) {
	req := &schedulingv1.PutTimeOffRequest{RequestId: request, Version: version, EmployeeId: 1, Repeats: repeats}
	for _, day := range days {
		req.PayCodeEdits = append(req.PayCodeEdits, &schedulingv1.PayCodeEdit{
			PayCodeRef: &commonv1.Ref{Qualifier: proto.String("PTO")}, StartDate: day, EndDate: day, SymbolicValueRef: symbolicamount.Ref(symbolicamount.FullDay),
		})
	}
	response, err := f.handler.PutTimeOff(f.Ctx, req)
	return response.GetVersion(), err
}

// mustPut is put, of something that is not refused and holds.
func (f *fixture) mustPut(request, version int64, days ...string) {
	f.t.Helper()
	holds, err := f.putDays(request, version, false, days...)
	require.NoError(f.t, err)
	require.Equal(f.t, version, holds)
}

// listStored returns the covering items of the schedule, as "id day".
func (f *fixture) listStored() []string {
	f.t.Helper()
	rows, err := f.Pool.Query(f.Ctx, "SELECT id || ' ' || from_day FROM schedule_item WHERE covers AND NOT deleted ORDER BY id")
	require.NoError(f.t, err)
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(f.t, err)
	return out
}

// days returns the days of the covering items.
func (f *fixture) days() []string {
	f.t.Helper()
	rows, err := f.Pool.Query(f.Ctx, "SELECT from_day::text FROM schedule_item WHERE covers AND NOT deleted ORDER BY from_day")
	require.NoError(f.t, err)
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(f.t, err)
	return out
}

func (f *fixture) lock(from, to string) {
	f.t.Helper()
	f.Exec(f.t, "INSERT INTO day_lock (tenant_id, employee_id, from_date, to_date) VALUES (1, 1, $1, $2)", from, to)
}

// deleteItem deletes the first item, as a planner does by hand.
func (f *fixture) deleteItem() {
	f.t.Helper()
	var id int64
	require.NoError(f.t, f.Pool.QueryRow(f.Ctx, "SELECT min(id) FROM schedule_item").Scan(&id))
	_, err := f.edits.DeletePayCodeEdit(f.Ctx, &schedulingv1.DeletePayCodeEditRequest{Id: id})
	require.NoError(f.t, err)
}

func TestNewerVersionsReplaceTimeOff(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.mustPut(7, 3, "2031-03-03", "2031-03-04")
	f.mustPut(8, 4, "2031-03-10")
	assert.Equal(t, []string{"2031-03-03", "2031-03-04", "2031-03-10"}, f.days())
	f.mustPut(7, 6, "2031-03-04", "2031-03-05")
	assert.Equal(t, []string{"2031-03-04", "2031-03-05", "2031-03-10"}, f.days())
	f.mustPut(7, 9)
	assert.Equal(t, []string{"2031-03-10"}, f.days())
}

// A version that is known, or an older one, changes nothing: neither the schedule nor events.
func TestRepeatedAndLateTimeOffChangesNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.mustPut(7, 3, "2031-03-03")
	f.mustPut(7, 5, "2031-03-04")
	before, events := f.listStored(), f.Rows(t, "outbox")
	for _, c := range []struct {
		name    string
		version int64
		days    []string
	}{
		{"the same again", 5, []string{"2031-03-04"}},
		{"the one before", 3, []string{"2031-03-03"}},
		{"one that was never seen", 4, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			holds, err := f.putDays(7, c.version, false, c.days...)
			require.NoError(t, err)
			assert.EqualValues(t, 5, holds)
			assert.Equal(t, before, f.listStored())
			assert.Equal(t, events, f.Rows(t, "outbox"))
		})
	}
	f.mustPut(7, 6)
	_, err := f.putDays(7, 5, false, "2031-03-04")
	require.NoError(t, err)
	assert.Empty(t, f.listStored(), "what was taken off does not come back")
}

// A call that repeats a state changes nothing, also if a planner has deleted an edit or the days
// were locked since.
func TestRepeatsOfTheSameState(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.mustPut(7, 1, "2031-03-03", "2031-03-04")
	f.deleteItem()
	f.lock("2031-03-04", "2031-03-05")
	before := f.listStored()
	holds, err := f.putDays(7, 2, true, "2031-03-03", "2031-03-04")
	require.NoError(t, err)
	assert.EqualValues(t, 2, holds)
	assert.Equal(t, before, f.listStored())
	holds, err = f.putDays(8, 3, true)
	require.NoError(t, err)
	assert.EqualValues(t, 3, holds, "a request that never was on the schedule")
	_, err = f.putDays(7, 4, true)
	faulttest.Require(t, err, itemfault.CodeLockedDay, 400)
	_, err = f.putDays(7, 4, false, "2031-03-03", "2031-03-04")
	faulttest.Require(t, err, itemfault.CodeLockedDay, 400)
	assert.Equal(t, before, f.listStored())
}

// A refusal leaves the schedule and the version as they were.
func TestLockedDaysRefuseAll(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.mustPut(7, 1, "2031-03-03")
	f.lock("2031-03-05", "2031-03-06")
	before := f.listStored()
	_, err := f.putDays(7, 2, false, "2031-03-04", "2031-03-05")
	faulttest.Require(t, err, itemfault.CodeLockedDay, 400)
	_, err = f.putDays(8, 3, false, "2031-03-04", "2031-03-05")
	faulttest.Require(t, err, itemfault.CodeLockedDay, 400)
	assert.Equal(t, before, f.listStored())
	f.mustPut(7, 2, "2031-03-04")
	f.mustPut(8, 3, "2031-03-10")
}

func TestCallsAreChecked(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Exec(t, "INSERT INTO employee VALUES (1, 2, 'P2', 'Two', 'UTC', 1)")
	f.mustPut(7, 1, "2031-03-03")
	for _, c := range []struct {
		name string
		req  *schedulingv1.PutTimeOffRequest
	}{
		{"without a request", &schedulingv1.PutTimeOffRequest{Version: 2, EmployeeId: 1}},
		{"without a version", &schedulingv1.PutTimeOffRequest{RequestId: 7, EmployeeId: 1}},
		{"of another employee", &schedulingv1.PutTimeOffRequest{RequestId: 7, Version: 2, EmployeeId: 2}},
		{"of nobody", &schedulingv1.PutTimeOffRequest{RequestId: 9, Version: 2, EmployeeId: 99}},
		{"with too many edits", &schedulingv1.PutTimeOffRequest{RequestId: 9, Version: 2, EmployeeId: 1, PayCodeEdits: make([]*schedulingv1.PayCodeEdit, 367)}},
		{"with an edit that says nothing", &schedulingv1.PutTimeOffRequest{RequestId: 9, Version: 2, EmployeeId: 1, PayCodeEdits: []*schedulingv1.PayCodeEdit{{}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := f.handler.PutTimeOff(f.Ctx, c.req)
			assert.True(t, fault.HasStatus(err, 400), "%v", err)
			assert.Len(t, f.listStored(), 1)
		})
	}
}

func TestCallsOfOneRequestTakeTurns(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			_, err := f.putDays(7, int64(i+1), false, "2031-03-0"+strconv.Itoa(i+1))
			assert.NoError(t, err)
		})
	}
	group.Wait()
	assert.Equal(t, []string{"2031-03-08"}, f.days(), "the newest holds")
}

// readPublished returns how the last event shows the leave of the employee: the days that are
// whole, and the version.
func (f *fixture) readPublished() (days, version int64) {
	f.t.Helper()
	var payload []byte
	require.NoError(f.t, f.Pool.QueryRow(f.Ctx, `SELECT payload FROM outbox WHERE event = 'rotaloom.scheduling.v1.LeaveTaken' ORDER BY id DESC LIMIT 1`).Scan(&payload))
	event := &schedulingv1.LeaveTaken{}
	require.NoError(f.t, proto.Unmarshal(payload, event))
	require.Len(f.t, event.GetEmployees(), 1)
	assert.False(f.t, event.GetEmployees()[0].GetDeleted())
	return int64(len(event.GetEmployees()[0].GetIntervals())), event.GetEmployees()[0].GetVersion()
}

func TestTimeOffIsPublishedWithLeave(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for i, step := range []struct {
		name string
		do   func()
		days int64
	}{
		{"put", func() { f.mustPut(7, 1, "2031-03-03", "2031-03-04") }, 2},
		{"a planner takes one day back by hand", f.deleteItem, 1},
		{"taken off", func() { f.mustPut(7, 2) }, 0},
	} {
		t.Run(step.name, func(t *testing.T) {
			step.do()
			days, version := f.readPublished()
			assert.Equal(t, step.days, days)
			assert.EqualValues(t, i+1, version)
		})
	}
	assert.Empty(t, f.listStored())
}
