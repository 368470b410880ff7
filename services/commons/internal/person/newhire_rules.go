package person

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

const (
	residentAllowances = "ResidentStateTotalAllowancesClaimedCurrencyAmount"
	workAllowances     = "WorkStateTotalAllowancesClaimedCurrencyAmount"
	// maxAllowances has ten digits, as many as the two fields hold.
	maxAllowances = 9999999999
	mostDigits    = 10
)

// allowances are the two amounts for Iowa; nil when not given.
type allowances struct{ resident, work *int64 }

// readAllowances checks the two amounts of a new hire.
func readAllowances(in *commonsv1.NewHire) (allowances, error) {
	var out allowances
	for _, field := range []struct {
		name  string
		value *structpb.Value
		at    **int64
	}{
		{residentAllowances, in.GetResidentStateTotalAllowancesClaimedCurrencyAmount(), &out.resident},
		{workAllowances, in.GetWorkStateTotalAllowancesClaimedCurrencyAmount(), &out.work},
	} {
		amount, err := readAmount(field.name, field.value)
		if err != nil {
			return out, err
		}
		if amount == nil {
			continue
		}
		if err := checkIowa(field.name, in); err != nil {
			return out, err
		}
		*field.at = amount
	}
	return out, nil
}

// readAmount answers a whole amount of at most ten digits, or nil for nothing.
func readAmount(name string, value *structpb.Value) (*int64, error) {
	refuse := func(format string, args ...any) (*int64, error) {
		return nil, fault.Invalid(CodeBadValue, name+": "+fmt.Sprintf(format, args...))
	}
	switch kind := value.GetKind().(type) {
	case nil, *structpb.Value_NullValue:
		return nil, nil
	case *structpb.Value_StringValue:
		digits := strings.TrimPrefix(kind.StringValue, "-")
		switch {
		case digits == "" || strings.Trim(digits, "0123456789") != "":
			return refuse("the text %.40q is not a whole number. Send a number, without quotes and decimals.", kind.StringValue)
		case digits != kind.StringValue:
			return refuse("%.40s is negative. The smallest amount is 0.", kind.StringValue)
		case len(digits) > mostDigits:
			return refuse("%.40s has more than %d digits. The largest amount is %d.", digits, mostDigits, maxAllowances)
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
		return refuse("%.0f has more than %d digits. The largest amount is %d.", amount, mostDigits, maxAllowances)
	}
	whole := int64(amount)
	return &whole, nil
}

// checkIowa refuses an amount for a location that is not in Iowa, going by the
// State of the address and by the state that a LocationCode begins with.
func checkIowa(name string, in *commonsv1.NewHire) error {
	state := strings.ToUpper(strings.TrimSpace(in.GetState().GetOrProvince()))
	if state != "IA" && state != "IOWA" {
		return fault.Invalid(CodeCombination, fmt.Sprintf("%s is for locations in Iowa only, and State.OrProvince is %.40q. Leave it out, or send IA.",
			name, in.GetState().GetOrProvince()))
	}
	if code := stateIn(in.GetLocationCode()); code != "" && code != "IA" {
		return fault.Invalid(CodeCombination, fmt.Sprintf("%s is for locations in Iowa only, and the LocationCode %.40q is in %s. Leave it out.",
			name, in.GetLocationCode(), code))
	}
	return nil
}

// states are the postal codes of the states.
const states = " AL AK AZ AR CA CO CT DE DC FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY PR "

// stateIn answers the state that a location code begins with: its postal code,
// alone or before something that is no letter; "" when it begins with none.
func stateIn(location string) string {
	code := strings.ToUpper(strings.TrimSpace(location))
	if len(code) < 2 || len(code) > 2 && code[2] >= 'A' && code[2] <= 'Z' {
		return ""
	}
	if code = code[:2]; !strings.Contains(states, " "+code+" ") {
		return ""
	}
	return code
}

// checkNewHire refuses a new hire who lacks a required property.
func checkNewHire(in *commonsv1.NewHire) error {
	company := in.GetCompanyIdentifier()
	return missing([]property{
		{"CompanyIdentifier", company.GetCompanyCode() != "" || company.GetFederalId() != ""},
		text("FirstName", in.GetFirstName()), text("LastName", in.GetLastName()),
		text("AddressLine1", in.GetAddressLine1()), text("City", in.GetCity()),
		text("BirthDate", in.GetBirthDate()), text("BenefitSeniorityDate", in.GetBenefitSeniorityDate()),
	})
}

// personOf answers the person and the assignments that a new hire is.
func personOf(in *commonsv1.NewHire, hired string) *commonsv1.Person {
	info := &commonsv1.PersonInformation{
		Person: &commonsv1.PersonDetails{
			PersonNumber: in.GetEmployeeNumber(), FirstName: in.GetFirstName(), LastName: in.GetLastName(),
			MiddleInitial: in.GetMiddleName(), ShortName: in.GetPreferredFirstName(), BirthDate: in.GetBirthDate(), HireDate: hired,
		},
		EmploymentStatusList: []*commonsv1.EmploymentStatus{{EmploymentStatusName: active}},
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
	return &commonsv1.Person{PersonInformation: info, JobAssignment: jobOf(in)}
}

// jobOf answers where a new hire works, for whom, and for what. The primary job
// is the path of the organization levels or else the location, and the job.
func jobOf(in *commonsv1.NewHire) *commonsv1.JobAssignment {
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
