package schedulerule

import (
	"context"
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/fault"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// CodeUnknown (400): there is no such rule.
const CodeUnknown = "WRL-31601"

// Handler serves ScheduleRuleService.
type Handler struct {
	schedulingv1.UnsafeScheduleRuleServiceServer
}

var _ schedulingv1.ScheduleRuleServiceServer = (*Handler)(nil)

// ListScheduleRules returns all rules by id, or the rule with the given name.
func (h *Handler) ListScheduleRules(_ context.Context, req *schedulingv1.ListScheduleRulesRequest) (*schedulingv1.ScheduleRuleList, error) {
	if req.Name == nil {
		return toList(Rules(), req.GetOnlyOverrideable()), nil
	}
	rule, ok := Find(0, req.GetName())
	if !ok {
		return nil, fault.Invalid(CodeUnknown, fmt.Sprintf("There is no schedule rule with the name %.100q.", req.GetName()))
	}
	return toList([]Rule{rule}, req.GetOnlyOverrideable()), nil
}

// toList returns the messages of rules. No rule supports values by day of the week, so that
// onlyOverrideable selects none.
func toList(rules []Rule, onlyOverrideable bool) *schedulingv1.ScheduleRuleList {
	out := &schedulingv1.ScheduleRuleList{}
	if onlyOverrideable {
		return out
	}
	for i := range rules {
		out.Items = append(out.Items, rules[i].Message())
	}
	return out
}

// GetScheduleRule returns one rule. An unknown id is an error 400, as in the reference product.
func (h *Handler) GetScheduleRule(_ context.Context, req *schedulingv1.GetScheduleRuleRequest) (*schedulingv1.ScheduleRule, error) {
	rule, ok := Find(req.GetId(), "")
	if !ok {
		return nil, fault.Invalid(CodeUnknown, fmt.Sprintf("There is no schedule rule with the id %d.", req.GetId()))
	}
	return rule.Message(), nil
}

// MultiReadScheduleRules returns the requested rules in the order of the request, or all rules
// without a request.
func (h *Handler) MultiReadScheduleRules(_ context.Context, req *schedulingv1.MultiReadScheduleRulesRequest) (*schedulingv1.ScheduleRuleList, error) {
	where := req.GetWhere()
	refs := where.GetRules().GetRules()
	if len(refs) == 0 {
		return toList(Rules(), where.GetOnlyOverrideable()), nil
	}
	rules := make([]Rule, len(refs))
	for i, ref := range refs {
		rule, ok := Find(ref.GetId(), ref.GetQualifier())
		if !ok {
			return nil, fault.Invalid(CodeUnknown, fmt.Sprintf("There is no schedule rule with the id %d or the name %.100q (where.rules.rules[%d]).",
				ref.GetId(), ref.GetQualifier(), i))
		}
		rules[i] = rule
	}
	return toList(rules, where.GetOnlyOverrideable()), nil
}
