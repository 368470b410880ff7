package leave_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employeelock"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/leave"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func edit(id, version int64, date string) *schedulingv1.LeaveEdit {
	return &schedulingv1.LeaveEdit{
		Id: proto.Int64(id), Version: proto.Int64(version), StartDate: date, EndDate: date, DurationInTime: proto.Int64(3600),
	}
}

func state(employee, version int64, edits ...*schedulingv1.LeaveEdit) *schedulingv1.EmployeeLeaveState {
	return &schedulingv1.EmployeeLeaveState{EmployeeId: employee, Version: version, LeaveEdits: edits}
}

func putStates(ctx context.Context, h *leave.Handler, states ...*schedulingv1.EmployeeLeaveState) error {
	_, err := h.PutLeave(ctx, &schedulingv1.PutLeaveRequest{Employees: states})
	return err
}

// listStored returns the edits of an employee, as "id date".
func listStored(t *testing.T, env *schedtest.Env, employee int64) []string {
	t.Helper()
	out := []string{}
	rows, err := env.Pool.Query(env.Ctx, `SELECT id || ' ' || from_day || ' ' || to_day FROM leave_edit WHERE tenant_id = 1 AND employee_id = $1 ORDER BY id`, employee)
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var text string
		require.NoError(t, rows.Scan(&text))
		out = append(out, text)
	}
	require.NoError(t, rows.Err())
	return out
}

// The newest state wins, whatever the order and however often states come.
func TestNewerStatesReplaceLeave(t *testing.T) {
	t.Parallel()
	env := schedtest.New(t)
	wakes := 0
	env.Pool.Listen(outbox.Appended, func() { wakes++ })
	h := leave.New(env.Pool)
	night := edit(72, 2, "2026-01-07")
	night.StartTime, night.EndDate, night.EndTime = "22:00:00", "2026-01-08", "06:00:00"
	require.NoError(t, putStates(env.Ctx, h, state(7, 2, edit(70, 1, "2026-01-05"), night), state(8, 1, edit(80, 1, "2026-01-05"))))
	want := []string{"70 2026-01-05 2026-01-05", "72 2026-01-07 2026-01-08"}
	assert.Equal(t, want, listStored(t, env, 7))
	events := env.Rows(t, "outbox")["outbox"]

	require.NoError(t, putStates(env.Ctx, h, state(7, 2, edit(70, 1, "2026-01-05"), night)), "the same again")
	require.NoError(t, putStates(env.Ctx, h, state(7, 1, edit(70, 1, "2026-02-05"))), "an older one")
	assert.Equal(t, want, listStored(t, env, 7))
	assert.Equal(t, events, env.Rows(t, "outbox")["outbox"], "nothing is published of what is known")

	require.NoError(t, putStates(env.Ctx, h, state(7, 5, edit(70, 3, "2026-01-06"))))
	assert.Equal(t, []string{"70 2026-01-06 2026-01-06"}, listStored(t, env, 7))
	require.NoError(t, putStates(env.Ctx, h, state(7, 6)))
	assert.Empty(t, listStored(t, env, 7))
	assert.Len(t, listStored(t, env, 8), 1, "another employee")
	assert.Equal(t, 3, wakes, "states that are known wake nobody")
	assert.Empty(t, listStored(t, &schedtest.Env{Pool: env.Pool, Ctx: tenant.With(t.Context(), 2)}, 8))
}

func TestDifferencesAreCounted(t *testing.T) {
	t.Parallel()
	env := schedtest.New(t)
	h := leave.New(env.Pool)
	require.NoError(t, putStates(env.Ctx, h, state(7, 1, edit(70, 1, "2026-01-05")), state(8, 2, edit(80, 2, "2026-01-05"))))
	same, none := state(7, 1, edit(70, 1, "2026-01-05")), state(9, 3)
	for name, c := range map[string]struct {
		states []*schedulingv1.EmployeeLeaveState
		want   int
	}{
		"the same":        {[]*schedulingv1.EmployeeLeaveState{same, none}, 0},
		"another day":     {[]*schedulingv1.EmployeeLeaveState{state(7, 1, edit(70, 1, "2026-01-06")), none}, 1},
		"another version": {[]*schedulingv1.EmployeeLeaveState{state(7, 1, edit(70, 3, "2026-01-05"))}, 1},
		"one is missing":  {[]*schedulingv1.EmployeeLeaveState{same, state(8, 2, edit(80, 2, "2026-01-05"), edit(81, 2, "2026-01-06"))}, 1},
		"one too many":    {[]*schedulingv1.EmployeeLeaveState{same, state(8, 2)}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			n, err := leave.CountDifferences(env.Ctx, env.Pool, c.states)
			require.NoError(t, err)
			assert.Equal(t, c.want, n)
		})
	}
	employees, err := leave.Employees(env.Ctx, env.Pool)
	require.NoError(t, err)
	assert.Equal(t, []int64{7, 8}, employees)
}

func TestBadLeaveIsRefused(t *testing.T) {
	t.Parallel()
	env := schedtest.New(t)
	h := leave.New(env.Pool)
	err := putStates(env.Ctx, h, state(7, 1, edit(70, 1, "soon")))
	assert.True(t, fault.HasStatus(err, 400), err)
	err = putStates(env.Ctx, h, make([]*schedulingv1.EmployeeLeaveState, 101)...)
	assert.True(t, fault.HasStatus(err, 400), err)
}

// Leave changes a schedule like people and propagations do: one after the other, under the
// employee's lock. So a lock of days that was asked for before it does not see it, and one
// that is asked for after it does.
func TestLeaveWaitsForTheEmployee(t *testing.T) {
	t.Parallel()
	env := schedtest.New(t)
	h := leave.New(env.Pool)
	held, err := env.Pool.Begin(env.Ctx)
	require.NoError(t, err)
	defer func() { _ = held.Rollback(env.Ctx) }() // It is committed below.
	require.NoError(t, employeelock.Lock(env.Ctx, held, []int64{7}))
	done := make(chan error, 1)
	go func() { done <- putStates(env.Ctx, h, state(7, 1, edit(70, 1, "2026-01-05"))) }()
	require.Eventually(t, func() bool {
		var waits bool
		err := held.QueryRow(env.Ctx, `SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`).Scan(&waits)
		return assert.NoError(t, err) && waits
	}, 10*time.Second, time.Millisecond)
	require.NoError(t, held.Commit(env.Ctx))
	require.NoError(t, <-done)
}
