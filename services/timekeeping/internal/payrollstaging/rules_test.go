package payrollstaging

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/payledger"
)

// march is a day of March 2026.
func march(day int) civil.Date { return civil.Of(2026, time.March, day) }

// The table lists the time that a run stages. There are four kinds of time of two pay codes; one
// day is signed off and the other is not.
func TestStagedTime(t *testing.T) {
	t.Parallel()
	historical := civil.Of(2026, time.February, 10)
	totals := []Total{
		{Date: march(2), Kind: Worked, PayCodeID: 1, PayCode: "Regular", Seconds: 1, SignedOff: true},
		{Date: march(3), Kind: PayCodeEdit, PayCodeID: 2, PayCode: "Sick", Seconds: 2, SignedOff: true},
		{Date: march(20), Kind: Worked, PayCodeID: 1, PayCode: "Regular", Seconds: 3},
	}
	correction := Total{Date: march(20), Historical: &historical, Kind: Correction, PayCodeID: 1, PayCode: "Regular", Seconds: 4}
	earning := Total{Kind: Earning, PayCode: "Bonus"}
	names := map[int64]string{1: "worked", 2: "edit", 3: "open", 4: "correction"}
	for name, c := range map[string]struct {
		req  *timekeepingv1.PayrollStagingRequest
		want []string
	}{
		"by default":              {&timekeepingv1.PayrollStagingRequest{}, []string{"worked", "open", "edit", "correction", "earning"}},
		"corrections included":    {&timekeepingv1.PayrollStagingRequest{HistoricalCorrections: "Included in totals"}, []string{"worked", "open", "edit", "correction", "earning"}},
		"corrections excluded":    {&timekeepingv1.PayrollStagingRequest{HistoricalCorrections: "excluded IN totals"}, []string{"worked", "open", "edit", "earning"}},
		"corrections only":        {&timekeepingv1.PayrollStagingRequest{HistoricalCorrections: "Correction only"}, []string{"correction"}},
		"signed off only":         {&timekeepingv1.PayrollStagingRequest{IgnoreSignOff: proto.Bool(false)}, []string{"worked", "edit", "earning"}},
		"signed off or not":       {&timekeepingv1.PayrollStagingRequest{IgnoreSignOff: proto.Bool(true)}, []string{"worked", "open", "edit", "correction", "earning"}},
		"a pay code by id":        {&timekeepingv1.PayrollStagingRequest{IncludePayCodes: []*commonv1.Ref{{Id: proto.Int64(2)}}}, []string{"edit"}},
		"a pay code by name":      {&timekeepingv1.PayrollStagingRequest{IncludePayCodes: []*commonv1.Ref{{Qualifier: proto.String("SICK")}}}, []string{"edit"}},
		"all but one":             {&timekeepingv1.PayrollStagingRequest{ExcludePayCodes: []*commonv1.Ref{{Qualifier: proto.String("regular")}}}, []string{"edit", "earning"}},
		"included and excluded":   {&timekeepingv1.PayrollStagingRequest{IncludePayCodes: []*commonv1.Ref{{Id: proto.Int64(1)}}, ExcludePayCodes: []*commonv1.Ref{{Id: proto.Int64(1)}}}, nil},
		"corrections, signed off": {&timekeepingv1.PayrollStagingRequest{HistoricalCorrections: "Correction only", IgnoreSignOff: proto.Bool(false)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := parseMarch(t, c.req)
			b := &book{Head: payledger.Head{Open: march(4)}, corrections: []Total{correction}}
			var got []string
			for _, row := range r.difference(b, totals) {
				got = append(got, names[row.Seconds])
			}
			if r.stagesEarnings() && r.admits(earning) {
				got = append(got, "earning")
			}
			assert.ElementsMatch(t, c.want, got)
		})
	}
}

// parseMarch returns the rules of a payroll run of March.
func parseMarch(t *testing.T, req *timekeepingv1.PayrollStagingRequest) *rules {
	t.Helper()
	req.ExecutionId = "a"
	req.DateRange = &timekeepingv1.PayrollDateRange{StartDateTime: "2026-03-01T00:00:00", EndDateTime: "2026-03-31T00:00:00"}
	r, err := parse(req)
	require.NoError(t, err)
	return &r
}

func TestEmployeesOfAPayGroup(t *testing.T) {
	t.Parallel()
	req := &timekeepingv1.PayrollStagingRequest{
		ExecutionId: "a", DateRange: &timekeepingv1.PayrollDateRange{StartDateTime: "2026-03-01T00:00:00", EndDateTime: "2026-03-31T00:00:00"},
		Where: &timekeepingv1.PayrollStagingWhere{EmployeeIn: []*timekeepingv1.PayrollEmployeeIn{
			{PayGroup: &timekeepingv1.PayrollGroup{PayRule: []*commonv1.Ref{{Qualifier: proto.String("Hourly")}}}},
			{PayGroup: &timekeepingv1.PayrollGroup{PayRule: []*commonv1.Ref{{Qualifier: proto.String("Nights")}}}},
		}},
	}
	r, err := parse(req)
	require.NoError(t, err)
	for payRule, want := range map[string]bool{"HOURLY": true, "nights": true, "Salaried": false, "": false} {
		t.Run(payRule, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, want, r.chooses(payRule))
		})
	}
	all, err := parse(&timekeepingv1.PayrollStagingRequest{ExecutionId: "a", DateRange: req.GetDateRange()})
	require.NoError(t, err)
	assert.True(t, all.chooses(""), "everybody without a group")
}
