package employeeday_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employeeday"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedtest"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func TestLockedDays(t *testing.T) {
	t.Parallel()
	env := schedtest.New(t)
	handler := employeeday.New(env.Pool, reading.NewReader(env.Pool, patterndefinition.New(patterndefinition.Settings{}, nil, nil)))
	for _, lock := range []struct {
		employee int64
		from, to string
	}{
		{1, "2031-03-01", "2031-03-04"}, {1, "2031-03-10", "2031-03-11"}, {1, "2031-05-01", "2031-05-02"}, {3, "2031-03-05", "2031-03-06"},
	} {
		env.Exec(t, "INSERT INTO day_lock (tenant_id, employee_id, from_date, to_date) VALUES (1, $1, $2::text::date, $3::text::date)", lock.employee, lock.from, lock.to)
	}
	read := func(from, to civil.Date, only bool, ids ...int64) (*schedulingv1.ReadEmployeeDaysResponse, error) {
		return handler.ReadEmployeeDays(env.Ctx, &schedulingv1.ReadEmployeeDaysRequest{EmployeeIds: ids, From: int32(from), To: int32(to), OnlyLockedDays: only})
	}
	march := civil.Of(2031, 3, 1)
	locked := func(from, to int) *schedulingv1.LockedDays {
		return &schedulingv1.LockedDays{From: int32(march) + int32(from), To: int32(march) + int32(to)}
	}
	first := &schedulingv1.EmployeeDays{EmployeeId: 1, LockedDays: []*schedulingv1.LockedDays{locked(0, 3), locked(9, 10)}}
	third := &schedulingv1.EmployeeDays{EmployeeId: 3, LockedDays: []*schedulingv1.LockedDays{locked(4, 5)}}
	for name, c := range map[string]struct {
		only bool
		ids  []int64
		want []*schedulingv1.EmployeeDays
	}{
		"one employee":              {true, []int64{1}, []*schedulingv1.EmployeeDays{first}},
		"employees by id":           {true, []int64{3, 2, 1}, []*schedulingv1.EmployeeDays{first, third}},
		"an employee without locks": {true, []int64{2}, nil},
		"other reads have no locks": {false, []int64{1}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := read(march+2, march+31, c.only, c.ids...)
			require.NoError(t, err)
			want := &schedulingv1.ReadEmployeeDaysResponse{Employees: c.want}
			assert.True(t, proto.Equal(want, got), "%v\n%v", want, got)
		})
	}
	for _, days := range []int{0, 401} {
		_, err := read(march, march+civil.Date(days), true, 1)
		assert.True(t, fault.HasStatus(err, 400), "%v", err)
	}
}
