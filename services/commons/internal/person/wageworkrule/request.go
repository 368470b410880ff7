package wageworkrule

import (
	"fmt"
	"math"
	"strconv"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/rules"
)

// readWages checks the sent rules of one person, except the jobs. It returns the rules by job
// and the base wages in stored form.
func readWages(given []*commonsv1.EffectiveDatedWageWorkRules) ([]*commonsv1.WageWorkRule, []*commonsv1.BaseWageRate, error) {
	if len(given) == 0 {
		return nil, nil, fault.Invalid(rules.CodeMissing, "The required property effectiveDatedWageWorkRules is missing.")
	}
	var overrides []*commonsv1.WageWorkRule
	var base []*commonsv1.BaseWageRate
	for i, days := range given {
		path := fmt.Sprintf("effectiveDatedWageWorkRules[%d]", i)
		switch {
		case days.GetDeleteBaseWage():
			return nil, nil, fault.Invalid(rules.CodeBadValue, path+".deleteBaseWage: a base wage cannot be deleted. Send the one that replaces it.")
		case days.GetBaseWorkRule() != nil:
			return nil, nil, fault.Invalid(rules.CodeBadValue, path+".baseWorkRule: persons have no base work rule. Send the work rule of a job.")
		}
		if days.GetBaseWage() != "" {
			rate, err := readWage(path+".baseWage", days.GetBaseWage())
			if err != nil {
				return nil, nil, err
			}
			base = append(base, &commonsv1.BaseWageRate{HourlyRate: rate, EffectiveDate: days.GetEffectiveDate(), ExpirationDate: days.GetExpirationDate()})
		}
		for k, g := range days.GetWageWorkRules() {
			rule, err := readOverride(fmt.Sprintf("%s.wageWorkRules[%d]", path, k), g)
			if err != nil {
				return nil, nil, err
			}
			rule.EffectiveDate, rule.ExpirationDate = days.GetEffectiveDate(), days.GetExpirationDate()
			overrides = append(overrides, rule)
		}
	}
	if len(overrides)+len(base) == 0 {
		return nil, nil, fault.Invalid(rules.CodeMissing, "effectiveDatedWageWorkRules holds neither wageWorkRules nor a baseWage.")
	}
	return overrides, base, nil
}

// readOverride checks a sent rule, except its job.
func readOverride(path string, g *commonsv1.WageWorkRuleOverride) (*commonsv1.WageWorkRule, error) {
	if g.GetJob().GetId() == 0 && g.GetJob().GetQualifier() == "" {
		return nil, fault.Invalid(rules.CodeMissing, path+".job needs an id or a qualifier.")
	}
	out := &commonsv1.WageWorkRule{Job: proto.CloneOf(g.GetJob())}
	if g.GetWage() != "" {
		var err error
		if out.HourlyRate, err = readWage(path+".wage", g.GetWage()); err != nil {
			return nil, err
		}
	}
	if g.GetWorkRule() == nil {
		return out, nil
	}
	if g.GetWorkRule().GetQualifier() == "" {
		return nil, fault.Invalid(rules.CodeBadValue, path+".workRule needs a qualifier: work rules go by their names.")
	}
	out.WorkRule = &commonv1.Ref{Qualifier: g.GetWorkRule().Qualifier}
	return out, nil
}

// readWage reads a decimal number.
func readWage(path, text string) (*float64, error) {
	rate, err := strconv.ParseFloat(text, 64)
	if err != nil || rate < 0 || math.IsNaN(rate) || math.IsInf(rate, 0) {
		return nil, fault.Invalid(rules.CodeBadValue, fmt.Sprintf("%s: %.50q is not a decimal number that is 0 or more.", path, text))
	}
	return &rate, nil
}
