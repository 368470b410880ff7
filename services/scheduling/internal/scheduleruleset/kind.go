// Package scheduleruleset manages schedule rule sets: the rules that apply, with their severities
// and values.
package scheduleruleset

import (
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/setup"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulerule"
)

// Error codes of our own.
const (
	// CodeInvalid (400): a property has a value that is not allowed.
	CodeInvalid = "WRL-31501"
	// CodeMissing (400): a required value is missing.
	CodeMissing = "WRL-31502"
	// CodeTaken (400): another rule set has the name or the persistent id. Choose another one.
	CodeTaken = "WRL-31503"
	// CodeOtherID (400): the id in the body differs from the id in the path.
	CodeOtherID = "WRL-31504"
	// CodeUnknown (400, 404): there is no such rule set.
	CodeUnknown = "WRL-31505"
	// CodeUnknownRule (400): there is no such rule, or it has no such parameter.
	CodeUnknownRule = "WRL-31506"
	// CodeRuleType (400): there is no such type of rule sets, or the type of a rule set would
	// change.
	CodeRuleType = "WRL-31507"
	// CodeSeveral (400): rule sets are identified in more than one way.
	CodeSeveral = "WRL-31508"
	// CodeAssigned (400): a rule set to be deleted is assigned to employees. Remove the assignments
	// first.
	CodeAssigned = "WRL-31509"
)

type ruleSet = schedulingv1.ScheduleRuleSet

// Kind returns the declaration of rule sets. Their texts come from the current catalogue.
func Kind() *setup.Kind[*ruleSet] {
	return setup.NewKind(setup.Declaration[*ruleSet]{
		Codes:  setup.Codes{Missing: CodeMissing, Invalid: CodeInvalid, Taken: CodeTaken, Unknown: CodeUnknown, OtherID: CodeOtherID},
		What:   "schedule rule set",
		Table:  "schedule_rule_set",
		Strip:  strip,
		Fill:   fill,
		Unique: []string{"persistent_id"},
	})
}

// strip reduces references to the catalogue to their ids.
func strip(s *ruleSet) {
	s.LocalizedName, s.RuleSetItems = "", nil
	s.RuleType = &schedulingv1.ScheduleRuleProperty{Id: s.GetRuleType().Id}
	for _, r := range s.GetRules() {
		r.Rule = &schedulingv1.ScheduleRule{Id: r.GetRule().Id}
		r.Severity = &schedulingv1.ScheduleRuleProperty{Id: r.GetSeverity().Id}
		for _, p := range r.GetRuleParameters() {
			p.RuleParameterType = &schedulingv1.ScheduleRuleParameterType{Id: p.GetRuleParameterType().Id}
		}
	}
}

func fill(s *ruleSet, _ int64) {
	s.LocalizedName = s.GetName()
	s.RuleType = schedulerule.RuleType(s.GetRuleType().GetId())
	for i, r := range s.GetRules() {
		rule, ok := schedulerule.Find(r.GetRule().GetId(), "")
		if ok {
			r.Rule = rule.Message()
		}
		r.Severity = schedulerule.Severity(r.GetSeverity().GetId())
		for _, p := range r.GetRuleParameters() {
			p.RuleParameterType = schedulerule.ParameterType(p.GetRuleParameterType().GetId())
		}
		s.RuleSetItems = append(s.RuleSetItems, &schedulingv1.ScheduleRuleSetItem{
			OrderNumber: proto.Int32(int32(i + 1)), Rule: &commonv1.Ref{Id: proto.Int64(rule.ID), Qualifier: proto.String(rule.Name)},
		})
	}
}
