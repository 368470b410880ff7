package approval

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/requested"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardfault"
)

func TestEmployeesAndDaysOfApprovalRequests(t *testing.T) {
	t.Parallel()
	type request = timekeepingv1.TimecardApprovalRequest
	type body = timekeepingv1.TimecardApprovalBody
	seven := &commonv1.Ref{Id: proto.Int64(7)}
	days := &commonv1.DateRange{StartDate: "2026-03-01", EndDate: "2026-03-02"}
	period := &request{TimeframeId: "5"}
	march := &request{Employee: &body{Id: proto.Int64(7)}, StartDate: "2026-03-01", EndDate: "2026-03-02"}
	none := requested.InQuery(&request{})
	for _, c := range []struct {
		name  string
		sent  *request
		says  string // "" for the ref and the dates
		ref   *commonv1.Ref
		dates requested.Dates
	}{
		{"the body is the employee", march, "", seven, requested.InQuery(march)},
		{"the body has the employee and the days", &request{Employee: &body{Employee: seven, DateRange: days}}, "", seven, requested.InRange("dateRange", days)},
		{"a name alone names nobody", &request{Employee: &body{Name: proto.String("T-7")}}, "", nil, none},
		{"an id and a number", &request{Employee: &body{Id: proto.Int64(7), Qualifier: proto.String("T-8")}}, "", &commonv1.Ref{Id: proto.Int64(7), Qualifier: proto.String("T-8")}, none},
		{"no body", period, "", nil, requested.InQuery(period)},
		{"the employee twice", &request{Employee: &body{Qualifier: proto.String("T-7"), Employee: seven}}, "not both", nil, none},
		{"the days twice", &request{Employee: &body{Employee: seven, DateRange: days}, EndDate: "2026-03-02"}, "the days must be", nil, none},
		{"the days and a period", &request{Employee: &body{Employee: seven, DateRange: days}, TimeframeId: "5"}, "the days must be", nil, none},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ref, got, err := approvalSubject(c.sent)
			if c.says != "" {
				require.ErrorContains(t, err, c.says)
				assert.True(t, fault.HasCode(err, timecardfault.CodeInvalid), "%v", err)
				return
			}
			require.NoError(t, err)
			assert.True(t, proto.Equal(c.ref, ref), "%v", ref)
			assert.Equal(t, c.dates, got)
		})
	}
}
