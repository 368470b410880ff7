package seed

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"
)

const (
	persons = 2000
	// batch is the largest number of persons in one call.
	batch = 100
	// The first employees have log-ins, and more of them record their time with punches.
	employeesWithLogin = 8
	punching           = 500
	// elsewhere is the pay rule of the employees that record their time in another system.
	elsewhere = "Recorded elsewhere"
	// One of ten persons works four days of five.
	partTimeEvery = 10
	// wageSteps is the number of different wages at a site, which are five percent apart.
	wageSteps = 5
	// firstBadge is the number of the badge of the first person.
	firstBadge = 100001
	multiple   = "/v1/commons/persons/multi_"
)

//go:embed people.json
var peopleJSON []byte

// people are the names of the employees, and the staff that does not work by a rotation.
type people struct {
	FirstNames []string `json:"firstNames"`
	LastNames  []string `json:"lastNames"`
	Staff      []member `json:"staff"`
}

// member is a person of the staff, with a log-in.
type member struct {
	Number        string `json:"number"`
	FirstName     string `json:"firstName"`
	LastName      string `json:"lastName"`
	Site          int    `json:"site"`
	Username      string `json:"username"`
	AccessProfile string `json:"accessProfile"`
	// Group is the employee group of a manager.
	Group string `json:"group"`
}

func readPeople() (people, error) {
	var p people
	if err := json.Unmarshal(peopleJSON, &p); err != nil {
		return p, fmt.Errorf("people.json: %w", err)
	}
	return p, nil
}

func personNumber(i int) string { return fmt.Sprintf("D-%04d", i+1) }

// username returns the user name of an employee.
func username(i int) string { return fmt.Sprintf("employee%d", i+1) }

// employeeSite returns the site of an employee.
func employeeSite(i int) site { return sites[i%len(sites)] }

// managerUsername returns the user name of an employee's manager.
func (p people) managerUsername(i int) string { return p.Staff[i%len(sites)].Username }

// createPeople creates the staff and the employees. Persons that an earlier run has created get the same content.
func createPeople(ctx context.Context, c *Client, start time.Time, password string) error {
	p, err := readPeople()
	if err != nil {
		return err
	}
	hired := iso(start.AddDate(-1, 0, 0))
	for from := 0; from < persons; from += batch {
		var employees []object
		for i := from; i < from+batch; i++ {
			employees = append(employees, p.employee(i, hired, password))
		}
		if err := upsert(ctx, c, employees); err != nil {
			return err
		}
	}
	var staff []object
	for i, m := range p.Staff {
		staff = append(staff, m.person(persons+1+i, hired, password))
	}
	return upsert(ctx, c, staff)
}

// upsert creates persons, or changes all of them if some exist.
func upsert(ctx context.Context, c *Client, items []object) error {
	err := c.call(ctx, http.MethodPost, multiple+"create", items, nil)
	if err == nil || !onlyDuplicates(err) {
		return err
	}
	for _, item := range items {
		details := item["personInformation"].(object)["person"].(object)
		item["personIdentity"] = object{"personNumber": details["personNumber"]}
	}
	return c.call(ctx, http.MethodPost, multiple+"update", items, nil)
}

// employee returns an employee with a rotation.
func (p people) employee(i int, hired, password string) object {
	at := employeeSite(i)
	item := person(personNumber(i), p.FirstNames[i%len(p.FirstNames)], p.LastNames[(i+i/len(p.FirstNames))%len(p.LastNames)], hired, at.path(job), at)
	info, assignment := item["personInformation"].(object), item["jobAssignment"].(object)
	details := info["person"].(object)
	details["accrualProfileName"], details["accrualProfileEffectiveDate"] = "Operators", hired
	details["fullTimeEquivalencies"] = fullTime(i, hired)
	info["badgeAssignments"] = []object{{"badgeNumber": fmt.Sprint(firstBadge + i), "effectiveDate": hired}}
	info["personLicenseTypes"] = licenses("Employee", "Hourly Timekeeping", "Scheduling", "Absence")
	assignment["baseWageRates"] = []object{{"hourlyRate": at.hourlyWage(i), "effectiveDate": hired}}
	work := assignment["jobAssignmentDetails"].(object)
	work["payRuleName"], work["supervisorPersonNumber"] = elsewhere, p.Staff[i%len(sites)].Number
	if i < punching {
		work["payRuleName"] = at.payRule
	}
	if i < employeesWithLogin {
		addLogin(item, username(i), "Employee", password)
	}
	return item
}

// hourlyWage returns the wage of an hour, in the currency of the site.
func (s site) hourlyWage(i int) float64 {
	return math.Round(s.wage*(100+5*float64(i%wageSteps))) / 100
}

// person returns the properties that employees and staff share.
func person(number, first, last, hired, path string, at site) object {
	return object{
		"personInformation": object{
			"person":               object{"personNumber": number, "firstName": first, "lastName": last, "hireDate": hired},
			"employmentStatusList": []object{{"employmentStatusName": "Active", "effectiveDate": hired}},
			// Clients list the persons with an active account.
			"userAccountStatusList":      []object{{"userAccountStatusName": "Active", "effectiveDate": hired}},
			"employeeCurrencyAssignment": object{"currencyCode": at.currency},
		},
		"jobAssignment": object{
			"jobAssignmentDetails": object{"timeZoneName": at.timeZone, "payRuleEffectiveDate": hired},
			"primaryLaborAccounts": []object{{"organizationPath": path, "effectiveDate": hired}},
		},
	}
}

// person returns a member of the staff. Badges are numbered by i.
func (m member) person(i int, hired, password string) object {
	at := sites[m.Site]
	item := person(m.Number, m.FirstName, m.LastName, hired, at.path(office), at)
	info := item["personInformation"].(object)
	details := info["person"].(object)
	details["accrualProfileName"], details["accrualProfileEffectiveDate"] = "Staff", hired
	details["fullTimeEquivalencies"] = fullTime(1, hired)
	info["badgeAssignments"] = []object{{"badgeNumber": fmt.Sprint(firstBadge + i), "effectiveDate": hired}}
	info["personLicenseTypes"] = licenses("Employee", "Salaried Timekeeping", "Absence")
	item["jobAssignment"].(object)["jobAssignmentDetails"].(object)["payRuleName"] = "Salaried"
	addLogin(item, m.Username, m.AccessProfile, password)
	if m.Group != "" {
		info["personLicenseTypes"] = licenses("Employee", "Salaried Timekeeping", "Absence", "Manager")
		info["personAccessAssignments"] = []object{{"managerEmployeeGroupName": m.Group, "effectiveDate": hired, "expirationDate": forever}}
	}
	return item
}

// addLogin adds a user account, and an address for messages.
func addLogin(item object, username, accessProfile, password string) {
	info := item["personInformation"].(object)
	info["accessAssignment"] = object{"accessProfileName": accessProfile}
	info["emailAddresses"] = []object{{"contactTypeName": "Work", "address": username + "@example.com", "hasEmailNotificationDelivery": true}}
	item["user"] = object{"userAccount": object{"userName": username, "userPassword": password}}
}

// fullTime returns the working hours of a week, and their part of the hours of a full-time employee.
func fullTime(i int, from string) []object {
	hours := 40
	if i%partTimeEvery == 0 {
		hours = 32
	}
	return []object{{
		"effectiveDate": from, "expirationDate": forever,
		"employeeStandardHours": hours, "fullTimeStandardHours": 40, "fullTimePercentage": hours * 100 / 40,
	}}
}

func licenses(names ...string) []object {
	var list []object
	for _, name := range names {
		list = append(list, object{"licenseTypeName": name, "activeFlag": true})
	}
	return list
}

// onlyDuplicates reports whether a bulk creation failed only because persons exist already.
func onlyDuplicates(err error) bool {
	var r *refused
	if !errors.As(err, &r) {
		return false
	}
	var failure struct {
		Details struct {
			Results []struct {
				Error *struct {
					ErrorCode string `json:"errorCode"`
				} `json:"error"`
			} `json:"results"`
		} `json:"details"`
	}
	if json.NewDecoder(bytes.NewReader(r.body)).Decode(&failure) != nil || len(failure.Details.Results) == 0 {
		return false
	}
	for _, result := range failure.Details.Results {
		if result.Error != nil && result.Error.ErrorCode != notUnique {
			return false
		}
	}
	return true
}
