package dataprovider

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// ada has data for all elements; want is the values of the elements from 2026-03-02 to 2026-03-08.
func adasBody() *commonsv1.Person {
	yes, no := proto.Bool(true), proto.Bool(false)
	return &commonsv1.Person{PersonInformation: &commonsv1.PersonInformation{
		Person: &commonsv1.PersonDetails{
			PhoneticFullName: "Ay-da", RomanizedFullName: "Ada O", AccrualProfileName: "Accruals", AccrualProfileEffectiveDate: "2021-06-01",
			AccrualProfileEndDate: "2030-01-01", EmployeeStandardHours: proto.Float64(20), FullTimeStandardHours: proto.Float64(40),
			FullTimePercentage: proto.Float64(50), FingerRequiredFlag: yes, FaceRequiredFlag: no,
			ManagerSignoffThruDateTime: "2026-02-01T10:00:00", PayrollLockoutThruDateTime: "2026-01-31T00:00:00",
		},
		TelephoneNumbers: []*commonsv1.TelephoneNumber{{ContactTypeName: "Phone 1", PhoneNumber: "555"}},
		PostalAddresses: []*commonsv1.PostalAddress{
			{ContactTypeName: "Home", Street: "Elm 1", City: "Ames", State: "IA", PostalCode: "50010", Country: "US"},
			{ContactTypeName: "work", Street: "Oak 2", City: "Boone", State: "IA2", PostalCode: "50036", Country: "USA"},
		},
		AccessAssignment: &commonsv1.AccessAssignment{
			EmployeeLaborCategoryProfileName: "Own labor", ManagerLaborCategoryProfileName: "Labor", ManagerPayCodeName: "Codes", ManagerWorkRuleName: "Rules",
			ProfessionalPayCodeName: "Own codes", ProfessionalWorkRuleName: "Own rules", SchedulePatternName: "Patterns",
			ApproveOvertimeflag: yes, TransferEmployeeFlag: no,
		},
		PersonLicenseTypes:         []*commonsv1.PersonLicenseType{{LicenseTypeName: "Hourly", ActiveFlag: yes}, {LicenseTypeName: "Old", ActiveFlag: no}},
		PersonAuthenticationTypes:  []*commonsv1.PersonAuthenticationType{{AuthenticationTypeName: "Basic", ActiveFlag: yes}},
		ExpectedHoursList:          []*commonsv1.ExpectedHours{{TimePeriodTypeName: "Daily", Quantity: "4"}, {TimePeriodTypeName: "Weekly", Quantity: "20"}, {TimePeriodTypeName: "Pay Period", Quantity: "40.5"}},
		EmployeeCurrencyAssignment: &commonsv1.EmployeeCurrency{CurrencyCode: "USD"},
	}}
}

func wantOfAda() map[string]value {
	text, day := dataelement.Text, func(y, m, d int) value { return dataelement.Day(civil.Of(y, monthNumber(m), d)) }
	number, yes, no := dataelement.Decimal, dataelement.Bool(true), dataelement.Bool(false)
	moment := func(y, m, d int, seconds int64) value {
		return dataelement.Moment(int64(civil.Of(y, monthNumber(m), d))*civil.SecondsPerDay + seconds)
	}
	return map[string]value{
		"EMP_COMMON_FULL_NAME": text("Okafor, Ada"), "EMP_COMMON_FULL_NAME_AND_PERSON_NUMBER": text("Okafor, Ada (N-1)"), "EMP_COMMON_ID": text("1"),
		"EMP_COMMON_PRIMARY_JOB": text("Acme/East/Clerk"), "EMP_COMMON_PRIMARY_JOB_TITLE": text("Clerk"), "EMP_COMMON_PRIMARY_ORG": text("Acme/East"),
		"EMP_COMMON_PRIMARY_ORG_DESCRIPTION": text("East"), "EMP_COMMON_PRIMARY_JOB_EFFECTIVE_DATE": day(2025, 1, 1), "EMP_COMMON_PRIMARY_JOB_END_DATE": day(2026, 12, 31),
		"EMP_COMMON_PRIMARY_JOB_CODE": text("C-1"), "EMP_COMMON_PRIMARY_JOB_DESCRIPTION": text("Clerks"), "EMP_COMMON_PRIMARY_JOB_SORT_ORDER": text("30"),
		"PEOPLE_HOME_COST_CENTER": text("CC-7"), "EMP_COMMON_DISPLAY_PROFILE": text("Preference"), "EMP_COMMON_EMPLOYEE_GROUP": text("Group"), "EMP_COMMON_FUNCTION_ACCESS_PROFILE": text("Access"),
		"PEOPLE_PERSON_ID": dataelement.Whole(1), "PEOPLE_PERSON_NUMBER": text("N-1"), "PEOPLE_FIRST_NAME": text("Ada"), "PEOPLE_LAST_NAME": text("Okafor"),
		"PEOPLE_MIDDLE_INITIAL": text("B"), "PEOPLE_SHORT_NAME": text("Ad"), "PEOPLE_PHONETIC_FULL_NAME": text("Ay-da"), "PEOPLE_ROMANIZED_FULL_NAME": text("Ada O"),
		"PEOPLE_BIRTH_DATE": day(1990, 2, 3), "PEOPLE_USER_ACCOUNT_NAME": text("ada"), "PEOPLE_USER_ACCOUNT_STATUS": text("Active"),
		"PEOPLE_USER_ACCOUNT_STATUS_DATE": day(2021, 5, 4), "PEOPLE_BADGE_NUMBER": text("77"), "PEOPLE_BADGE_EFFECTIVE_DATE": day(2021, 5, 5),
		"PEOPLE_BADGE_EXPIRATION_DATE": day(3000, 1, 1), "PEOPLE_CUSTOM": text("L"), "PEOPLE_CUSTOM_DATE": day(2020, 1, 1), "PEOPLE_AOID": text("ao"), "PEOPLE_COID": text("co"),
		"PEOPLE_HIRE_DATE": day(2021, 5, 3), "PEOPLE_SENIORITY_DATE": day(2020, 5, 3), "PEOPLE_YEARS_OF_SERVICE": dataelement.Whole(4),
		"PEOPLE_EMP_STATUS": text("Active"), "PEOPLE_EMPLOYMENT_STATUS_DATE": day(2021, 5, 3), "PEOPLE_PAYRULE": text("Full"), "PEOPLE_PAYRULE_EFFECTIVE_DATE": day(2021, 5, 6),
		"PEOPLE_BASE_WAGE": number(21.5), "PEOPLE_BASE_WAGE_EFFECTIVE_DATE": day(2021, 5, 7), "PEOPLE_WORKER_TYPE": text("Regular"), "PEOPLE_HOME_LABOR_CATEGORY": text("Category"),
		"PEOPLE_MANAGER_PERSON_NUMBER": text("N-2"), "PEOPLE_MANAGER_NAME": text("Boss, Bo"), "PEOPLE_TIME_ZONE": text("Europe/Zurich"), "PEOPLE_SCHEDULE_GROUP": text("Clerks"),
		"PEOPLE_DEVICE_GROUP": text("Devices"), "PEOPLE_TIME_ENTRY_METHOD": text("Stamp"), "PEOPLE_TIME_ENTRY_METHOD_DATE": day(2021, 5, 8),
		"PEOPLE_LOGON_PROFILE": text("Logon"), "PEOPLE_NOTIFICATION_PROFILE": text("Notification"), "PEOPLE_LOCALE_POLICY": text("Locale"), "PEOPLE_DELEGATE_PROFILE": text("Delegate"),
		"PEOPLE_HOME_HYPERFIND": text("Home"), "PEOPLE_MANAGER_JOB_TRANSFER_SET": text("Manager set"), "PEOPLE_EMPLOYEE_JOB_TRANSFER_SET": text("Own set"),
		"PEOPLE_EMPLOYEE_MANAGER_JOB_TRANSFER_SET": text("Both set"), "PEOPLE_GROUP_DATA_ACCESS": text("Stores"), "PEOPLE_EMPLOYEE_LABOR_CATEGORY": text("Own labor"),
		"PEOPLE_MANAGER_LABOR_CATEGORY": text("Labor"), "PEOPLE_MANAGER_PAY_CODE": text("Codes"), "PEOPLE_MANAGER_WORK_RULE": text("Rules"), "PEOPLE_EMPLOYEE_PAY_CODE": text("Own codes"),
		"PEOPLE_EMPLOYEE_WORK_RULE": text("Own rules"), "PEOPLE_SCHEDULE_PATTERN": text("Patterns"), "PEOPLE_CAN_APPROVE_OVERTIME_REQUESTS": yes, "PEOPLE_CAN_TRANSFER_EMPLOYEES": no,
		"PEOPLE_AUTH_TYPE": text("Basic"), "PEOPLE_LICENSES": text("Hourly"), "PEOPLE_EXPECTED_DAILY_HOURS": number(4), "PEOPLE_EXPECTED_WEEKLY_HOURS": number(20),
		"PEOPLE_EXPECTED_PAYPERIOD_HOURS": number(40.5), "PEOPLE_EMPLOYEE_STANDARD_HOURS": number(20), "PEOPLE_FULL_TIME_STANDARD_HOURS": number(40),
		"PEOPLE_FULL_TIME_PERCENTAGE": number(50), "PEOPLE_ACCRUAL_PROFILE_NAME": text("Accruals"), "PEOPLE_ACCRUAL_EFFECTIVE_DATE": day(2021, 6, 1),
		"PEOPLE_ACCRUAL_EXPIRATION_DATE": day(2030, 1, 1), "PEOPLE_ASSIGNED_CURRENCY": text("USD"), "PEOPLE_FINGERSCAN_REQUIRED": yes, "PEOPLE_FACESCAN_REQUIRED": no,
		"PEOPLE_MANAGER_SIGNOFF_THRU": moment(2026, 2, 1, 36000), "PEOPLE_PAYROLL_LOCKOUT_THRU": moment(2026, 1, 31, 0), "PEOPLE_EMAIL": text("ada@work"),
		"PEOPLE_PHONE_NUMBER": text("555"), "PEOPLE_ADDRESS_CITY_HOME": text("Ames"), "PEOPLE_ADDRESS_CITY_WORK": text("Boone"), "PEOPLE_ADDRESS_COUNTRY_HOME": text("US"),
		"PEOPLE_ADDRESS_COUNTRY_WORK": text("USA"), "PEOPLE_ADDRESS_STATE_HOME": text("IA"), "PEOPLE_ADDRESS_STATE_WORK": text("IA2"), "PEOPLE_ADDRESS_STREET_HOME": text("Elm 1"),
		"PEOPLE_ADDRESS_STREET_WORK": text("Oak 2"), "PEOPLE_ADDRESS_ZIPCODE_HOME": text("50010"), "PEOPLE_ADDRESS_ZIPCODE_WORK": text("50036"),
	}
}

func TestEveryElementOfPeople(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.addAda(t)
	table := newPeople(b.pool)
	require.Empty(t, table.Problems())
	week := civil.Through(civil.Of(2026, 3, 2), civil.Of(2026, 3, 8))
	want := wantOfAda()
	properties := map[string]string{"NAME": "Shirt", "TYPE": "phone 1"}
	for _, e := range table.Entries {
		loaded, err := table.Load(b.ctx, []int64{1, 999, 3}, week, e.Needs)
		require.NoError(t, err, e.Key)
		assert.Equal(t, want[e.Key], e.Value(loaded[0], at{Days: week, Properties: properties}), e.Key)
		assert.Equal(t, e.Type, want[e.Key].Type(), e.Key)
		assert.Nil(t, loaded[1], "nobody has this id")
		e.Value(loaded[2], at{Days: week}) // a person without data
		delete(want, e.Key)
	}
	assert.Empty(t, want, "elements that are not there any more")
	assert.GreaterOrEqual(t, len(table.Entries), 80)
}

// The last signed-off day of the timecard takes precedence over a stored one.
func TestSignedOffDays(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.addAda(t)
	b.exec(t, `INSERT INTO timecard_signoff (tenant_id, person_id, through) VALUES (1, 1, '2026-03-08')`)
	table := newPeople(b.pool)
	i := slices.IndexFunc(table.Entries, func(e entry) bool { return e.Key == "PEOPLE_MANAGER_SIGNOFF_THRU" })
	week := civil.Through(civil.Of(2026, 3, 2), civil.Of(2026, 3, 4))
	loaded, err := table.Load(b.ctx, []int64{1}, week, table.Entries[i].Needs)
	require.NoError(t, err)
	assert.Equal(t, dataelement.Moment(int64(civil.Of(2026, 3, 8))*civil.SecondsPerDay), table.Entries[i].Value(loaded[0], at{Days: week}))
}
