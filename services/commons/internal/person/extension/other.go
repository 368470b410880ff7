package extension

import (
	"cmp"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/record"
)

// defaultLocale is the language tag that formats the amounts of persons without a locale
// policy.
const defaultLocale = "en-US"

func (v *view) timekeeping() *commonsv1.TimekeepingExtension {
	info, details := v.Message.GetPersonInformation(), v.Details()
	rights, job := record.AccessOrEmpty(v.Record), record.JobDetailsOrEmpty(v.Record)
	out := &commonsv1.TimekeepingExtension{
		PersonId: v.ID, PersonNumber: v.Number(), Active: v.active(), SnapShotDate: v.day.String(), Badges: v.badges(),
		DirectPayRuleEntries: v.PayRules,
		PayRuleEntries:       v.PayRules, PayRulesForSnapshotDate: v.payRuleOn(),
		WorkerType:             job.GetWorkerTypeName(),
		ManagerSignoffThruDate: dayPart(details.GetManagerSignoffThruDateTime()),
		PayrollLockoutThruDate: dayPart(details.GetPayrollLockoutThruDateTime()),
		EmployeeCurrency: &commonsv1.ExtensionEmployeeCurrency{
			CurrencyCode:   cmp.Or(info.GetEmployeeCurrencyAssignment().GetCurrencyCode(), v.currency),
			CurrencyLocale: cmp.Or(rights.GetLocalePolicyName(), defaultLocale),
		},
		ExpectedHours: mapList(info.GetExpectedHoursList(), func(e *commonsv1.ExpectedHours) *commonsv1.ExtensionExpectedHours {
			return &commonsv1.ExtensionExpectedHours{TimePeriodType: e.GetTimePeriodTypeName(), Quantity: e.GetQuantity()}
		}),
		AccessAssignmentDataEntries:            mapList(rights.GetEffectiveDatedTimeEntryMethods(), timeEntry),
		AccessAssignmentEntriesForSnapshotDate: mapList(onDay(rights.GetEffectiveDatedTimeEntryMethods(), v.day), timeEntry),
		AccessAssignmentDetailsDataEntries:     accessDetails(rights),
	}
	if code := v.Message.GetUser().GetUserCurrency().GetCurrencyCode(); code != "" {
		out.UserCurrency = &commonsv1.ExtensionUserCurrency{CurrencyCode: code}
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
		out.BaseWages = mapList(rates, baseWage)
		out.BaseWagesForExtensionSnapshotDate = mapList(onDay(rates, v.day), baseWage)
	}
	return out
}

// payRuleOn returns the pay rule on the snapshot date, or an empty list.
func (v *view) payRuleOn() []*commonsv1.ExtensionPayRule {
	for _, rule := range v.PayRules {
		if record.CheckedRange(record.EffectiveDates(rule)).Contains(v.day) {
			return []*commonsv1.ExtensionPayRule{rule}
		}
	}
	return nil
}

func baseWage(w *commonsv1.BaseWageRate) *commonsv1.ExtensionBaseWage {
	return &commonsv1.ExtensionBaseWage{HourlyRate: w.HourlyRate, EffectiveDate: w.GetEffectiveDate(), ExpirationDate: w.GetExpirationDate()}
}

func timeEntry(m *commonsv1.TimeEntryMethod) *commonsv1.ExtensionTimeEntry {
	return &commonsv1.ExtensionTimeEntry{
		TimeEntryType: m.GetTimeEntryTypeName(), EffectiveDate: m.GetEffectiveDate(), ExpirationDate: m.GetExpirationDate(),
		TimeEntryActivityTrackingStatus: m.GetTimeEntryActivityTrackingStatus(),
	}
}

// accessDetails returns the access profiles of a person. Without any, it is empty and not nil, because
// clients then expect a list.
func accessDetails(rights *commonsv1.AccessAssignment) *commonsv1.ExtensionAccessDetails {
	return &commonsv1.ExtensionAccessDetails{
		PayCodeProfile: rights.GetManagerPayCodeName(), PayCodeViewProfile: rights.GetManagerViewPayCodeName(),
		WorkRuleProfile: rights.GetManagerWorkRuleName(),
		SsePayCode:      rights.GetProfessionalPayCodeName(), SseWorkRuleProfile: rights.GetProfessionalWorkRuleName(),
		LaborCategoryProfile: rights.GetManagerLaborCategoryProfileName(), SseLaborCategoryProfile: rights.GetEmployeeLaborCategoryProfileName(),
		SseMgrLaborCategoryProfile: rights.GetMgrEmplLaborCategoryProfileName(),
		CanApproveOvertime:         rights.ApproveOvertimeflag, CanTransfer: rights.TransferEmployeeFlag,
		ReportName: rights.GetReportName(), ShiftCode: rights.GetShiftCodeName(),
	}
}

func jobTransfer(a *commonsv1.PersonAccessAssignment) *commonsv1.ExtensionJobTransfer {
	return &commonsv1.ExtensionJobTransfer{
		HomeHyperFindQueryName: a.GetHomeHyperFindQueryName(), ManagerAccessEmployeeGroup: a.GetManagerEmployeeGroupName(),
		ManagerTransferOrganizationSet:      a.GetManagerTransferOrganizationSetName(),
		ProfessionalTransferOrganizationSet: a.GetProfessionalTransferOrganizationSetName(),
		EmpMgrTransferOrganizationSet:       a.GetEmpMgrTransferOrganizationSetName(),
		EffectiveDate:                       a.GetEffectiveDate(), ExpirationDate: a.GetExpirationDate(),
	}
}

func approver(a *commonsv1.Approver) *commonsv1.ExtensionApprover {
	return &commonsv1.ExtensionApprover{
		OrderNumber: number(a.GetApproveLevel()), FullName: a.GetFullName(), PersonNumber: a.GetPersonNumber(), DueDateAmt: number(a.GetDueDateAmount()),
	}
}

// number returns the whole number in a text, or nil if the text is not a whole number.
func number(text string) *int32 {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return nil
	}
	return proto.Int32(int32(n))
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
	out.SseShiftCode, out.ForecastingCategoryProfile = rights.GetProfessionalShiftCodeName(), rights.GetForecastingCategoryProfileName()
	out.HasPersonalOvertimeFlag = job.HasPersonalOvertimeFlag
	out.ApproversEntries = mapList(v.Message.GetPersonInformation().GetApproverList(), approver)
	out.PredictiveSchedulingEligibilityEntries = job.GetPredictiveSchedulingEligibilityList()
	out.PredictiveSchedulingOverrideEntries = job.GetPredictiveSchedulingRuleOverrideList()
	if group := job.GetScheduleGroupName(); group != "" {
		out.GroupAssignments = []*commonsv1.ExtensionGroupAssignment{{Group: group}}
		out.GroupAssignmentsForExtensionSnapshotDate = out.GroupAssignments
	}
	transfers := v.Message.GetPersonInformation().GetPersonAccessAssignments()
	out.JobTransferEntries, out.JobTransferForSnapshotDate = mapList(transfers, jobTransfer), mapList(onDay(transfers, v.day), jobTransfer)
	for _, e := range v.Message.GetPersonInformation().GetExpectedHoursList() {
		quantity, err := strconv.ParseFloat(strings.TrimSpace(e.GetQuantity()), 64)
		if err != nil {
			continue // An entry can be stored without a quantity.
		}
		switch strings.ToLower(e.GetTimePeriodTypeName()) {
		case "daily":
			out.ExpectedDailyHours = &quantity
		case "weekly":
			out.ExpectedWeeklyHours = &quantity
		case "pay period":
			out.ExpectedByPayPeriodHours = &quantity
		}
	}
	return out
}

func (v *view) accrual() *commonsv1.AccrualExtension {
	details := v.Details()
	out := &commonsv1.AccrualExtension{
		PersonId: v.ID, PersonNumber: v.Number(), Active: v.active(), SnapShotDate: v.day.String(), Badges: v.badges(),
		FullTimeEquivalency:                         mapList(details.GetFullTimeEquivalencies(), fullTime),
		FullTimeEquivalencyForExtensionSnapshotDate: mapList(onDay(details.GetFullTimeEquivalencies(), v.day), fullTime),
	}
	out.AccrualProfilesEntries = mapList(v.AccrualProfiles, proto.CloneOf[*commonsv1.ExtensionAccrualProfile])
	out.AccrualProfilesEntriesForSnapshotDate = onDay(out.AccrualProfilesEntries, v.day)
	return out
}

func fullTime(f *commonsv1.FullTimeEquivalency) *commonsv1.ExtensionFullTimeEquivalency {
	return &commonsv1.ExtensionFullTimeEquivalency{
		EmployeeStandardHoursQuantity: f.EmployeeStandardHours, FullTimeStandardHoursQuantity: f.FullTimeStandardHours,
		FullTimeEquivalencyPercent: f.FullTimePercentage, EffectiveDate: f.GetEffectiveDate(), ExpirationDate: f.GetExpirationDate(),
	}
}

func (v *view) device() *commonsv1.DeviceExtension {
	details, job := v.Details(), record.JobDetailsOrEmpty(v.Record)
	return &commonsv1.DeviceExtension{
		PersonId: v.ID, PersonNumber: v.Number(), Active: v.active(), SnapShotDate: v.day.String(), Badges: v.badges(),
		DeviceGroup: job.GetDeviceGroupName(), DeviceProfile: job.GetDeviceProfileName(), BadgeDetails: v.badges(),
		BadgeDetailsForExtensionSnapshotDate: onDay(v.badges(), v.day),
		FingerRequired:                       details.FingerRequiredFlag, FaceRequired: details.FaceRequiredFlag,
	}
}
