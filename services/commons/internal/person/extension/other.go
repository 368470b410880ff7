package extension

import (
	"strings"

	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/record"
)

func (v *view) timekeeping() *commonsv1.TimekeepingExtension {
	info, details := v.Message.GetPersonInformation(), v.Details()
	job := record.JobDetailsOrEmpty(v.Record)
	out := &commonsv1.TimekeepingExtension{
		PersonId: v.ID, PersonNumber: v.Number(), Active: v.active(), SnapShotDate: v.day.String(), Badges: v.badges(),
		DirectPayRuleEntries: v.PayRules,
		PayRuleEntries:       v.PayRules, PayRuleEntriesForExtensionSnapshotDate: v.payRuleOn(),
		WorkerType:             job.GetWorkerTypeName(),
		ManagerSignoffThruDate: dayPart(details.GetManagerSignoffThruDateTime()),
		PayrollLockoutThruDate: dayPart(details.GetPayrollLockoutThruDateTime()),
		EmployeeCurrency:       info.GetEmployeeCurrencyAssignment().GetCurrencyCode(),
		UserCurrency:           v.Message.GetUser().GetUserCurrency().GetCurrencyCode(),
		ExpectedHours: each(info.GetExpectedHoursList(), func(e *commonsv1.ExpectedHours) *commonsv1.ExtensionExpectedHours {
			return &commonsv1.ExtensionExpectedHours{TimePeriodType: e.GetTimePeriodTypeName(), Quantity: e.GetQuantity()}
		}),
		AccessAssignmentDataEntries:                         each(info.GetPersonAccessAssignments(), accessEntry),
		AccessAssignmentDataEntriesForExtensionSnapshotDate: each(onDay(info.GetPersonAccessAssignments(), v.day), accessEntry),
	}
	for _, rule := range v.payRuleOn() {
		out.PayRuleName = rule.GetPayRuleName()
	}
	for _, t := range v.Terms {
		entry := &commonsv1.ExtensionEmployeeTerm{
			EmploymentTerm: t.Name, EmploymentTermId: t.ID, EffectiveDate: t.Days.From.String(), ExpirationDate: t.Days.To.String(),
		}
		out.EmployeeTerms = append(out.EmployeeTerms, entry)
		if t.Days.Contains(v.day) {
			out.EmployeeTermsForExtensionSnapshotDate = append(out.EmployeeTermsForExtensionSnapshotDate, entry)
		}
	}
	if v.wages {
		rates := v.Message.GetJobAssignment().GetBaseWageRates()
		out.BaseWages = each(rates, baseWage)
		out.BaseWagesForExtensionSnapshotDate = each(onDay(rates, v.day), baseWage)
	}
	return out
}

// payRuleOn returns the pay rule of the snapshot date, if there is one.
func (v *view) payRuleOn() []*commonsv1.ExtensionPayRule {
	for _, rule := range v.PayRules {
		if record.RangeOf(record.DatesOf(rule)).Contains(v.day) {
			return []*commonsv1.ExtensionPayRule{rule}
		}
	}
	return nil
}

func baseWage(w *commonsv1.BaseWageRate) *commonsv1.ExtensionBaseWage {
	return &commonsv1.ExtensionBaseWage{HourlyRate: w.HourlyRate, EffectiveDate: w.GetEffectiveDate(), ExpirationDate: w.GetExpirationDate()}
}

func accessEntry(a *commonsv1.PersonAccessAssignment) *commonsv1.ExtensionAccessAssignment {
	return &commonsv1.ExtensionAccessAssignment{
		HomeHyperFindQueryName: a.GetHomeHyperFindQueryName(), ManagerEmployeeGroupName: a.GetManagerEmployeeGroupName(),
		ManagerTransferOrganizationSetName:      a.GetManagerTransferOrganizationSetName(),
		ProfessionalTransferOrganizationSetName: a.GetProfessionalTransferOrganizationSetName(),
		EmpMgrTransferOrganizationSetName:       a.GetEmpMgrTransferOrganizationSetName(),
		EffectiveDate:                           a.GetEffectiveDate(), ExpirationDate: a.GetExpirationDate(),
	}
}

// dayPart returns the date of a date with a time.
func dayPart(text string) string {
	day, _, _ := strings.Cut(text, "T")
	return day
}

func (v *view) scheduling() *commonsv1.SchedulingExtension {
	rights, job := record.AccessOrEmpty(v.Record), record.JobOrEmpty(v.Record)
	out := &commonsv1.SchedulingExtension{
		PersonId: v.ID, PersonNumber: v.Number(), Active: v.active(), SnapShotDate: v.day.String(), Badges: v.badges(),
		ScheduleGroup: job.GetScheduleGroupName(), GroupSchedule: rights.GetGroupScheduleName(),
		SchedulePattern: rights.GetSchedulePatternName(), ShiftCode: rights.GetShiftCodeName(),
		AvailabilityPattern: rights.GetAvailabilityPatternName(), HyperfindProfile: rights.GetHyperFindScheduleVisibilityName(),
		WorkerType: record.JobDetailsOrEmpty(v.Record).GetWorkerTypeName(), UseMultipleAssignmentsFlag: job.UseMultipleAssignmentsFlag,
	}
	for _, e := range v.Message.GetPersonInformation().GetExpectedHoursList() {
		switch strings.ToLower(e.GetTimePeriodTypeName()) {
		case "daily":
			out.ExpectedDailyHours = e.GetQuantity()
		case "weekly":
			out.ExpectedWeeklyHours = e.GetQuantity()
		case "pay period":
			out.ExpectedByPayPeriodHours = e.GetQuantity()
		}
	}
	return out
}

func (v *view) accrual() *commonsv1.AccrualExtension {
	details := v.Details()
	out := &commonsv1.AccrualExtension{
		PersonId: v.ID, PersonNumber: v.Number(), Active: v.active(), SnapShotDate: v.day.String(), Badges: v.badges(),
		FullTimeEquivalency: each(details.GetFullTimeEquivalencies(), func(f *commonsv1.FullTimeEquivalency) *commonsv1.ExtensionFullTimeEquivalency {
			return &commonsv1.ExtensionFullTimeEquivalency{
				EmployeeStandardHours: f.EmployeeStandardHours, FullTimeStandardHours: f.FullTimeStandardHours,
				FullTimePercentage: f.FullTimePercentage, EffectiveDate: f.GetEffectiveDate(), ExpirationDate: f.GetExpirationDate(),
			}
		}),
	}
	if details.GetAccrualProfileName() != "" {
		out.AccrualProfilesEntries = []*commonsv1.ExtensionAccrualProfile{{
			AccrualProfileName: details.GetAccrualProfileName(), EffectiveDate: details.GetAccrualProfileEffectiveDate(),
			ExpirationDate: details.GetAccrualProfileEndDate(),
		}}
	}
	return out
}

func (v *view) device() *commonsv1.DeviceExtension {
	details, job := v.Details(), record.JobDetailsOrEmpty(v.Record)
	return &commonsv1.DeviceExtension{
		PersonId: v.ID, PersonNumber: v.Number(), Active: v.active(), SnapShotDate: v.day.String(), Badges: v.badges(),
		DeviceGroup: job.GetDeviceGroupName(), DeviceProfile: job.GetDeviceProfileName(), BadgeDetails: v.badges(),
		FingerRequired: details.FingerRequiredFlag, FaceRequired: details.FaceRequiredFlag,
	}
}
