package payrollstaging

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// workedTime is what timecards say of one employee.
type workedTime []*timekeepingv1.WorkedTimeTotal

func (w workedTime) ReadWorkedTime(context.Context, *timekeepingv1.ReadWorkedTimeRequest) (*timekeepingv1.ReadWorkedTimeResponse, error) {
	return &timekeepingv1.ReadWorkedTimeResponse{Employees: []*timekeepingv1.EmployeeWorkedTime{{EmployeeId: 7, Totals: w}}}, nil
}

// Punches name jobs by path, by id or not at all; no two of them are paid as one.
func TestJobsOfTotals(t *testing.T) {
	t.Parallel()
	day := civil.Of(2026, 3, 2)
	for name, c := range map[string]struct {
		job  *commonv1.Ref
		want string
	}{
		"by path":        {&commonv1.Ref{Qualifier: proto.String("A/Cook")}, "A/Cook"},
		"by id":          {&commonv1.Ref{Id: proto.Int64(4711)}, "4711"},
		"by both":        {&commonv1.Ref{Id: proto.Int64(4711), Qualifier: proto.String("A/Cook")}, "A/Cook"},
		"without a job":  {nil, ""},
		"with the id 0":  {&commonv1.Ref{Id: proto.Int64(0)}, ""},
		"without a name": {&commonv1.Ref{Qualifier: proto.String("")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := FromTimecards(workedTime{{Date: day.String(), Kind: timekeepingv1.TotalKind_TOTAL_KIND_WORKED, OrgJob: c.job, Seconds: 60}})
			got, err := source.Totals(tenant.With(t.Context(), 1), []int64{7}, civil.Through(day, day))
			require.NoError(t, err)
			require.Len(t, got, 1)
			assert.Equal(t, []Total{{Date: day, Kind: Worked, Job: c.want, Seconds: 60}}, got[0].Totals)
		})
	}
}
