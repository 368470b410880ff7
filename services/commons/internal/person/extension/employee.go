package extension

import (
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/tzdb"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/record"
)

func (v *view) employee() *commonsv1.EmployeeExtension {
	info, details := v.Message.GetPersonInformation(), v.Details()
	rights, user, job := record.AccessOrEmpty(v.Record), record.UserAccountOrEmpty(v.Record), record.JobDetailsOrEmpty(v.Record)
	out := &commonsv1.EmployeeExtension{
		PersonId: v.ID, PersonNumber: v.Number(), Active: v.active(), SnapShotDate: v.day.String(), Badges: v.badges(),
		FirstName: details.GetFirstName(), LastName: details.GetLastName(), MiddleName: details.GetMiddleInitial(),
		FullName: details.GetFullName(), ShortName: details.GetShortName(),
		PhoneticFullName: details.GetPhoneticFullName(), RomanizedFullName: details.GetRomanizedFullName(),
		UserName: user.GetUserName(), HireDate: details.GetHireDate(), BirthDate: details.GetBirthDate(),
		SeniorityDate: job.GetSeniorityRankDate(), JobAssignmentId: v.ID,
		IsEmployee: proto.Bool(len(v.payRuleOn()) > 0), IsManager: proto.Bool(v.hasLicense("manager")),
		AccessProfile: rights.GetAccessProfileName(), PreferenceProfile: rights.GetPreferenceProfileName(),
		LogonProfile: user.GetLogonProfileName(), LocaleProfile: rights.GetLocalePolicyName(),
		NotificationProfile: rights.GetNotificationProfileName(), DelegateProfile: rights.GetDelegateProfileName(),
		TimeZone: v.ZoneOn(v.day), TimeZoneId: tzdb.Number(v.ZoneOn(v.day)), SupervisorPersonNumber: job.GetSupervisorPersonNumber(), SupervisorFullName: job.GetSupervisorName(),
		AccountLocked: proto.Bool(v.lockedOn()),
	}
	if profile := rights.GetPreferenceProfileName(); profile != "" {
		out.PreferenceProfileDataEntry = &commonsv1.ExtensionPreferenceProfile{PreferenceProfile: profile}
	}
	if user.GetUserName() != "" {
		out.UserAccountId = v.ID
	}
	if v.manager != nil {
		out.SupervisorPersonId, out.SupervisorFullName = v.manager.ID, v.manager.FullName
	}
	for _, a := range info.GetPersonAuthenticationTypes() {
		if a.GetActiveFlag() && out.AuthenticationType == "" {
			out.AuthenticationType = a.GetAuthenticationTypeName()
		}
	}
	v.employeeDates(out)
	v.employeeContacts(out)
	return out
}

// lockedOn reports whether the person may not log in on the snapshot date.
func (v *view) lockedOn() bool {
	for _, days := range v.LockedOutDays() {
		if days.Contains(v.day) {
			return true
		}
	}
	return false
}

func (v *view) hasLicense(part string) bool {
	for _, l := range v.Message.GetPersonInformation().GetPersonLicenseTypes() {
		if l.GetActiveFlag() && strings.Contains(strings.ToLower(l.GetLicenseTypeName()), part) {
			return true
		}
	}
	return false
}

// employeeDates fills in the effective-dated properties.
func (v *view) employeeDates(out *commonsv1.EmployeeExtension) {
	info := v.Message.GetPersonInformation()
	out.EffDatedAccountStatuses = mapList(info.GetUserAccountStatusList(), accountStatus)
	out.EffDatedAccountStatusesForExtensionSnapshotDate = mapList(onDay(info.GetUserAccountStatusList(), v.day), accountStatus)
	out.EmploymentStatuses = mapList(info.GetEmploymentStatusList(), employmentStatus)
	out.EmploymentStatusesForExtensionSnapshotDate = mapList(onDay(info.GetEmploymentStatusList(), v.day), employmentStatus)
	accounts := v.Message.GetJobAssignment().GetPrimaryLaborAccounts()
	out.EffDatedPrimaryJobAccountEntries = mapList(accounts, primaryJob)
	out.EffDatedPrimaryJobAccountForSnapshotDate = &commonsv1.ExtensionPrimaryJobs{Jobs: mapList(onDay(accounts, v.day), primaryJob)}
	out.DataAccessExtensionGroups = mapList(v.Message.GetGdapAssignments(), dataAccess)
	out.DataAccessGroupsForSnapshotDate = mapList(onDay(v.Message.GetGdapAssignments(), v.day), dataAccess)
}

func dataAccess(g *commonsv1.GroupDataAccess) *commonsv1.ExtensionDataAccess {
	return &commonsv1.ExtensionDataAccess{
		DataAccessGroup: g.GetGdapName(), DataAccessGroupRole: g.GetRole(), DefaultSwitch: g.DefaultSwitch,
		EffectiveDate: g.GetEffectiveDate(), ExpirationDate: g.GetExpirationDate(),
	}
}

// employeeContacts fills in the contact data, and the custom fields of the tenant.
func (v *view) employeeContacts(out *commonsv1.EmployeeExtension) {
	info := v.Message.GetPersonInformation()
	out.EmailContactDataEntries, out.TelContactDataEntries, out.PostalAddressDataEntries = Contacts(info)
	out.LicenseTypeList = mapList(info.GetPersonLicenseTypes(), func(l *commonsv1.PersonLicenseType) *commonsv1.ExtensionLicense {
		return &commonsv1.ExtensionLicense{LicenseType: l.GetLicenseTypeName(), LicenseTypeName: l.GetLicenseTypeName(), Active: l.ActiveFlag}
	})
	out.PersonCustomDataEntries = mapList(info.GetCustomDataList(), func(c *commonsv1.CustomData) *commonsv1.ExtensionCustomData {
		return &commonsv1.ExtensionCustomData{CustomDataType: c.GetCustomDataTypeName(), CustomText: c.GetText()}
	})
	out.PersonDatesEntries = mapList(info.GetCustomDateList(), func(c *commonsv1.CustomDate) *commonsv1.ExtensionPersonDate {
		return &commonsv1.ExtensionPersonDate{DateName: c.GetCustomDateTypeName(), OverrideDate: c.GetDate()}
	})
	for _, id := range [][2]string{{"aoid", v.Message.GetPersonIdentity().GetAoid()}, {"coid", v.Message.GetPersonIdentity().GetCoid()}} {
		if id[1] != "" {
			out.ExternalIdentifiers = append(out.ExternalIdentifiers, &commonsv1.ExtensionIdentifier{IdentifierType: id[0], IdentifierValue: id[1]})
		}
	}
}

func accountStatus(s *commonsv1.UserAccountStatus) *commonsv1.ExtensionAccountStatus {
	return &commonsv1.ExtensionAccountStatus{
		AccountStatus: s.GetUserAccountStatusName(), AccountStatusTypeId: statusID(s.GetUserAccountStatusName()),
		EffectiveDate: s.GetEffectiveDate(), ExpirationDate: s.GetExpirationDate(),
	}
}

func employmentStatus(s *commonsv1.EmploymentStatus) *commonsv1.ExtensionEmploymentStatus {
	return &commonsv1.ExtensionEmploymentStatus{
		EmploymentStatus: s.GetEmploymentStatusName(), EmploymentStatusTypeId: statusID(s.GetEmploymentStatusName()),
		EffectiveDate: s.GetEffectiveDate(), ExpirationDate: s.GetExpirationDate(),
	}
}

func primaryJob(a *commonsv1.PrimaryLaborAccount) *commonsv1.ExtensionPrimaryJob {
	return &commonsv1.ExtensionPrimaryJob{
		PrimaryJob: a.GetOrganizationPath(), PrimaryLaborCategory: a.GetLaborCategoryName(),
		EffectiveDate: a.GetEffectiveDate(), ExpirationDate: a.GetExpirationDate(),
	}
}

// statusID returns the number of a status, from 1 on.
func statusID(name string) int64 {
	for i, status := range record.Statuses {
		if status == name {
			return int64(i + 1)
		}
	}
	return 0
}
