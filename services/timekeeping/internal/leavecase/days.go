package leavecase

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// Periods resolves symbolic periods to days as of today; commons implements it.
type Periods interface {
	ReadSymbolicPeriod(ctx context.Context, req *commonsv1.ReadSymbolicPeriodRequest, opts ...grpc.CallOption) (*commonsv1.SymbolicPeriodSpan, error)
}

// Ranges resolves the date ranges of requests.
type Ranges struct{ Periods Periods }

// Days returns the days of a range, including both dates. It may call commons, so do not call it
// inside a transaction. The contract cannot count the days of a symbolic period, so Days counts
// them here, times the number of employees, against the limit of the operation.
func (r Ranges) Days(ctx context.Context, what string, employees int, asked *commonv1.DateRange) (civil.Range, error) {
	period := asked.GetSymbolicPeriod()
	if period == nil {
		return parseDays(asked)
	}
	if asked.GetStartDate() != "" || asked.GetEndDate() != "" {
		return civil.Range{}, fault.Invalid(fault.CodeInput, "dateRange has either startDate and endDate or a symbolicPeriod.")
	}
	if !names(period) {
		return civil.Range{}, fault.Invalid(fault.CodeInput, "dateRange.symbolicPeriod needs an id or a qualifier.")
	}
	name := period.GetQualifier()
	if period.Id != nil {
		name = strconv.FormatInt(period.GetId(), 10)
	}
	span, err := r.Periods.ReadSymbolicPeriod(ctx, &commonsv1.ReadSymbolicPeriodRequest{
		Where: &commonsv1.SymbolicPeriodWhere{CurrentTenant: proto.Bool(true), SymbolicPeriodId: &name},
	})
	if err != nil {
		if f := fault.FromError(err); f.Status == http.StatusBadRequest || f.Status == http.StatusNotFound {
			return civil.Range{}, fault.Invalid(fault.CodeInput, fmt.Sprintf("There is no symbolic period with %s.", Describe(period))).WithCause(err)
		}
		return civil.Range{}, fmt.Errorf("read a symbolic period: %w", err)
	}
	days, err := parseDays(&commonv1.DateRange{StartDate: span.GetStartDate(), EndDate: span.GetEndDate()})
	if err == nil && employees*days.Days() > MaxRead {
		err = fault.TooLarge(fault.CodeProductLimit, fmt.Sprintf("Service Limits are exceeded for operation on %s for %d employees and %d days.", what, employees, days.Days()))
	}
	return days, err
}

// parseDays returns the days of a range, including both dates.
func parseDays(r *commonv1.DateRange) (civil.Range, error) {
	switch {
	case r == nil:
		return civil.Range{}, missing(CodeRangeMissing, "dateRange")
	case r.GetStartDate() == "":
		return civil.Range{}, missing(CodeRangeStartMissing, "dateRange.startDate")
	case r.GetEndDate() == "":
		return civil.Range{}, missing(CodeRangeEndMissing, "dateRange.endDate")
	}
	first, err := civil.ParseDate(r.GetStartDate())
	if err != nil {
		return civil.Range{}, fault.Invalid(fault.CodeDate, "dateRange.startDate: "+err.Error()+".")
	}
	last, err := civil.ParseDate(r.GetEndDate())
	if err != nil {
		return civil.Range{}, fault.Invalid(fault.CodeDate, "dateRange.endDate: "+err.Error()+".")
	}
	days := civil.Through(first, last)
	if days.Empty() {
		return civil.Range{}, fault.Invalid(CodeStartAfterEnd, "dateRange.endDate is before startDate.")
	}
	return days.Clamp(), nil
}
