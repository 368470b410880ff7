package daylock_test

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/daylock"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedtest"
)

type fixture struct {
	*schedtest.Env

	t     *testing.T
	locks schedulingv1.DayLockServiceClient
	wakes int
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	env := schedtest.New(t)
	f := &fixture{Env: env, t: t, locks: schedulingv1.NewDayLockServiceClient(env.Conn())}
	handler := daylock.New(env.Pool, projection.NewResolver(env.Pool, schedtest.NoPersons{}, nil))
	env.Pool.Listen(outbox.Appended, func() { f.wakes++ })
	schedulingv1.RegisterDayLockServiceServer(env.Local, handler)
	env.Exec(t, "INSERT INTO employee VALUES (1, 1, 'P1', 'One', 'UTC', 1), (1, 2, 'P2', 'Two', 'UTC', 1)")
	return f
}

func (f *fixture) apply(first, last string, employees ...int64) (*schedulingv1.ApplyCreateDayLocksResponse, error) {
	return f.locks.ApplyCreateDayLocks(f.Ctx, &schedulingv1.ApplyCreateDayLocksRequest{ForEmployees: &schedulingv1.DayLocksForEmployees{
		Where: &schedulingv1.DayLocksWhere{EmployeeRefs: &commonv1.RefList{Ids: employees}, StartDate: first, EndDate: last},
	}})
}

// applyLocks returns the locks of the response as "<employee> <start> <end>".
func (f *fixture) applyLocks(first, last string, employees ...int64) []string {
	f.t.Helper()
	response, err := f.apply(first, last, employees...)
	require.NoError(f.t, err)
	var out []string
	for _, l := range response.GetLocks().GetLocks() {
		out = append(out, fmt.Sprintf("%s %s %s", l.GetEmployee().GetQualifier(), l.GetStartDateTime(), l.GetEndDateTime()))
	}
	return out
}

// listStored returns the rows as "<employee> <from> <to>".
func (f *fixture) listStored() []string {
	f.t.Helper()
	rows, err := f.Pool.Query(f.Ctx, "SELECT employee_id || ' ' || from_date || ' ' || to_date FROM day_lock ORDER BY employee_id, from_date")
	require.NoError(f.t, err)
	defer rows.Close()
	var out []string
	for rows.Next() {
		var text string
		require.NoError(f.t, rows.Scan(&text))
		out = append(out, text)
	}
	require.NoError(f.t, rows.Err())
	return out
}

func TestLocksAreOneForEachEmployee(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	response, err := f.apply("2025-03-03", "2025-03-09", 2, 1, 2)
	require.NoError(t, err)
	require.Len(t, response.GetLocks().GetLocks(), 2)
	want := &schedulingv1.DayLock{
		Id: response.GetLocks().GetLocks()[0].Id, Employee: &commonv1.Ref{Id: proto.Int64(2), Qualifier: proto.String("P2")},
		StartDateTime: "2025-03-03T00:00:00", EndDateTime: "2025-03-10T00:00:00",
		Generated: proto.Bool(false), Posted: proto.Bool(false), Deleted: proto.Bool(false), Version: proto.Int64(1),
	}
	assert.Equal(t, want.String(), response.GetLocks().GetLocks()[0].String())
	assert.NotZero(t, want.GetId())
	assert.NotEqual(t, want.GetId(), response.GetLocks().GetLocks()[1].GetId())
	assert.Equal(t, []string{"1 2025-03-03 2025-03-10", "2 2025-03-03 2025-03-10"}, f.listStored())
	assert.Equal(t, 1, f.Rows(t, "outbox")["outbox"])
	assert.Equal(t, 1, f.wakes)

	again, err := f.apply("2025-03-03", "2025-03-09", 2, 1, 2)
	require.NoError(t, err)
	assert.Equal(t, response.String(), again.String(), "locking locked days changes nothing")
	assert.Equal(t, 1, f.Rows(t, "outbox")["outbox"])
}

func TestLocksMerge(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.applyLocks("2025-03-03", "2025-03-05", 1)
	f.applyLocks("2025-03-10", "2025-03-12", 1)
	f.applyLocks("2025-03-20", "2025-03-21", 1)
	assert.Equal(t, []string{"P1 2025-03-03T00:00:00 2025-03-06T00:00:00"}, f.applyLocks("2025-03-04", "2025-03-04", 1), "it was locked already")
	assert.Equal(t, []string{"P1 2025-03-03T00:00:00 2025-03-13T00:00:00", "P2 2025-03-05T00:00:00 2025-03-10T00:00:00"},
		f.applyLocks("2025-03-05", "2025-03-09", 1, 2), "it meets one and touches the other")
	assert.Equal(t, []string{"1 2025-03-03 2025-03-13", "1 2025-03-20 2025-03-22", "2 2025-03-05 2025-03-10"}, f.listStored())
	f.applyLocks("2025-03-01", "2025-03-31", 1)
	assert.Equal(t, []string{"1 2025-03-01 2025-04-01", "2 2025-03-05 2025-03-10"}, f.listStored())
}

func TestRefusedLocks(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for code, try := range map[string]func() error{
		"WFS-103907": func() error { _, err := f.apply("", "2025-03-09", 1); return err },
		"WFS-103908": func() error { _, err := f.apply("2025-03-09", "", 1); return err },
		"WFS-111203": func() error { _, err := f.apply("2025-03-09", "2025-03-08", 1); return err },
		"WFS-103407": func() error { _, err := f.apply("2025-03-09", "2025-03-09"); return err },
		"WFS-103401": func() error { _, err := f.apply("2025-03-09", "2025-03-09", 1, 99); return err },
		"WFS-111201": func() error {
			_, err := f.locks.ApplyCreateDayLocks(f.Ctx, &schedulingv1.ApplyCreateDayLocksRequest{})
			return err
		},
	} {
		t.Run(code, func(t *testing.T) {
			refused := fault.FromError(try())
			if assert.NotNil(t, refused, code) {
				assert.Equal(t, code, refused.Code)
				assert.Equal(t, 400, refused.Status)
			}
		})
	}
	for name, days := range map[string][2]string{"wholly": {"1850-01-01", "1899-12-31"}, "partly": {"1899-12-31", "1900-01-05"}} {
		t.Run("before all days "+name, func(t *testing.T) {
			_, err := f.apply(days[0], days[1], 1)
			assert.True(t, fault.HasCode(err, fault.CodeDate) && fault.HasStatus(err, 400), "%v", err)
		})
	}
	assert.Empty(t, f.listStored())
	assert.Len(t, f.applyLocks("1900-01-01", "9999-12-31", 1), 1, "all days can be locked")
}

// The leave of days is kept when they are locked for the first time, and published.
func TestLeaveIsKept(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	leave := func(id int, employee int64, from, to string) {
		f.Exec(t, `INSERT INTO leave_edit VALUES (1, $1, $2, $3::text::date, $4::text::date, 1, '')`, id, employee, from, to)
	}
	kept := func() (list []string) {
		rows, err := f.Pool.Query(f.Ctx, `SELECT employee_id || ' ' || lock_from || ' ' || lock_to || ' ' || id FROM locked_leave ORDER BY 1`)
		require.NoError(t, err)
		list, err = pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		return list
	}
	published := func() (n int) {
		require.NoError(t, f.Pool.QueryRow(f.Ctx, `SELECT count(*) FROM outbox WHERE event LIKE '%LeaveTaken'`).Scan(&n))
		return n
	}
	leave(1, 1, "2025-03-01", "2025-03-04")
	leave(2, 1, "2025-03-12", "2025-03-12")
	leave(3, 1, "2025-03-20", "2025-03-20")
	f.applyLocks("2025-03-03", "2025-03-05", 1, 2)
	assert.Equal(t, []string{"1 2025-03-03 2025-03-06 1", "1 2025-03-03 2025-03-06 2"}, kept(), "a shift of the 5th may run for a week")
	assert.Equal(t, 1, published())
	leave(4, 1, "2025-03-04", "2025-03-10")
	f.applyLocks("2025-03-04", "2025-03-07", 1, 2)
	assert.Equal(t, []string{
		"1 2025-03-03 2025-03-06 1", "1 2025-03-03 2025-03-06 2", "1 2025-03-06 2025-03-08 2", "1 2025-03-06 2025-03-08 4",
	}, kept(), "only that of the days that were not locked")
	assert.Equal(t, 2, published())
	f.applyLocks("2025-03-03", "2025-03-07", 1, 2)
	assert.Equal(t, 2, published(), "nothing was locked anew")
}
