package policy_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/rotaloom/rotaloom/pkg/policy"
	_ "github.com/rotaloom/rotaloom/proto/contracts" // Links all of them.
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// nobodys are services that write, and whose rows belong to no employee.
var nobodys = map[string]string{
	"AccrualCodeService":             "setup of a tenant, for all employees",
	"AccrualProfileService":          "setup of a tenant, for all employees",
	"ConfigurationItemService":       "setup of a tenant, for all employees",
	"ConfigurationSettingService":    "setup of a tenant, for all employees",
	"BrazilCompanyService":           "setup of a tenant, for all employees",
	"BrazilDeviceGroupService":       "setup of a tenant, for all employees",
	"DeviceGroupService":             "setup of a tenant, for all employees",
	"DeviceService":                  "setup of a tenant, for all employees",
	"EmploymentTermService":          "setup of a tenant, for all employees",
	"HolidayService":                 "setup of a tenant, for all employees",
	"JobService":                     "setup of a tenant, for all employees",
	"LeaveCustomFieldService":        "setup of a tenant, for all employees",
	"LeaveProfileService":            "setup of a tenant, for all employees",
	"LeaveRuleService":               "setup of a tenant, for all employees",
	"LeaveTypeService":               "setup of a tenant, for all employees",
	"LocationService":                "setup of a tenant, for all employees",
	"LocationSetService":             "setup of a tenant, for all employees",
	"LocationTypeService":            "setup of a tenant, for all employees",
	"PayCodeService":                 "setup of a tenant, for all employees",
	"PayRuleService":                 "setup of a tenant, for all employees",
	"RequestSubtypeService":          "setup of a tenant, for all employees",
	"ScheduleGroupService":           "setup of a tenant, for all employees",
	"SchedulePatternTemplateService": "setup of a tenant, for all employees",
	"ScheduleRuleSetService":         "setup of a tenant, for all employees",
	"SandboxService":                 "the clock of a tenant for tests, for all employees",
	"TagDefinitionService":           "setup of a tenant, for all employees",
	"TargetThresholdService":         "setup of a tenant, for all employees",
	"WorkRuleService":                "setup of a tenant, for all employees",
	"BrazilDeviceService":            "devices, and their files: a file is kept as the device signed it, and affects no pay",
	"ClientService":                  "clients are not persons",
	"DeviceCredentialsService":       "credentials of devices, which are not persons",
	"GenericNotificationService":     "texts of messages",
	"HyperfindProfileService":        "which queries users may use",
	"HyperfindService":               "queries, which show no more persons than their users see",
	"IdentityProviderService":        "the issuers of users' tokens",
	"CandidateListService":           "data of candidates, who are not employees yet",
	"PersonalDataService":            "data of candidates; the data of employees stays as it is",
	"AssessmentService":              "assessments of candidates, who are not employees yet",
	"ApplicationService":             "applications, which belong to candidates",
	"DispositionService":             "the steps of applications, which belong to candidates",
	"BackgroundCheckService":         "background checks of candidates, who are not employees yet",
	"OfferService":                   "offers, which belong to candidates",
	"OpportunityService":             "requisitions, which belong to no employee",
	"MessagingService":               "it sends messages, and changes nothing of those who get them",
	"RateLimitService":               "how often clients may call",
	"ShiftTemplateService":           "its shifts belong to no employee; reads name employees",
	"UserService":                    "it takes wrong passwords off a name, for users who log in",
	"WebhookService":                 "where events are sent",
}

// named lists the services of this kind whose requests still name employees. They name the
// recipients of messages or the employees to show, and write no rows of employees.
var named = []string{"MessagingService", "ShiftTemplateService", "HyperfindService"}

// namesAnEmployee matches the fields that name an employee in requests.
var namesAnEmployee = regexp.MustCompile(`^(employee|employees|employee_refs?|employee_ids?|emp_no|person|persons|person_(id|key|number|identity)|delegate|delegator)$`)

// Every operation that writes says whether callers may use it for their own record, except
// operations of services whose rows belong to no employee.
func TestOperationsSayWhetherTheyWriteToTheCallersRecord(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	eachMethod(func(m protoreflect.MethodDescriptor, opts *optionsv1.Method) {
		if opts.GetInternal() || !strings.HasSuffix(opts.GetPermission(), ".write") {
			assert.Nil(t, opts.GetOwnRecord(), "%s does not write", m.FullName())
			return
		}
		service := string(m.Parent().Name())
		own := opts.GetOwnRecord()
		if _, listed := nobodys[service]; listed {
			used[service] = true
			assert.Nil(t, own, "%s: the service is listed", m.FullName())
			if slices.Contains(named, service) {
				return
			}
			assert.Empty(t, fieldsBelow(m.Input(), func(f protoreflect.FieldDescriptor) bool { return namesAnEmployee.MatchString(string(f.Name())) }),
				"%s names employees", m.FullName())
			return
		}
		assert.NotEqual(t, len(own.GetActions()) > 0, own.GetAllowed() != "",
			"%s: say in own_record which actions it refuses on the caller's own record, or why callers may use it there", m.FullName())
	})
	for service := range nobodys {
		assert.True(t, used[service], "%s is listed, and has no operation that writes", service)
	}
}

// soundsLikeAWage matches the names of fields that may hold a wage.
var soundsLikeAWage = regexp.MustCompile(`wage|salary|money|amount|(^|_)rate\d*$|compensation`)

// noWages lists fields, by a part of their full names, whose names sound as if they held a wage.
var noWages = map[string]string{
	"CurrencyAmount.amount":                               "money that a user entered for a day, not a wage",
	"EmployeePayCodeEdit.amount":                          "an entered edit, which may be money",
	"GrantedLeaveType.amount":                             "hours",
	"LeaseRateResponse.rate":                              "requests a second",
	"LeaveGrant.amount":                                   "hours",
	"MinimumWage.amount":                                  "a rule of an employment term, for all employees",
	"Opportunity.compensation":                            "the offered pay, which belongs to no employee",
	"OpportunityCompensation.pay_rate":                    "the offered pay, which belongs to no employee",
	"HireDetails.compensation":                            "the offered pay, which belongs to no employee",
	"HireCompensation.pay_rate":                           "the offered pay, which belongs to no employee",
	"PayCode.money":                                       "whether a pay code holds money",
	"PayCodeAmount.money":                                 "money that a user entered for a day, not a wage",
	"PayRuleVersion.regular_rate":                         "how the rate of overtime is found, for all employees",
	"PersonWageWorkRules.effective_dated_wage_work_rules": "wages stand in it",
	"RateAllowance.rate":                                  "requests a second",
	"RateLimit.rate":                                      "requests a second",
	"ReadPersonPayRequest.wages":                          "whether wages are asked for",
	"TermDayPaycode.amount":                               "a rule of an employment term, for all employees",
	"WorkHourDefinition.amount":                           "a rule of an employment term, for all employees",
	"WorkedTimeTotal.money":                               "money that a user entered for a day, not a wage",
	"amount_from":                                         "a word",
	"amount_in_seconds":                                   "time",
	"amount_type":                                         "a word",
	"available_balance_in_money":                          "a balance, which is never filled in",
	"delete_base_wage":                                    "whether it goes",
	"next_salary_review_date":                             "a day",
	"days_amount":                                         "days",
	"default_symbolic_amounts":                            "parts of a day",
	"due_date_amount":                                     "days",
	"grant_amount":                                        "hours or days of a balance",
	"hours_amount":                                        "hours",
	"include_base_wages":                                  "whether wages are asked for",
	"minimum_wage":                                        "a rule of an employment term, for all employees",
	"money_amount":                                        "money that a user entered for a day, not a wage",
	"money_currency_amount":                               "money that a user entered for a day, not a wage",
	"override_accrual_amount":                             "hours or days of a balance",
	"raw_wage":                                            "whether wages are asked for",
	"resident_state_total_allowances_claimed_currency_amount": "a tax allowance",
	"symbolic_amount":       "a part of a day",
	"target_amount_type":    "a word",
	"unavailability_amount": "time",
	"unavailable_amount":    "time",
	"vested_hours_amount":   "hours of a balance",
	"wage_addition":         "a rule of a pay code, for all employees",
	"wage_multiplier":       "a rule of a pay code, for all employees",
	"wage_work_rules":       "wages stand in it",
	"work_state_total_allowances_claimed_currency_amount": "a tax allowance",
}

// Every field that may hold a wage says so, or is listed with the reason why it does not.
func TestWagesAreDeclared(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		if strings.HasPrefix(string(file.Package()), "rotaloom.") && file.Package() != "rotaloom.options.v1" {
			eachMessage(file.Messages(), func(m protoreflect.MessageDescriptor) {
				for i := range m.Fields().Len() {
					f := m.Fields().Get(i)
					reason := reasonFor(f, used)
					declared := proto.GetExtension(f.Options(), optionsv1.E_Field).(*optionsv1.Field).GetWage()
					if soundsLikeAWage.MatchString(string(f.Name())) {
						assert.NotEqual(t, declared, reason, "%s: mark it (wage: true), or list why it is none", f.FullName())
					}
				}
			})
		}
		return true
	})
	for part := range noWages {
		assert.True(t, used[part], "%s is listed, but is not a field that sounds like a wage", part)
	}
}

func reasonFor(f protoreflect.FieldDescriptor, used map[string]bool) bool {
	for part := range noWages {
		if strings.HasSuffix("."+string(f.FullName()), "."+part) && soundsLikeAWage.MatchString(string(f.Name())) {
			used[part] = true
			return true
		}
	}
	return false
}

func eachMethod(do func(protoreflect.MethodDescriptor, *optionsv1.Method)) {
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for k := range methods.Len() {
				if proto.HasExtension(methods.Get(k).Options(), optionsv1.E_Method) {
					do(methods.Get(k), proto.GetExtension(methods.Get(k).Options(), optionsv1.E_Method).(*optionsv1.Method))
				}
			}
		}
		return true
	})
}

func eachMessage(list protoreflect.MessageDescriptors, do func(protoreflect.MessageDescriptor)) {
	for i := range list.Len() {
		do(list.Get(i))
		eachMessage(list.Get(i).Messages(), do)
	}
}

// fieldsBelow returns the fields of a message, and of all below it, that a condition chooses.
func fieldsBelow(m protoreflect.MessageDescriptor, chosen func(protoreflect.FieldDescriptor) bool) []protoreflect.FullName {
	var found []protoreflect.FullName
	seen := map[protoreflect.FullName]bool{}
	var visit func(protoreflect.MessageDescriptor)
	visit = func(m protoreflect.MessageDescriptor) {
		if seen[m.FullName()] {
			return
		}
		seen[m.FullName()] = true
		for i := range m.Fields().Len() {
			f := m.Fields().Get(i)
			if chosen(f) {
				found = append(found, f.FullName())
			}
			if f.Message() != nil {
				visit(f.Message())
			}
		}
	}
	visit(m)
	return found
}

func TestActionsOnOnesOwnRecordHaveNames(t *testing.T) {
	t.Parallel()
	actions := policy.NewTable(nil).OwnRecordActions()
	assert.Contains(t, actions, "timekeeping.timecard_signoff")
	for _, action := range actions {
		assert.Regexp(t, `^[a-z]+\.[a-z_]+$`, action)
	}
}
