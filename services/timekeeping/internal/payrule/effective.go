package payrule

import (
	"context"

	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// neverByTime is the value of enableEditsAfter for timecards that only a sign-off closes.
const neverByTime = -1

// holidaysField is the number of the list that clients read without a check, although it is empty.
const holidaysField = 8

// showEffective adds the versions of pay rules in the form that programs for the reference product
// read. The versions have the order of effectiveVersions.
func showEffective(_ context.Context, rules ...*timekeepingv1.PayRule) error {
	for _, r := range rules {
		addEffective(r)
	}
	return nil
}

func addEffective(r *timekeepingv1.PayRule) {
	r.EffectivePayRules = make([]*timekeepingv1.EffectivePayRule, len(r.GetEffectiveVersions()))
	for i, v := range r.GetEffectiveVersions() {
		r.EffectivePayRules[i] = effective(r.GetName(), v)
	}
}

// showOne completes a pay rule after a write.
func showOne(r *timekeepingv1.PayRule, err error) (*timekeepingv1.PayRule, error) {
	if err == nil {
		addEffective(r)
	}
	return r, err
}

// effective converts a version. A client reads every property without a check, so all are present.
func effective(name string, v *timekeepingv1.PayRuleVersion) *timekeepingv1.EffectivePayRule {
	return &timekeepingv1.EffectivePayRule{
		Name: name, EffectiveDate: v.GetEffectiveDate(),
		WorkRule: &commonv1.Ref{}, FixedRule: &commonv1.Ref{}, TerminalRule: &commonv1.Ref{}, TransferRule: &commonv1.Ref{},
		HolidayCreditRule: &commonv1.Ref{}, EmptyLists: []int32{holidaysField},
		PayFromSchedule: new(false), ApplyOnly: new(false), ApplyScheduleMargins: new(v.GetScheduleRounding() != nil),
		ScheduleTotal: new(false), TransferRegularHome: new(false), WorkRuleTransfers: new(true),
		CostCenterLaborCategoryAndJobTransfers: new(true), PrepopulateProject: new(false), UpdateThisVersion: new(false),
		CancelPfsOnHolidays: new(false), CancelPfsEditsOnlyOnHolidays: new(false), CancelPfsShiftsOnlyOnHolidays: new(false),
		IsTodayForPreviousPayPeriod: new(false), EnableEditsAfter: new(int32(neverByTime)),
	}
}
