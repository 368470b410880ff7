package newhire

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/record"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/rules"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
)

const (
	residentAllowances = "ResidentStateTotalAllowancesClaimedCurrencyAmount"
	workAllowances     = "WorkStateTotalAllowancesClaimedCurrencyAmount"
	// maxAllowances has ten digits, the length of the two fields.
	maxAllowances = 9999999999
	maxDigits     = 10
)

// readAllowances checks the two amounts of a new hire who works at a workplace.
func readAllowances(in *commonsv1.NewHire, at workplace) (store.Allowances, error) {
	var out store.Allowances
	for _, field := range []struct {
		name  string
		value *structpb.Value
		at    **int64
	}{
		{residentAllowances, in.GetResidentStateTotalAllowancesClaimedCurrencyAmount(), &out.Resident},
		{workAllowances, in.GetWorkStateTotalAllowancesClaimedCurrencyAmount(), &out.Work},
	} {
		amount, err := readAmount(field.name, field.value)
		if err != nil {
			return out, err
		}
		if amount == nil {
			continue
		}
		if err := at.checkIowa(field.name); err != nil {
			return out, err
		}
		*field.at = amount
	}
	return out, nil
}

// readAmount returns a whole amount of at most ten digits, or nil if the value is missing.
func readAmount(name string, value *structpb.Value) (*int64, error) {
	refuse := func(format string, args ...any) (*int64, error) {
		return nil, fault.Invalid(rules.CodeBadValue, name+": "+fmt.Sprintf(format, args...))
	}
	switch kind := value.GetKind().(type) {
	case nil, *structpb.Value_NullValue:
		return nil, nil
	case *structpb.Value_StringValue:
		digits := strings.TrimPrefix(kind.StringValue, "-")
		whole, decimals, cut := strings.Cut(digits, ".")
		switch {
		case cut && whole != "" && strings.Trim(whole+decimals, "0123456789") == "":
			return refuse("%.40s has decimals. Send a whole amount.", kind.StringValue)
		case digits == "" || strings.Trim(digits, "0123456789") != "":
			return refuse("%.40q is not a whole number. Send digits only.", kind.StringValue)
		case digits != kind.StringValue:
			return refuse("%.40s is negative. The smallest amount is 0.", kind.StringValue)
		case len(digits) > maxDigits:
			return refuse("%.40s has more than %d digits. The largest amount is %d.", digits, maxDigits, maxAllowances)
		}
		amount, err := strconv.ParseInt(digits, 10, 64)
		return &amount, err
	case *structpb.Value_NumberValue:
		return checkAmount(kind.NumberValue, refuse)
	}
	return refuse("only a number may stand here.")
}

func checkAmount(amount float64, refuse func(string, ...any) (*int64, error)) (*int64, error) {
	switch {
	case amount < 0:
		return refuse("%v is negative. The smallest amount is 0.", amount)
	case amount != math.Trunc(amount):
		return refuse("%s has decimals. Send a whole amount.", strconv.FormatFloat(amount, 'f', -1, 64))
	case amount > maxAllowances:
		return refuse("%.0f has more than %d digits. The largest amount is %d.", amount, maxDigits, maxAllowances)
	}
	whole := int64(amount)
	return &whole, nil
}

// checkNewHire refuses a new hire who lacks a required property.
func checkNewHire(in *commonsv1.NewHire) error {
	company := in.GetCompanyIdentifier()
	return rules.CheckPresent([]rules.Property{
		{Path: "CompanyIdentifier", Present: company.GetCompanyCode() != "" || company.GetFederalId() != ""},
		rules.TextProperty("FirstName", in.GetFirstName()), rules.TextProperty("LastName", in.GetLastName()),
		rules.TextProperty("AddressLine1", in.GetAddressLine1()), rules.TextProperty("City", in.GetCity()),
		rules.TextProperty("BirthDate", in.GetBirthDate()), rules.TextProperty("BenefitSeniorityDate", in.GetBenefitSeniorityDate()),
	})
}

// convertPerson converts a new hire to a person with assignments.
func convertPerson(in *commonsv1.NewHire, hired string) *commonsv1.Person {
	info := &commonsv1.PersonInformation{
		Person: &commonsv1.PersonDetails{
			PersonNumber: in.GetEmployeeNumber(), FirstName: in.GetFirstName(), LastName: in.GetLastName(),
			MiddleInitial: in.GetMiddleName(), ShortName: in.GetPreferredFirstName(), BirthDate: in.GetBirthDate(), HireDate: hired,
		},
		EmploymentStatusList: []*commonsv1.EmploymentStatus{{EmploymentStatusName: record.StatusActive}},
		PostalAddresses: []*commonsv1.PostalAddress{{
			ContactTypeName: "Home", Street: strings.TrimSpace(in.GetAddressLine1() + " " + in.GetAddressLine2()), City: in.GetCity(),
			State: in.GetState().GetOrProvince(), PostalCode: in.GetZipOrPostalCode(), Country: in.GetCountry(),
		}},
	}
	for _, phone := range [][2]string{{"Home", in.GetHomePhone()}, {"Work", in.GetWorkPhone()}, {"Other", in.GetOtherPhone()}} {
		if phone[1] != "" {
			info.TelephoneNumbers = append(info.TelephoneNumbers, &commonsv1.TelephoneNumber{ContactTypeName: phone[0], PhoneNumber: phone[1]})
		}
	}
	for _, mail := range [][2]string{{"Work", in.GetEmailAddress()}, {"Alternate", in.GetAlternateEmailAddress()}} {
		if mail[1] != "" {
			info.EmailAddresses = append(info.EmailAddresses, &commonsv1.EmailAddress{ContactTypeName: mail[0], Address: mail[1]})
		}
	}
	if in.ScheduledHours != nil {
		info.ExpectedHoursList = []*commonsv1.ExpectedHours{{TimePeriodTypeName: "Weekly", Quantity: strconv.FormatFloat(in.GetScheduledHours(), 'f', -1, 64)}}
	}
	return &commonsv1.Person{PersonInformation: info, JobAssignment: newHireJob(in)}
}

// newHireJob returns the job assignment of a new hire. The path of the primary job consists of the
// organization levels, or else the location, and the job.
func newHireJob(in *commonsv1.NewHire) *commonsv1.JobAssignment {
	out := &commonsv1.JobAssignment{
		JobAssignmentDetails: &commonsv1.JobAssignmentDetails{
			PayRuleName: in.GetPayGroup(), SupervisorPersonNumber: in.GetSupervisor(), WorkerTypeName: in.GetEmployeeType(),
			SeniorityRankDate: in.GetSeniorityDate(), DeviceGroupName: in.GetTimeClock(),
		},
		ScheduleGroupName: in.GetShiftGroup(),
	}
	var path []string
	for _, level := range []string{in.GetOrgLevel1(), in.GetOrgLevel2(), in.GetOrgLevel3(), in.GetOrgLevel4(), in.GetLocationCode(), in.GetJobCode()} {
		if level != "" {
			path = append(path, level)
		}
	}
	if in.GetJobCode() != "" && len(path) > 1 {
		out.PrimaryLaborAccounts = []*commonsv1.PrimaryLaborAccount{{OrganizationPath: strings.Join(path, "/")}}
	}
	if in.PayRate != nil && !strings.HasPrefix(strings.ToUpper(in.GetHourlyOrSalaried()), "S") {
		out.BaseWageRates = []*commonsv1.BaseWageRate{{HourlyRate: in.PayRate}}
	}
	return out
}
