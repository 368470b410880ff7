package employeeday_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employeeday"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedtest"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
)

func TestHolidaysOfDays(t *testing.T) {
	t.Parallel()
	env := schedtest.New(t)
	handler := employeeday.New(env.Pool, reading.NewReader(env.Pool, patterndefinition.New(patterndefinition.Settings{}, nil, nil)))
	for id, days := range [][2]string{
		{"2031-03-03", "2031-03-04"}, {"2031-02-27", "2031-03-02"}, {"2031-03-03", "2031-03-05"}, {"2031-03-10", "2031-03-12"}, {"2031-03-20", "2031-03-21"},
	} {
		env.Exec(t, "INSERT INTO holiday_date (tenant_id, holiday_id, year, from_date, to_date, body) VALUES (1, $1, 2031, $2::text::date, $3::text::date, '')", int64(id+1), days[0], days[1])
	}
	march := civil.Of(2031, 3, 1)
	for _, c := range []struct {
		name     string
		from, to civil.Date
		only     bool
		want     []int32
	}{
		{"days that several holidays touch are named once", march, march + 10, false, []int32{0, 2, 3, 9}},
		{"a part of a holiday", march + 3, march + 4, false, []int32{3}},
		{"days without holidays", march + 5, march + 8, false, nil},
		{"locked days only", march, march + 10, true, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			response, err := handler.ReadEmployeeDays(env.Ctx, &schedulingv1.ReadEmployeeDaysRequest{EmployeeIds: []int64{1}, From: int32(c.from), To: int32(c.to), OnlyLockedDays: c.only})
			require.NoError(t, err)
			var got []int32
			for _, day := range response.GetHolidays() {
				got = append(got, day-int32(march))
			}
			assert.Equal(t, c.want, got)
		})
	}
}
