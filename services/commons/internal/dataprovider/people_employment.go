package dataprovider

import (
	"encoding/base64"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

func employmentElements() []entry {
	status := func(p *person) []dated { return p.status }
	payRule := func(p *person) []dated { return p.payRule }
	wage := func(p *person) []dated { return p.wage }
	method := func(p *person) []dated { return p.timeEntry }
	return []entry{
		{
			Key: "PEOPLE_HIRE_DATE", Label: "Hire date", Doc: "The day of hiring.", Type: dataelement.Date, Categories: employee,
			Value: func(p *person, _ at) value { return dayValue(p.hireDate) },
		},
		{
			Key: "PEOPLE_SENIORITY_DATE", Label: "Seniority date", Doc: "The day from which seniority counts.", Type: dataelement.Date, Categories: employee,
			Value: func(p *person, _ at) value { return dayValue(p.seniorityDate) },
		},
		{
			Key: "PEOPLE_YEARS_OF_SERVICE", Label: "Years of service", Doc: "Whole years from the hire date to the last day.",
			Type: dataelement.Long, Categories: employee, Series: true, Value: yearsOfService,
		},
		textOn("PEOPLE_EMP_STATUS", "Employment status", "Active, Inactive or Terminated, on the last day.", needStatus, status, 0),
		sinceOn("PEOPLE_EMPLOYMENT_STATUS_DATE", "Employment status since", "Since when the employment has its status.", needStatus, status),
		textOn("PEOPLE_PAYRULE", "Pay rule", "The pay rule on the last day.", needPayRule, payRule, 0),
		sinceOn("PEOPLE_PAYRULE_EFFECTIVE_DATE", "Pay rule since", "The first day of the pay rule.", needPayRule, payRule),
		{
			Key: "PEOPLE_BASE_WAGE", Label: "Base wage", Doc: "The wage of an hour on the last day.", Type: dataelement.Number, Categories: employee,
			Series: true, Wage: true, Needs: needWage, Value: func(p *person, at at) value {
				if d := on(p.wage, at.Last()); d != nil {
					return dataelement.Decimal(d.amount)
				}
				return value{}
			},
		},
		ofWages(sinceOn("PEOPLE_BASE_WAGE_EFFECTIVE_DATE", "Base wage since", "The first day of the base wage.", needWage, wage)),
		column("PEOPLE_WORKER_TYPE", "Worker type", "The worker type.", textWorkerType),
		textOn("PEOPLE_HOME_LABOR_CATEGORY", "Home labor category", "The labor category of the primary job.", needLabor, labor, 1),
		{
			Key: "PEOPLE_HOME_COST_CENTER", Label: "Home cost center", Doc: "The cost center of the primary job's place in the business structure.",
			Type: dataelement.String, Categories: employee, Series: true, Needs: needCostCenter, Value: costCenter,
		},
		column("PEOPLE_MANAGER_PERSON_NUMBER", "Manager number", "The person number of the manager.", textSupervisor),
		{
			Key: "PEOPLE_MANAGER_NAME", Label: "Manager name", Doc: "The name of the manager.", Type: dataelement.String, Categories: employee, Needs: needManager,
			Value: func(p *person, _ at) value {
				if p.managerName == nil {
					return value{}
				}
				return dataelement.Text(*p.managerName)
			},
		},
		column("PEOPLE_TIME_ZONE", "Time zone", "The time zone of the person, as IANA calls it.", textTimeZone),
		column("PEOPLE_SCHEDULE_GROUP", "Schedule group", "The schedule group.", textScheduleGroup),
		column("PEOPLE_DEVICE_GROUP", "Device group", "The group of devices that the person uses.", textDeviceGroup),
		textOn("PEOPLE_TIME_ENTRY_METHOD", "Time entry method", "How the person enters time, on the last day.", needTimeEntry, method, 0),
		sinceOn("PEOPLE_TIME_ENTRY_METHOD_DATE", "Time entry method since", "The first day of the time entry method.", needTimeEntry, method),
	}
}

// costCenter reads the cost center from the encoded body of the location.
func costCenter(p *person, at at) value {
	d := on(p.costCenter, at.Last())
	if d == nil {
		return value{}
	}
	place := &commonsv1.Location{}
	body, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(d.texts[0], "\n", ""))
	if err != nil || proto.Unmarshal(body, place) != nil {
		return value{} // Unreachable: only SQL and this package write and read the body.
	}
	return dataelement.Text(place.GetCostCenterRef().GetQualifier())
}

func yearsOfService(p *person, at at) value {
	if p.hireDate == nil || *p.hireDate > at.Last() {
		return value{}
	}
	year, month, day := p.hireDate.Civil()
	lastYear, lastMonth, last := at.Last().Civil()
	years := lastYear - year
	if lastMonth < month || lastMonth == month && last < day {
		years--
	}
	return dataelement.Whole(int64(years))
}

func accessElements() []entry {
	access := func(p *person) []dated { return p.access }
	body := func(key, label, doc string, text func(*commonsv1.AccessAssignment) string) entry {
		return entry{
			Key: key, Label: label, Doc: doc, Type: dataelement.String, Categories: employee, Needs: needBody,
			Value: func(p *person, _ at) value {
				return dataelement.Text(text(p.body.GetPersonInformation().GetAccessAssignment()))
			},
		}
	}
	return []entry{
		column("PEOPLE_LOGON_PROFILE", "Logon profile", "The logon profile.", textLogonProfile),
		column("PEOPLE_NOTIFICATION_PROFILE", "Notification profile", "The notification profile.", textNotificationProfile),
		column("PEOPLE_LOCALE_POLICY", "Locale policy", "The locale policy.", textLocalePolicy),
		column("PEOPLE_DELEGATE_PROFILE", "Delegate profile", "The delegate profile.", textDelegateProfile),
		textOn("PEOPLE_HOME_HYPERFIND", "Home hyperfind", "The query that the person begins with.", needAccess, access, 0),
		textOn("PEOPLE_MANAGER_JOB_TRANSFER_SET", "Manager job transfer set", "Where the person may transfer employees to.", needAccess, access, 2),
		textOn("PEOPLE_EMPLOYEE_JOB_TRANSFER_SET", "Employee job transfer set", "Where the person may be transferred to.", needAccess, access, 3),
		textOn("PEOPLE_EMPLOYEE_MANAGER_JOB_TRANSFER_SET", "Employee manager job transfer set",
			"Where the manager may transfer the person to.", needAccess, access, 4),
		textOn("PEOPLE_GROUP_DATA_ACCESS", "Group data access profile", "The group data access profile on the last day; the first of several.",
			needGroups, func(p *person) []dated { return p.groups }, 0),
		body("PEOPLE_EMPLOYEE_LABOR_CATEGORY", "Employee labor category profile", "The labor category profile of the person.",
			(*commonsv1.AccessAssignment).GetEmployeeLaborCategoryProfileName),
		body("PEOPLE_MANAGER_LABOR_CATEGORY", "Manager labor category profile", "The labor category profile of the person as a manager.",
			(*commonsv1.AccessAssignment).GetManagerLaborCategoryProfileName),
		body("PEOPLE_MANAGER_PAY_CODE", "Manager pay code profile", "The pay codes that the person may edit as a manager.",
			(*commonsv1.AccessAssignment).GetManagerPayCodeName),
		body("PEOPLE_MANAGER_WORK_RULE", "Manager work rule profile", "The work rules that the person may use as a manager.",
			(*commonsv1.AccessAssignment).GetManagerWorkRuleName),
		body("PEOPLE_EMPLOYEE_PAY_CODE", "Employee pay code profile", "The pay codes that the person may edit.",
			(*commonsv1.AccessAssignment).GetProfessionalPayCodeName),
		body("PEOPLE_EMPLOYEE_WORK_RULE", "Employee work rule profile", "The work rules that the person may use.",
			(*commonsv1.AccessAssignment).GetProfessionalWorkRuleName),
		body("PEOPLE_SCHEDULE_PATTERN", "Schedule pattern profile", "The schedule patterns that the person may use.",
			(*commonsv1.AccessAssignment).GetSchedulePatternName),
		{
			Key: "PEOPLE_CAN_APPROVE_OVERTIME_REQUESTS", Label: "Approves overtime", Doc: "Whether the person may approve overtime.",
			Type: dataelement.Boolean, Categories: employee, Needs: needBody, Value: func(p *person, _ at) value {
				if a := p.body.GetPersonInformation().GetAccessAssignment(); a != nil {
					return optionalBool(a.ApproveOvertimeflag)
				}
				return value{}
			},
		},
		{
			Key: "PEOPLE_CAN_TRANSFER_EMPLOYEES", Label: "Transfers employees", Doc: "Whether the person may transfer employees.",
			Type: dataelement.Boolean, Categories: employee, Needs: needBody, Value: func(p *person, _ at) value {
				if a := p.body.GetPersonInformation().GetAccessAssignment(); a != nil {
					return optionalBool(a.TransferEmployeeFlag)
				}
				return value{}
			},
		},
		{
			Key: "PEOPLE_AUTH_TYPE", Label: "Authentication types", Doc: "How the person may log in, with commas between.",
			Type: dataelement.String, Categories: employee, Needs: needBody, Value: func(p *person, _ at) value {
				var names []string
				for _, a := range p.body.GetPersonInformation().GetPersonAuthenticationTypes() {
					if a.GetActiveFlag() {
						names = append(names, a.GetAuthenticationTypeName())
					}
				}
				return dataelement.Text(strings.Join(names, ", "))
			},
		},
		{
			Key: "PEOPLE_LICENSES", Label: "Licenses", Doc: "The active licenses, with commas between.",
			Type: dataelement.String, Categories: employee, Needs: needBody, Value: func(p *person, _ at) value {
				var names []string
				for _, l := range p.body.GetPersonInformation().GetPersonLicenseTypes() {
					if l.GetActiveFlag() {
						names = append(names, l.GetLicenseTypeName())
					}
				}
				return dataelement.Text(strings.Join(names, ", "))
			},
		},
	}
}

// optionalBool returns the value of a flag that may be unset.
func optionalBool(flag *bool) value {
	if flag == nil {
		return value{}
	}
	return dataelement.Bool(*flag)
}
