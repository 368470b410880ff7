package timeoff

import (
	"context"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timeofffault"
)

// accruals returns the pay codes of a subtype, or of all subtypes, with the employee's balances of
// the accrual codes that deduct them, at the end of a day (by default, today). A subtype without a
// pay code has all pay codes that the employee may use.
func (h *requests) accruals(ctx context.Context, employee *employee, id *int64, name, date string) (*timekeepingv1.TimeOffAccrualList, error) {
	day, err := h.parseDay(ctx, employee, date)
	if err != nil {
		return nil, err
	}
	subtypes, err := h.findSubtypes(ctx, id, name)
	if err != nil {
		return nil, err
	}
	balances, err := h.Accruals.Balances(ctx, employee.ID, day)
	if err != nil {
		return nil, err
	}
	var codes []*commonv1.Ref
	for _, s := range subtypes {
		if timeofffault.Named(s.GetDefaultPayCode()) {
			codes = append(codes, s.GetDefaultPayCode())
			continue
		}
		for _, b := range balances {
			codes = append(codes, b.PayCodes...)
		}
	}
	out := &timekeepingv1.TimeOffAccrualList{}
	for i, code := range codes {
		if containsCode(codes[:i], code) {
			continue
		}
		entry := &timekeepingv1.TimeOffAccrual{PayCode: code, Balances: &timekeepingv1.AccrualBalanceList{}}
		for _, b := range balances {
			if containsCode(b.PayCodes, code) {
				entry.Balances.Balances = append(entry.Balances.Balances, &timekeepingv1.AccrualBalance{AccrualCode: b.AccrualCode, DayBalances: []*timekeepingv1.DayBalance{{
					BalanceDate: day.String(), AvailableBalanceInDays: proto.Float64(b.Days), AvailableBalanceInSeconds: proto.Int64(b.Seconds),
				}}})
			}
		}
		out.Items = append(out.Items, entry)
	}
	return out, nil
}

// findSubtypes returns the requested subtype, or all subtypes if the request names none.
func (h *requests) findSubtypes(ctx context.Context, id *int64, name string) ([]*timekeepingv1.TimeOffRequestSubtype, error) {
	if id == nil && name == "" {
		return h.Subtypes.AllTimeOff(ctx)
	}
	subtype, err := h.Subtypes.TimeOff(ctx, id, name)
	if err != nil {
		return nil, err
	}
	return []*timekeepingv1.TimeOffRequestSubtype{subtype}, nil
}

// parseDay parses a day. Without one, it returns today on the employee's clock.
func (h *requests) parseDay(ctx context.Context, employee *employee, date string) (civil.Date, error) {
	if date == "" {
		return employee.Clocks.At(clock.OfTenant(ctx, h.Clock.Now())).Date, nil
	}
	day, err := civil.ParseDate(date)
	if err != nil {
		return 0, fault.Invalid(fault.CodeDate, "date: "+err.Error()+".")
	}
	if day < civil.Beginning || day >= civil.Forever {
		return 0, invalid("date", "must be from %s and before %s", civil.Beginning, civil.Forever)
	}
	return day, nil
}

// containsCode reports whether a list contains a pay code. It compares ids if both refs have one,
// and otherwise names without regard to case.
func containsCode(list []*commonv1.Ref, code *commonv1.Ref) bool {
	for _, other := range list {
		if other.Id != nil && code.Id != nil {
			if other.GetId() == code.GetId() {
				return true
			}
			continue
		}
		if code.GetQualifier() != "" && strings.EqualFold(other.GetQualifier(), code.GetQualifier()) {
			return true
		}
	}
	return false
}
