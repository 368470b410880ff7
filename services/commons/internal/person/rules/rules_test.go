package rules

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

func testRules() *Rules { return New(&civil.Zones{}, "UTC") }

func Valid() *commonsv1.Person {
	return &commonsv1.Person{
		PersonInformation: &commonsv1.PersonInformation{
			Person: &commonsv1.PersonDetails{PersonNumber: "1", FirstName: "Ada", LastName: "Okafor", HireDate: "2021-05-03"},
		},
		JobAssignment: &commonsv1.JobAssignment{JobAssignmentDetails: &commonsv1.JobAssignmentDetails{}},
	}
}

func TestPrepareRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*commonsv1.Person)
		code   string
		path   string
	}{
		"nothing":          {func(p *commonsv1.Person) { p.PersonInformation = nil }, CodeMissing, "personInformation.person.personNumber"},
		"blank first name": {func(p *commonsv1.Person) { p.PersonInformation.Person.FirstName = " " }, CodeMissing, "person.firstName"},
		"status without a name": {func(p *commonsv1.Person) {
			p.PersonInformation.EmploymentStatusList = []*commonsv1.EmploymentStatus{{}}
		}, CodeMissing, "employmentStatusList[0].employmentStatusName"},
		"unknown status": {func(p *commonsv1.Person) {
			p.PersonInformation.EmploymentStatusList = []*commonsv1.EmploymentStatus{{EmploymentStatusName: "Asleep"}}
		}, CodeBadValue, "employmentStatusList[0]"},
		"licence without a flag": {func(p *commonsv1.Person) {
			p.PersonInformation.PersonLicenseTypes = []*commonsv1.PersonLicenseType{{LicenseTypeName: "x"}}
		}, CodeMissing, "personLicenseTypes[0].activeFlag"},
		"user without an account": {func(p *commonsv1.Person) { p.User = &commonsv1.UserInformation{} }, CodeMissing, "user.userAccount"},
		"account without a name": {func(p *commonsv1.Person) {
			p.User = &commonsv1.UserInformation{UserAccount: &commonsv1.UserAccount{}}
		}, CodeMissing, "user.userAccount.userName"},
		"unknown time zone":   {func(p *commonsv1.Person) { p.JobAssignment.JobAssignmentDetails.TimeZoneName = "Middle Earth" }, CodeBadValue, "timeZoneName"},
		"zone of the machine": {func(p *commonsv1.Person) { p.JobAssignment.JobAssignmentDetails.TimeZoneName = "Local" }, CodeBadValue, "timeZoneName"},
		"two identities": {func(p *commonsv1.Person) {
			p.PersonIdentity = &commonsv1.PersonIdentity{PersonKey: proto.Int64(1), PersonNumber: proto.String("1")}
		}, CodeManyIdentities, "personIdentity"},
		"long number":       {func(p *commonsv1.Person) { p.PersonInformation.Person.PersonNumber = strings.Repeat("x", 251) }, CodeTooLong, "personNumber"},
		"control character": {func(p *commonsv1.Person) { p.PersonInformation.Person.LastName = "a\x00b" }, CodeBadValue, "lastName"},
		"bad hire date":     {func(p *commonsv1.Person) { p.PersonInformation.Person.HireDate = "3.5.2021" }, fault.CodeDate, "hireDate"},
		"end before start": {func(p *commonsv1.Person) {
			p.JobAssignment.BaseWageRates = []*commonsv1.BaseWageRate{{HourlyRate: proto.Float64(1), EffectiveDate: "2022-01-02", ExpirationDate: "2022-01-02"}}
		}, CodeDates, "baseWageRates[0]"},
		"two at a time": {func(p *commonsv1.Person) {
			p.JobAssignment.BaseWageRates = []*commonsv1.BaseWageRate{
				{HourlyRate: proto.Float64(1), EffectiveDate: "2022-01-02", ExpirationDate: "2023-01-02"},
				{HourlyRate: proto.Float64(1), EffectiveDate: "2022-12-31"},
			}
		}, CodeDates, "overlap"},
		"an address without a domain": {func(p *commonsv1.Person) {
			p.PersonInformation.EmailAddresses = []*commonsv1.EmailAddress{{ContactTypeName: "Work", Address: "ada"}}
		}, CodeBadValue, "emailAddresses[0].address"},
		"an address with a header": {func(p *commonsv1.Person) {
			p.PersonInformation.EmailAddresses = []*commonsv1.EmailAddress{{ContactTypeName: "Work", Address: "ada@example.com\r\nBcc: eve@example.com"}}
		}, CodeBadValue, "emailAddresses[0].address"},
		"negative wage": {func(p *commonsv1.Person) {
			p.JobAssignment.BaseWageRates = []*commonsv1.BaseWageRate{{HourlyRate: proto.Float64(-1)}}
		}, CodeBadValue, "hourlyRate"},
		"endless list": {func(p *commonsv1.Person) {
			p.JobAssignment.BaseWageRates = make([]*commonsv1.BaseWageRate, maxList+1)
		}, CodeBadValue, "baseWageRates"},
		"a term that ends before it starts": {func(p *commonsv1.Person) {
			p.JobAssignment.EmploymentTermAssignments = []*commonsv1.TermAssignment{{Name: "38h", StartDate: "2021-05-03", EndDate: "2021-05-03"}}
		}, CodeDates, "employmentTermAssignments[0]: endDate"},
		"two terms at a time": {func(p *commonsv1.Person) {
			p.JobAssignment.EmploymentTermAssignments = []*commonsv1.TermAssignment{
				{Name: "38h", StartDate: "2021-05-03", EndDate: "2022-01-01"}, {Name: "40h", StartDate: "2021-12-31"},
			}
		}, CodeDates, "employmentTermAssignments[0] and jobAssignment.employmentTermAssignments[1] overlap"},
		"a term of a position": {func(p *commonsv1.Person) {
			position, _ := structpb.NewStruct(map[string]any{"employmentTermAssignments": []any{map[string]any{"name": "38h"}}})
			p.Positions = []*structpb.Struct{position}
		}, CodeCombination, "positions[0].employmentTermAssignments[0]"},
		"approvers without level 1": {func(p *commonsv1.Person) {
			p.PersonInformation.ApproverList = []*commonsv1.Approver{{ApproveLevel: "2", FullName: "Boss"}}
		}, CodeNoApprover, "approverList"},
		"an approver without a name": {func(p *commonsv1.Person) {
			p.PersonInformation.ApproverList = []*commonsv1.Approver{{ApproveLevel: "1"}}
		}, CodeMissing, "approverList[0].fullName"},
		"hours of no period": {func(p *commonsv1.Person) {
			p.PersonInformation.ExpectedHoursList = []*commonsv1.ExpectedHours{{TimePeriodTypeName: "Yearly"}}
		}, CodeBadValue, "expectedHoursList[0].timePeriodTypeName"},
		"access without dates": {func(p *commonsv1.Person) {
			p.GdapAssignments = []*commonsv1.GroupDataAccess{{GdapName: "All", Role: "manager_role", DefaultSwitch: proto.Bool(true)}}
		}, CodeMissing, "gdapAssignments[0].effectiveDate"},
		"access of no role": {func(p *commonsv1.Person) {
			p.GdapAssignments = []*commonsv1.GroupDataAccess{{GdapName: "All", Role: "king", DefaultSwitch: proto.Bool(true), EffectiveDate: "2025-01-01", ExpirationDate: "3000-01-01"}}
		}, CodeBadValue, "gdapAssignments[0].role"},
		"an end before the start": {func(p *commonsv1.Person) {
			p.PersonInformation.PersonAccessAssignments = []*commonsv1.PersonAccessAssignment{{EffectiveDate: "2025-01-02", ExpirationDate: "2025-01-01"}}
		}, CodeDates, "personAccessAssignments[0]"},
		"criteria of no node": {func(p *commonsv1.Person) {
			p.JobAssignment.PrimaryLaborAccounts = []*commonsv1.PrimaryLaborAccount{{OrganizationPath: "a", OrgPathByCriteria: &commonsv1.OrganizationCriteria{}}}
		}, CodeMissing, "orgPathByCriteria.orgNodes"},
		"too many addresses": {func(p *commonsv1.Person) {
			for range maxList + 1 {
				p.PersonInformation.EmailAddresses = append(p.PersonInformation.EmailAddresses, &commonsv1.EmailAddress{ContactTypeName: "Work"})
			}
		}, CodeBadValue, "emailAddresses"},
		"the same badge twice": {func(p *commonsv1.Person) {
			p.PersonInformation.BadgeAssignments = []*commonsv1.BadgeAssignment{{BadgeNumber: "7"}, {BadgeNumber: "7"}}
		}, CodeDates, "badgeAssignments[1]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := Valid()
			c.change(p)
			_, err := testRules().NewPerson(p)
			require.Error(t, err)
			assert.True(t, fault.HasCode(err, c.code), err)
			assert.Contains(t, err.Error(), c.path)
		})
	}
}

func TestPrepareFillsIn(t *testing.T) {
	t.Parallel()
	in := Valid()
	in.JobAssignment.PrimaryLaborAccounts = []*commonsv1.PrimaryLaborAccount{
		{OrganizationPath: "b", EffectiveDate: "2025-01-01"}, {OrganizationPath: "a"},
	}
	d, err := testRules().NewPerson(in)
	require.NoError(t, err)
	accounts := d.Message.GetJobAssignment().GetPrimaryLaborAccounts()
	assert.Equal(t, []string{"2021-05-03", "2025-01-01"}, []string{accounts[0].GetEffectiveDate(), accounts[0].GetExpirationDate()},
		"from the day of hire to the start of the next one, in order")
	assert.Equal(t, []string{"2025-01-01", "3000-01-01"}, []string{accounts[1].GetEffectiveDate(), accounts[1].GetExpirationDate()})
	assert.Empty(t, in.GetJobAssignment().GetPrimaryLaborAccounts()[1].GetEffectiveDate(), "the request stays as it was")
	assert.Nil(t, d.Account)
}

// The API description lists the names of responses in one spelling only.
func TestPrepareSpellsPeriodsOfExpectedHours(t *testing.T) {
	t.Parallel()
	p := Valid()
	p.PersonInformation.ExpectedHoursList = []*commonsv1.ExpectedHours{{TimePeriodTypeName: "WEEKLY"}, {TimePeriodTypeName: "pay period"}}
	d, err := testRules().NewPerson(p)
	require.NoError(t, err)
	list := d.Message.GetPersonInformation().GetExpectedHoursList()
	assert.Equal(t, "Weekly", list[0].GetTimePeriodTypeName())
	assert.Equal(t, "Pay Period", list[1].GetTimePeriodTypeName())
}

func TestPrepareWipesWhatOnlyTheServerSays(t *testing.T) {
	t.Parallel()
	in := Valid()
	in.JobAssignment.EmploymentTermAssignments = []*commonsv1.TermAssignment{{StartDate: "2021-05-03"}}
	in.User = &commonsv1.UserInformation{
		UserAccount: &commonsv1.UserAccount{
			UserName: "ada", UserPassword: "hush-hush", MfaRequired: proto.Bool(true),
			ConsecutiveBadLogons: proto.Int32(3), LockoutResetDateTime: "2021-01-01T00:00:00", PasswordUpdatedDateTime: "2021-01-01T00:00:00",
		},
		PasswordHistories: []*commonsv1.PasswordHistory{{Password: "hush-hush"}},
	}
	d, err := testRules().NewPerson(in)
	require.NoError(t, err, "an empty name takes a new person off nothing")
	assert.Empty(t, d.Message.GetJobAssignment().GetEmploymentTermAssignments())
	assert.True(t, proto.Equal(&commonsv1.UserInformation{UserAccount: &commonsv1.UserAccount{UserName: "ada"}}, d.Message.GetUser()), d.Message.GetUser())
	assert.Equal(t, "hush-hush", d.Account.Password)
	assert.NotContains(t, WithoutPassword(in).String(), "hush-hush")
}

func TestZoneName(t *testing.T) {
	t.Parallel()
	zones := &civil.Zones{}
	for name, want := range map[string]string{
		"Europe/Zurich": "Europe/Zurich", "Eastern": "America/New_York", "pacific": "America/Los_Angeles", "UTC": "UTC",
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := FindZone(name)
			assert.True(t, ok, name)
			assert.Equal(t, want, got)
		})
	}
	for short, iana := range shortZones {
		_, err := zones.Get(iana)
		assert.NoError(t, err, short)
	}
}
