package schedulerule

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// properties are the names of things whose ids count from 1.
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

// find returns the id of what is named by an id or, without one, by a name.
func (p *properties) find(given *schedulingv1.ScheduleRuleProperty) (int64, bool) {
	if given.GetId() != 0 {
		return given.GetId(), p.message(given.GetId()) != nil
	}
	i := slices.IndexFunc(p.names, func(name string) bool { return strings.EqualFold(name, given.GetName()) })
	return int64(i + 1), i >= 0
}

// Severity is what the API says of a severity.
func Severity(id int64) *schedulingv1.ScheduleRuleProperty { return severities.message(id) }

// FindSeverity returns the id of the severity that is named.
func FindSeverity(given *schedulingv1.ScheduleRuleProperty) (int64, bool) {
	return severities.find(given)
}

// Severities names all severities, for messages.
func Severities() string { return strings.Join(severities.names, ", ") }

// RuleType is what the API says of a type of rule sets.
func RuleType(id int64) *schedulingv1.ScheduleRuleProperty { return ruleTypes.message(id) }

// FindRuleType returns the id of the type of rule sets that is named.
func FindRuleType(given *schedulingv1.ScheduleRuleProperty) (int64, bool) {
	return ruleTypes.find(given)
}

// RuleTypes names all types of rule sets, for messages.
func RuleTypes() string { return strings.Join(ruleTypes.names, ", ") }

// operator says how what is measured must be to a value.
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

// types are those of parameters, by id from 1.
var types = []struct {
	name, label string
	unit        string
	hours       bool
	compared    operator
}{
	{"MAX_HOURS", "Most hours", "Hours", true, atMost},
	{"MIN_HOURS", "Least hours", "Hours", true, atLeast},
	{"MAX_DAYS", "Most days", "Days", false, atMost},
	{"MAX_NIGHTS", "Most nights", "Nights", false, atMost},
	{"AGE", "Below the age of", "Years", false, below},
}

var units = []string{"Hours", "Days", "Nights", "Years"}

// ParameterType is what the API says of a type of parameters.
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

// FindParameterType returns the id of the type of parameters that is named by an id
// or, without one, by a name.
func FindParameterType(given *schedulingv1.ScheduleRuleParameterType) (int64, bool) {
	if given.GetId() != 0 {
		return given.GetId(), ParameterType(given.GetId()) != nil
	}
	for i, t := range types {
		if strings.EqualFold(t.name, given.GetName()) {
			return int64(i + 1), true
		}
	}
	return 0, false
}
