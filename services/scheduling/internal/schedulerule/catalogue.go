// Package schedulerule defines the rules for schedules and their parameters. It does no I/O.
package schedulerule

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// The ids of the rules. They never change.
const (
	MaxHoursDay int64 = iota + 1
	MaxHoursWeek
	MaxDaysInRow
	MaxDaysWeek
	MinRestBetweenShifts
	MinRestWeek
	MaxHoursNight
	MaxNightsInRow
	MinorMaxHoursDay
	MinorMaxHoursWeek
	MinorNoNightWork
)

// The ids of the types of parameters. They never change.
const (
	MaxHours int64 = iota + 1
	MinHours
	MaxDays
	MaxNights
	Age
)

// The ids of the severities, in ascending order of severity. They never change.
const (
	Informational int64 = iota + 1
	Warning
	Error
)

// The ids of the types of rule sets. They never change.
const (
	Organization int64 = iota + 1
	Employee
)

// maxDays limits parameters that count days or nights.
const maxDays = 31

// Parameter is a parameter of a rule.
type Parameter struct {
	// Type is the id of the parameter type.
	Type int64
	// Default is the value of a parameter that is not given.
	Default, Minimum, Maximum float64
}

// Rule is a rule for schedules.
type Rule struct {
	ID         int64
	Name       string
	label      string
	category   int64
	Parameters []Parameter
}

func hours(kind int64, usual, most float64) Parameter { return Parameter{kind, usual, 0, most} }

func days(kind int64, usual, most float64) Parameter { return Parameter{kind, usual, 1, most} }

func minors() Parameter { return Parameter{Age, 18, 1, 100} }

// Rules returns all rules by id.
func Rules() []Rule {
	return []Rule{
		{MaxHoursDay, "ERULE_MAX_HOURS_DAY", "Most hours a day", categoryHours, []Parameter{hours(MaxHours, 10, 24)}},
		{MaxHoursWeek, "ERULE_MAX_HOURS_WK", "Most hours a week", categoryHours, []Parameter{hours(MaxHours, 48, 168)}},
		{MaxDaysInRow, "ERULE_MAX_DAYS_ROW", "Most days in a row", categoryDays, []Parameter{days(MaxDays, 6, maxDays)}},
		{MaxDaysWeek, "ERULE_MAX_DAYS_WK", "Most days a week", categoryDays, []Parameter{days(MaxDays, 6, 7)}},
		{MinRestBetweenShifts, "ERULE_MIN_REST_SHIFTS", "Least rest between shifts", categoryRest, []Parameter{hours(MinHours, 11, 168)}},
		{MinRestWeek, "ERULE_MIN_REST_WK", "Least unbroken rest a week", categoryRest, []Parameter{hours(MinHours, 35, 168)}},
		{MaxHoursNight, "ERULE_MAX_HOURS_NIGHT", "Most hours a night", categoryNight, []Parameter{hours(MaxHours, 8, 24)}},
		{MaxNightsInRow, "ERULE_MAX_NIGHTS_ROW", "Most nights in a row", categoryNight, []Parameter{days(MaxNights, 5, maxDays)}},
		{MinorMaxHoursDay, "ERULE_MINOR_MAX_HOURS_DAY", "Most hours a day for minors", categoryMinors, []Parameter{hours(MaxHours, 8, 24), minors()}},
		{MinorMaxHoursWeek, "ERULE_MINOR_MAX_HOURS_WK", "Most hours a week for minors", categoryMinors, []Parameter{hours(MaxHours, 40, 168), minors()}},
		{MinorNoNightWork, "ERULE_MINOR_NIGHT", "No night work for minors", categoryMinors, []Parameter{minors()}},
	}
}

// Find returns the rule with an id, or, when the id is 0, with a name.
func Find(id int64, name string) (Rule, bool) {
	all := Rules()
	i := slices.IndexFunc(all, func(r Rule) bool {
		return id != 0 && r.ID == id || id == 0 && strings.EqualFold(r.Name, name)
	})
	if i < 0 {
		return Rule{}, false
	}
	return all[i], true
}

// Parameter returns the parameter of a type.
func (r *Rule) Parameter(kind int64) (Parameter, bool) {
	i := slices.IndexFunc(r.Parameters, func(p Parameter) bool { return p.Type == kind })
	if i < 0 {
		return Parameter{}, false
	}
	return r.Parameters[i], true
}

// Check returns the reason why a value is not allowed for the parameter, or "".
func (p Parameter) Check(value float64) string {
	switch {
	case !(value >= p.Minimum && value <= p.Maximum):
		return fmt.Sprintf("must be from %g to %g", p.Minimum, p.Maximum)
	case !types[p.Type-1].hours && value != float64(int64(value)):
		return "must be a whole number"
	}
	return ""
}

// Message returns the rule for responses.
func (r *Rule) Message() *schedulingv1.ScheduleRule {
	out := &schedulingv1.ScheduleRule{
		Id: proto.Int64(r.ID), Name: r.Name, LocalizedName: r.label,
		RuleType: ruleTypes.message(Employee), RuleCategory: categories.message(r.category), RuleSeverity: severities.message(Warning),
		RuleWeight:                &schedulingv1.ScheduleRuleWeight{Id: proto.Int64(1), Name: "Medium", WeightNumber: proto.Int32(1)},
		DayOfWeekOverridesAllowed: proto.Bool(false), NoSaveSeverityAllowed: proto.Bool(true),
	}
	for i, p := range r.Parameters {
		out.RuleParameters = append(out.RuleParameters, &schedulingv1.ScheduleRuleParameter{
			Id: proto.Int64(int64(i + 1)), RuleParameterType: ParameterType(p.Type), RuleOperatorType: types[p.Type-1].operator.message(),
			DefaultValue: &p.Default, Minimum: &p.Minimum, Maximum: &p.Maximum,
		})
	}
	return out
}
