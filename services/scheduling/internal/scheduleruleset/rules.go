package scheduleruleset

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulerule"
)

// What a rule set has that does not say otherwise.
const (
	usualNightStart = civil.TimeOfDay(23 * 3600)
	usualNightEnd   = civil.TimeOfDay(6 * 3600)
)

// prepare checks a rule set and sets the defaults.
func prepare(_ string, s *ruleSet) (*ruleSet, error) {
	if s.Active == nil {
		s.Active = proto.Bool(true)
	}
	s.UseActualHours = proto.Bool(s.GetUseActualHours())
	id, err := typeOf("ruleType", s.GetRuleType())
	if err != nil {
		return nil, err
	}
	s.RuleType = schedulerule.RuleType(id)
	if err := prepareTimes(s); err != nil {
		return nil, err
	}
	for i, r := range s.GetRules() {
		if s.Rules[i], err = prepareRule(fmt.Sprintf("rules[%d]", i), r); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// typeOf returns the id of a type of rule sets.
func typeOf(path string, given *schedulingv1.ScheduleRuleProperty) (int64, error) {
	if given.GetId() == 0 && given.GetName() == "" {
		return 0, fault.Invalid(CodeMissing, path+".id or "+path+".name is missing; the types are "+schedulerule.RuleTypes()+".")
	}
	id, known := schedulerule.FindRuleType(given)
	if !known {
		return 0, fault.Invalid(CodeRuleType, path+" is not one of 1 to 2: "+schedulerule.RuleTypes()+".")
	}
	return id, nil
}

// prepareTimes checks when weeks and nights begin.
func prepareTimes(s *ruleSet) error {
	var anchor *time.Weekday
	if s.GetAnchorDate() != "" {
		day, err := civil.ParseDate(s.GetAnchorDate())
		if err != nil {
			return fault.Invalid(fault.CodeDate, "anchorDate: "+err.Error()+".")
		}
		weekday := day.Weekday()
		anchor = &weekday
	}
	switch weekday, known := parseWeekday(s.GetWeekStartDay()); {
	case s.GetWeekStartDay() == "" && anchor == nil:
		s.WeekStartDay = "MONDAY"
	case s.GetWeekStartDay() == "":
		s.WeekStartDay = strings.ToUpper(anchor.String())
	case !known:
		return fault.Invalid(CodeInvalid, fmt.Sprintf("weekStartDay: %.40q is not one of SUNDAY to SATURDAY.", s.GetWeekStartDay()))
	case anchor != nil && *anchor != weekday:
		return fault.Invalid(CodeInvalid, fmt.Sprintf("anchorDate %s is a %s, but weeks begin on %s.",
			s.GetAnchorDate(), strings.ToUpper(anchor.String()), s.GetWeekStartDay()))
	}
	var err error
	if s.NightStartTime, err = clock("nightStartTime", s.GetNightStartTime(), usualNightStart); err != nil {
		return err
	}
	if s.NightEndTime, err = clock("nightEndTime", s.GetNightEndTime(), usualNightEnd); err != nil {
		return err
	}
	if s.GetNightStartTime() == s.GetNightEndTime() {
		return fault.Invalid(CodeInvalid, "nightEndTime must not be nightStartTime.")
	}
	return nil
}

func clock(path, text string, usual civil.TimeOfDay) (string, error) {
	if text == "" {
		return usual.String(), nil
	}
	at, err := civil.ParseTimeOfDay(text)
	if err != nil {
		return "", fault.Invalid(CodeInvalid, path+": "+err.Error()+".")
	}
	return at.String(), nil
}

func parseWeekday(text string) (time.Weekday, bool) {
	for day := time.Sunday; day <= time.Saturday; day++ {
		if strings.ToUpper(day.String()) == text {
			return day, true
		}
	}
	return 0, false
}

// prepareRule checks a rule of a set, and gives it the values that it leaves out.
func prepareRule(path string, given *schedulingv1.ScheduleRuleSetRule) (*schedulingv1.ScheduleRuleSetRule, error) {
	named := given.GetRule()
	if named.GetId() == 0 && named.GetName() == "" {
		return nil, fault.Invalid(CodeMissing, path+".rule.id or "+path+".rule.name is missing.")
	}
	rule, known := schedulerule.Find(named.GetId(), named.GetName())
	if !known {
		return nil, fault.Invalid(CodeUnknownRule, fmt.Sprintf("%s.rule: there is no rule %s.", path, nameOf(named.GetId(), named.GetName())))
	}
	severity := schedulerule.Warning
	if s := given.GetSeverity(); s.GetId() != 0 || s.GetName() != "" {
		if severity, known = schedulerule.FindSeverity(s); !known {
			return nil, fault.Invalid(CodeInvalid, path+".severity is not one of "+schedulerule.Severities()+".")
		}
	}
	values := map[int64]float64{}
	for i, p := range given.GetRuleParameters() {
		at := fmt.Sprintf("%s.ruleParameters[%d]", path, i)
		kind, _ := schedulerule.FindParameterType(p.GetRuleParameterType())
		parameter, has := rule.Parameter(kind)
		if !has {
			return nil, fault.Invalid(CodeUnknownRule, fmt.Sprintf("%s.ruleParameterType: the rule %s has no parameter %s.",
				at, rule.Name, nameOf(p.GetRuleParameterType().GetId(), p.GetRuleParameterType().GetName())))
		}
		if _, twice := values[kind]; twice {
			return nil, fault.Invalid(CodeInvalid, at+" gives the parameter a second value.")
		}
		value, err := number(at+".value", p.GetValue(), parameter)
		if err != nil {
			return nil, err
		}
		values[kind] = value
	}
	out := &schedulingv1.ScheduleRuleSetRule{Rule: rule.Message(), Severity: schedulerule.Severity(severity)}
	for _, p := range rule.Parameters {
		value, has := values[p.Type]
		if !has {
			value = p.Default
		}
		out.RuleParameters = append(out.RuleParameters, &schedulingv1.ScheduleRuleSetParameter{
			RuleParameterType: schedulerule.ParameterType(p.Type), Value: structpb.NewNumberValue(value),
		})
	}
	return out, nil
}

// number reads the value of a parameter.
func number(path string, given *structpb.Value, parameter schedulerule.Parameter) (float64, error) {
	var value float64
	switch kind := given.GetKind().(type) {
	case *structpb.Value_NumberValue:
		value = kind.NumberValue
	case *structpb.Value_StringValue:
		parsed, err := strconv.ParseFloat(strings.TrimSpace(kind.StringValue), 64)
		if err != nil {
			return 0, fault.Invalid(CodeInvalid, path+" must be a number.")
		}
		value = parsed
	case nil:
		return 0, fault.Invalid(CodeMissing, path+" is missing.")
	default:
		return 0, fault.Invalid(CodeInvalid, path+" must be a number.")
	}
	if wrong := parameter.Check(value); wrong != "" {
		return 0, fault.Invalid(CodeInvalid, path+" "+wrong+".")
	}
	return value, nil
}

// nameOf names what a request names, in a message.
func nameOf(id int64, name string) string {
	if id != 0 {
		return "with the id " + strconv.FormatInt(id, 10)
	}
	return fmt.Sprintf("%.100q", name)
}

// ofType returns the rule sets of a type; all of them without one.
func ofType(list []*ruleSet, id int64) []*ruleSet {
	if id == 0 {
		return list
	}
	return slices.DeleteFunc(list, func(s *ruleSet) bool { return s.GetRuleType().GetId() != id })
}
