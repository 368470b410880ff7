package schedulerule

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// properties are named values whose ids count from 1.
type properties struct {
	class string
	names []string
}

const (
	categoryHours int64 = iota + 1
	categoryDays
	categoryRest
	categoryNight
	categoryMinors
)

var (
	severities = properties{"RuleSeverity", []string{"Informational", "Warning", "Error"}}
	ruleTypes  = properties{"RuleType", []string{"Organization", "Employee"}}
	categories = properties{"RuleCategory", []string{"Hours", "Days", "Rest", "Night", "Minors"}}
)

func (p *properties) message(id int64) *schedulingv1.ScheduleRuleProperty {
	if id < 1 || id > int64(len(p.names)) {
		return nil
	}
	name := p.names[id-1]
	return &schedulingv1.ScheduleRuleProperty{Id: proto.Int64(id), Name: name, LocalizedName: name, ClassName: p.class}
}

// find returns the id of the value with an id or, without one, with a name.
func (p *properties) find(ref *schedulingv1.ScheduleRuleProperty) (int64, bool) {
	if ref.GetId() != 0 {
		return ref.GetId(), p.message(ref.GetId()) != nil
	}
	i := slices.IndexFunc(p.names, func(name string) bool { return strings.EqualFold(name, ref.GetName()) })
	return int64(i + 1), i >= 0
}

// Severity returns a severity for responses.
func Severity(id int64) *schedulingv1.ScheduleRuleProperty { return severities.message(id) }

// FindSeverity returns the id of a severity.
func FindSeverity(ref *schedulingv1.ScheduleRuleProperty) (int64, bool) {
	return severities.find(ref)
}

// Severities lists the names of all severities, for messages.
func Severities() string { return strings.Join(severities.names, ", ") }

// RuleType returns a type of rule sets for responses.
func RuleType(id int64) *schedulingv1.ScheduleRuleProperty { return ruleTypes.message(id) }

// FindRuleType returns the id of a type of rule sets.
func FindRuleType(ref *schedulingv1.ScheduleRuleProperty) (int64, bool) {
	return ruleTypes.find(ref)
}

// RuleTypes lists the names of all types of rule sets, for messages.
func RuleTypes() string { return strings.Join(ruleTypes.names, ", ") }

// operator compares a measured value with a limit.
type operator int64

const (
	atMost operator = iota + 1
	atLeast
	below
)

func (o operator) message() *schedulingv1.ScheduleRuleOperator {
	text := [...]struct{ name, sign string }{{"At most", "<="}, {"At least", ">="}, {"Below", "<"}}[o-1]
	return &schedulingv1.ScheduleRuleOperator{Id: proto.Int64(int64(o)), Name: text.name, Operator: text.sign}
}

// types are the types of parameters, by id from 1.
var types = []struct {
	name, label string
	unit        string
	hours       bool
	operator    operator
}{
	{"MAX_HOURS", "Most hours", "Hours", true, atMost},
	{"MIN_HOURS", "Least hours", "Hours", true, atLeast},
	{"MAX_DAYS", "Most days", "Days", false, atMost},
	{"MAX_NIGHTS", "Most nights", "Nights", false, atMost},
	{"AGE", "Below the age of", "Years", false, below},
}

var units = []string{"Hours", "Days", "Nights", "Years"}

// ParameterType returns a type of parameters for responses.
func ParameterType(id int64) *schedulingv1.ScheduleRuleParameterType {
	if id < 1 || id > int64(len(types)) {
		return nil
	}
	t := types[id-1]
	return &schedulingv1.ScheduleRuleParameterType{
		Id: proto.Int64(id), Name: t.name, LocalizedName: t.label,
		ParameterValueType: &schedulingv1.ScheduleRuleValueType{
			Id: proto.Int64(int64(slices.Index(units, t.unit) + 1)), Name: t.unit, TimeType: proto.Bool(t.hours),
		},
	}
}

// FindParameterType returns the id of a type of parameters, given by id or, without one, by name.
func FindParameterType(ref *schedulingv1.ScheduleRuleParameterType) (int64, bool) {
	if ref.GetId() != 0 {
		return ref.GetId(), ParameterType(ref.GetId()) != nil
	}
	for i, t := range types {
		if strings.EqualFold(t.name, ref.GetName()) {
			return int64(i + 1), true
		}
	}
	return 0, false
}
