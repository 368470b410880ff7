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

// The defaults of a rule set.
const (
	defaultNightStart = civil.TimeOfDay(23 * 3600)
	defaultNightEnd   = civil.TimeOfDay(6 * 3600)
)

// prepare checks a rule set, and sets the defaults.
func prepare(_ string, s *ruleSet) (*ruleSet, error) {
	if s.Active == nil {
		s.Active = proto.Bool(true)
	}
	s.UseActualHours = proto.Bool(s.GetUseActualHours())
	id, err := findType("ruleType", s.GetRuleType())
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

// findType returns the id of a type of rule sets.
func findType(path string, property *schedulingv1.ScheduleRuleProperty) (int64, error) {
	if property.GetId() == 0 && property.GetName() == "" {
		return 0, fault.Invalid(CodeMissing, path+".id or "+path+".name is missing; the types are "+schedulerule.RuleTypes()+".")
	}
	id, ok := schedulerule.FindRuleType(property)
	if !ok {
		return 0, fault.Invalid(CodeRuleType, path+" is not one of 1 to 2: "+schedulerule.RuleTypes()+".")
	}
	return id, nil
}

// prepareTimes checks the start of weeks and the times of nights.
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
	switch weekday, ok := parseWeekday(s.GetWeekStartDay()); {
	case s.GetWeekStartDay() == "" && anchor == nil:
		s.WeekStartDay = "MONDAY"
	case s.GetWeekStartDay() == "":
		s.WeekStartDay = strings.ToUpper(anchor.String())
	case !ok:
		return fault.Invalid(CodeInvalid, fmt.Sprintf("weekStartDay: %.40q is not one of SUNDAY to SATURDAY.", s.GetWeekStartDay()))
	case anchor != nil && *anchor != weekday:
		return fault.Invalid(CodeInvalid, fmt.Sprintf("anchorDate %s is a %s, but weeks begin on %s.",
			s.GetAnchorDate(), strings.ToUpper(anchor.String()), s.GetWeekStartDay()))
	}
	var err error
	if s.NightStartTime, err = parseClock("nightStartTime", s.GetNightStartTime(), defaultNightStart); err != nil {
		return err
	}
	if s.NightEndTime, err = parseClock("nightEndTime", s.GetNightEndTime(), defaultNightEnd); err != nil {
		return err
	}
	if s.GetNightStartTime() == s.GetNightEndTime() {
		return fault.Invalid(CodeInvalid, "nightEndTime must not be nightStartTime.")
	}
	return nil
}

func parseClock(path, text string, fallback civil.TimeOfDay) (string, error) {
	if text == "" {
		return fallback.String(), nil
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

// prepareRule checks a rule of a set, and fills in missing values.
func prepareRule(path string, input *schedulingv1.ScheduleRuleSetRule) (*schedulingv1.ScheduleRuleSetRule, error) {
	reference := input.GetRule()
	if reference.GetId() == 0 && reference.GetName() == "" {
		return nil, fault.Invalid(CodeMissing, path+".rule.id or "+path+".rule.name is missing.")
	}
	rule, ok := schedulerule.Find(reference.GetId(), reference.GetName())
	if !ok {
		return nil, fault.Invalid(CodeUnknownRule, fmt.Sprintf("%s.rule: there is no rule %s.", path, describe(reference.GetId(), reference.GetName())))
	}
	severity := schedulerule.Warning
	if s := input.GetSeverity(); s.GetId() != 0 || s.GetName() != "" {
		if severity, ok = schedulerule.FindSeverity(s); !ok {
			return nil, fault.Invalid(CodeInvalid, path+".severity is not one of "+schedulerule.Severities()+".")
		}
	}
	values := map[int64]float64{}
	for i, p := range input.GetRuleParameters() {
		at := fmt.Sprintf("%s.ruleParameters[%d]", path, i)
		kind, _ := schedulerule.FindParameterType(p.GetRuleParameterType())
		parameter, has := rule.Parameter(kind)
		if !has {
			return nil, fault.Invalid(CodeUnknownRule, fmt.Sprintf("%s.ruleParameterType: the rule %s has no parameter %s.",
				at, rule.Name, describe(p.GetRuleParameterType().GetId(), p.GetRuleParameterType().GetName())))
		}
		if _, twice := values[kind]; twice {
			return nil, fault.Invalid(CodeInvalid, at+" repeats a parameter. Give each parameter once.")
		}
		value, err := parseValue(at+".value", p.GetValue(), parameter)
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

// parseValue parses the value of a parameter.
func parseValue(path string, input *structpb.Value, parameter schedulerule.Parameter) (float64, error) {
	var value float64
	switch kind := input.GetKind().(type) {
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
	if problem := parameter.Check(value); problem != "" {
		return 0, fault.Invalid(CodeInvalid, path+" "+problem+".")
	}
	return value, nil
}

// describe formats a requested id or name for messages.
func describe(id int64, name string) string {
	if id != 0 {
		return "with the id " + strconv.FormatInt(id, 10)
	}
	return fmt.Sprintf("%.100q", name)
}

// filterByType returns the rule sets of a type; all of them for 0.
func filterByType(list []*ruleSet, id int64) []*ruleSet {
	if id == 0 {
		return list
	}
	return slices.DeleteFunc(list, func(s *ruleSet) bool { return s.GetRuleType().GetId() != id })
}
