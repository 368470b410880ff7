package dataprovider

import (
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/record"
)

func hoursElements() []entry {
	expected := func(key, label, period string) entry {
		return entry{
			Key: key, Label: label, Doc: "The hours that the person is expected to work.", Type: dataelement.Number,
			Categories: employee, Needs: needBody, Value: func(p *person, _ at) value { return expectedHours(p.body, period) },
		}
	}
	fullTime := func(key, label, doc string, amount func(*commonsv1.FullTimeEquivalency) *float64) entry {
		return entry{
			Key: key, Label: label, Doc: doc, Type: dataelement.Number, Categories: employee, Series: true, Needs: needBody,
			Value: func(p *person, at at) value {
				list := p.body.GetPersonInformation().GetPerson().GetFullTimeEquivalencies()
				if f := record.FullTimeOn(list, at.Last()); f != nil && amount(f) != nil {
					return dataelement.Decimal(*amount(f))
				}
				return value{}
			},
		}
	}
	flag := func(key, label, doc string, of func(*commonsv1.PersonDetails) *bool) entry {
		return entry{
			Key: key, Label: label, Doc: doc, Type: dataelement.Boolean, Categories: employee, Needs: needBody,
			Value: func(p *person, _ at) value {
				if d := p.body.GetPersonInformation().GetPerson(); d != nil {
					return optionalBool(of(d))
				}
				return value{}
			},
		}
	}
	moment := func(key, label, doc string, text func(*commonsv1.PersonDetails) string) entry {
		return entry{
			Key: key, Label: label, Doc: doc, Type: dataelement.DateTime, Categories: employee, Needs: needBody,
			Value: func(p *person, _ at) value { return parsedMoment(text(p.body.GetPersonInformation().GetPerson())) },
		}
	}
	return []entry{
		expected("PEOPLE_EXPECTED_DAILY_HOURS", "Expected daily hours", "DAILY"),
		expected("PEOPLE_EXPECTED_WEEKLY_HOURS", "Expected weekly hours", "WEEKLY"),
		expected("PEOPLE_EXPECTED_PAYPERIOD_HOURS", "Expected hours of a pay period", "PAY PERIOD"),
		fullTime("PEOPLE_EMPLOYEE_STANDARD_HOURS", "Standard hours", "The standard hours of the person, on the last day.",
			func(f *commonsv1.FullTimeEquivalency) *float64 { return f.EmployeeStandardHours }),
		fullTime("PEOPLE_FULL_TIME_STANDARD_HOURS", "Full time hours", "The standard hours of full time, on the last day.",
			func(f *commonsv1.FullTimeEquivalency) *float64 { return f.FullTimeStandardHours }),
		fullTime("PEOPLE_FULL_TIME_PERCENTAGE", "Full time percentage", "The standard hours as a percentage of full time, on the last day.",
			func(f *commonsv1.FullTimeEquivalency) *float64 { return f.FullTimePercentage }),
		textOn("PEOPLE_ACCRUAL_PROFILE_NAME", "Accrual profile", "The accrual profile on the last day.", needAccrual|needBody, accrualProfiles, 0),
		sinceOn("PEOPLE_ACCRUAL_EFFECTIVE_DATE", "Accrual profile since", "The first day of the accrual profile.", needAccrual|needBody, accrualProfiles),
		dayOn("PEOPLE_ACCRUAL_EXPIRATION_DATE", "Accrual profile until", "The end of the accrual profile: the day after its last.", needAccrual|needBody, accrualProfiles,
			func(d *dated) civil.Date { return d.days.To }),
		{
			Key: "PEOPLE_ASSIGNED_CURRENCY", Label: "Currency", Doc: "The currency that the person is paid in.", Type: dataelement.String, Categories: employee, Needs: needBody,
			Value: func(p *person, _ at) value {
				return dataelement.Text(p.body.GetPersonInformation().GetEmployeeCurrencyAssignment().GetCurrencyCode())
			},
		},
		flag("PEOPLE_FINGERSCAN_REQUIRED", "Finger scan required", "Whether devices ask for a finger.",
			func(d *commonsv1.PersonDetails) *bool { return d.FingerRequiredFlag }),
		flag("PEOPLE_FACESCAN_REQUIRED", "Face scan required", "Whether devices ask for a face.",
			func(d *commonsv1.PersonDetails) *bool { return d.FaceRequiredFlag }),
		{
			Key: "PEOPLE_MANAGER_SIGNOFF_THRU", Label: "Signed off through", Doc: "The last day of the timecard that is signed off.", Type: dataelement.DateTime,
			Categories: employee, Needs: needSignoff | needBody, Value: func(p *person, _ at) value {
				if len(p.signedOff) > 0 {
					return dataelement.Moment(int64(p.signedOff[0].days.From) * civil.SecondsPerDay)
				}
				return parsedMoment(p.body.GetPersonInformation().GetPerson().GetManagerSignoffThruDateTime())
			},
		},
		moment("PEOPLE_PAYROLL_LOCKOUT_THRU", "Locked for payroll through", "Through when payroll has locked the time.", (*commonsv1.PersonDetails).GetPayrollLockoutThruDateTime),
	}
}

func expectedHours(body *commonsv1.Person, period string) value {
	for _, e := range body.GetPersonInformation().GetExpectedHoursList() {
		if strings.EqualFold(e.GetTimePeriodTypeName(), period) {
			if hours, err := strconv.ParseFloat(e.GetQuantity(), 64); err == nil {
				return dataelement.Decimal(hours)
			}
		}
	}
	return value{}
}

func parsedMoment(text string) value {
	if moment, err := civil.ParseDateTime(text); err == nil {
		return dataelement.Moment(int64(moment.Date)*civil.SecondsPerDay + int64(moment.Seconds))
	}
	return value{}
}

func contactElements() []entry {
	out := []entry{
		{
			Key: "PEOPLE_EMAIL", Label: "Email", Doc: "The email address; that of work when there are several.", Type: dataelement.String, Categories: employee, Needs: needEmail,
			Value: func(p *person, _ at) value {
				if d := findNamed(p.email, "Work"); d != nil {
					return dataelement.Text(d.texts[1])
				}
				if len(p.email) > 0 {
					return dataelement.Text(p.email[0].texts[1])
				}
				return value{}
			},
		},
		{
			Key: "PEOPLE_PHONE_NUMBER", Label: "Phone number", Doc: "A phone number.", Type: dataelement.String, Categories: employee, Needs: needBody,
			Properties: []dataelement.Property{{Key: "TYPE", Doc: "The contact type, \"Phone 1\"."}},
			Value: func(p *person, at at) value {
				for _, t := range p.body.GetPersonInformation().GetTelephoneNumbers() {
					if strings.EqualFold(t.GetContactTypeName(), at.Properties["TYPE"]) {
						return dataelement.Text(t.GetPhoneNumber())
					}
				}
				return value{}
			},
		},
	}
	for _, part := range []struct {
		key, label string
		of         func(*commonsv1.PostalAddress) string
	}{
		{"CITY", "City", (*commonsv1.PostalAddress).GetCity},
		{"COUNTRY", "Country", (*commonsv1.PostalAddress).GetCountry},
		{"STATE", "State", (*commonsv1.PostalAddress).GetState},
		{"STREET", "Street", (*commonsv1.PostalAddress).GetStreet},
		{"ZIPCODE", "Postal code", (*commonsv1.PostalAddress).GetPostalCode},
	} {
		out = append(out, addressElement(part.key, part.label, "Home", part.of), addressElement(part.key, part.label, "Work", part.of))
	}
	return out
}

func addressElement(key, label, kind string, part func(*commonsv1.PostalAddress) string) entry {
	return entry{
		Key: "PEOPLE_ADDRESS_" + key + "_" + strings.ToUpper(kind), Label: label + ", " + strings.ToLower(kind),
		Doc: "Of the address with the contact type " + kind + ".", Type: dataelement.String, Categories: employee, Needs: needBody,
		Value: func(p *person, _ at) value {
			for _, a := range p.body.GetPersonInformation().GetPostalAddresses() {
				if strings.EqualFold(a.GetContactTypeName(), kind) {
					return dataelement.Text(part(a))
				}
			}
			return value{}
		},
	}
}

// adoptFullTime lists the full-time equivalents of a person as reads of the person do.
func adoptFullTime(p *person) {
	if details := p.body.GetPersonInformation().GetPerson(); details != nil {
		if p.hireDate != nil {
			details.HireDate = p.hireDate.String()
		}
		(&record.Record{Message: p.body}).AdoptFullTime()
	}
}

// accrualProfiles returns the dated accrual profiles of a person.
func accrualProfiles(p *person) []dated {
	details := p.body.GetPersonInformation().GetPerson()
	if n := len(p.accrual); n > 0 && p.accrual[n-1].texts[0] == details.GetAccrualProfileName() {
		return p.accrual
	}
	return formerAccrualProfile(p, proto.CloneOf(details))
}

// formerAccrualProfile returns the accrual profiles of a person whom a program of the release before
// has written.
func formerAccrualProfile(p *person, details *commonsv1.PersonDetails) (out []dated) {
	r := &record.Record{Message: &commonsv1.Person{PersonInformation: &commonsv1.PersonInformation{Person: details}}}
	for _, d := range p.accrual {
		r.AccrualProfiles = append(r.AccrualProfiles, &commonsv1.ExtensionAccrualProfile{
			AccrualProfileName: d.texts[0], EffectiveDate: d.days.From.String(), ExpirationDate: d.days.To.String(),
		})
	}
	r.AdoptAccrualProfile()
	for _, profile := range r.AccrualProfiles {
		out = append(out, dated{days: record.CheckedRange(record.EffectiveDates(profile)), texts: [5]string{profile.GetAccrualProfileName()}})
	}
	return out
}
