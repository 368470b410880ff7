package payrollstaging

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// WorkedTime reads totals of timecards; package timecard implements it.
type WorkedTime interface {
	ReadWorkedTime(ctx context.Context, req *timekeepingv1.ReadWorkedTimeRequest) (*timekeepingv1.ReadWorkedTimeResponse, error)
}

// FromTimecards returns the Source of the totals of timecards.
func FromTimecards(worked WorkedTime) Source { return timecards{worked} }

type timecards struct{ worked WorkedTime }

// Totals returns the totals of the timecards of employees, in a fixed order. The range includes its
// last day.
func (t timecards) Totals(ctx context.Context, employees []int64, days civil.Range) ([]Employee, error) {
	response, err := t.worked.ReadWorkedTime(ctx, &timekeepingv1.ReadWorkedTimeRequest{
		EmployeeIds: employees, StartDate: days.From.String(), EndDate: days.To.String(),
	})
	if err != nil {
		return nil, err
	}
	out := make([]Employee, 0, len(response.GetEmployees()))
	for _, e := range response.GetEmployees() {
		employee := Employee{ID: e.GetEmployeeId(), PayRule: e.GetPayRule()}
		for _, total := range e.GetTotals() {
			made, err := parseTotal(total)
			if err != nil {
				return nil, err
			}
			employee.Totals = append(employee.Totals, made)
		}
		slices.SortFunc(employee.Totals, compareTotals)
		out = append(out, employee)
	}
	return out, nil
}

func dateOrZero(d *civil.Date) civil.Date {
	if d == nil {
		return 0
	}
	return *d
}

func parseTotal(t *timekeepingv1.WorkedTimeTotal) (Total, error) {
	day, err := civil.ParseDate(t.GetDate())
	if err != nil {
		return Total{}, fmt.Errorf("a total of %q: %w", t.GetDate(), err)
	}
	out := Total{
		Date: day, PayCodeID: t.GetPayCode().GetId(), PayCode: t.GetPayCode().GetQualifier(), Job: jobName(t.GetOrgJob()),
		Seconds: t.GetSeconds(), Days: t.GetDays(), Money: t.GetMoney(), SignedOff: t.GetSignedOff(),
	}
	switch t.GetKind() {
	case timekeepingv1.TotalKind_TOTAL_KIND_WORKED:
		out.Kind = Worked
	case timekeepingv1.TotalKind_TOTAL_KIND_PAY_CODE_EDIT:
		out.Kind = PayCodeEdit
	case timekeepingv1.TotalKind_TOTAL_KIND_HISTORICAL_CORRECTION:
		out.Kind = Correction
	default:
		return out, fmt.Errorf("a total of the kind %s", t.GetKind())
	}
	if text := t.GetHistoricalDate(); text != "" {
		corrected, err := civil.ParseDate(text)
		if err != nil {
			return out, fmt.Errorf("a correction of %q: %w", text, err)
		}
		out.Historical = &corrected
	}
	return out, nil
}

// jobName returns the job of a total in the form of rows. If a punch names a job only by its id,
// timecards do not have its path.
func jobName(ref *commonv1.Ref) string {
	if ref.GetQualifier() == "" && ref.GetId() != 0 {
		return strconv.FormatInt(ref.GetId(), 10)
	}
	return ref.GetQualifier()
}
