package wageworkrule

import (
	"cmp"
	"slices"
	"strconv"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/record"
)

// selection selects the rules in a response.
type selection struct {
	days civil.Range
	// overridesOnly leaves out base wages.
	overridesOnly bool
	// index and count are the page within each interval. With count 0, all rules are on one
	// page.
	index, count int
	// remaining is the number of rules that the response can still hold. It is negative if the
	// rules exceed the limit.
	remaining int
}

func newSelection(where *commonsv1.WageWorkRuleWhere, days civil.Range) (*selection, error) {
	s := &selection{remaining: maxRules, days: days, overridesOnly: where.GetOverridesOnly()}
	if where.Count == nil && where.GetIndex() != 0 {
		return nil, fault.Invalid(fault.CodeValue, "where.index needs where.count, the number of wage and work rules in a page.")
	}
	s.index, s.count = int(where.GetIndex()), int(where.GetCount())
	return s, nil
}

// person returns the rules of a person on the days, split into intervals without changes.
func (s *selection) person(id int64, r *record.Record) *commonsv1.PersonWageWorkRules {
	out := &commonsv1.PersonWageWorkRules{Employee: &commonv1.Ref{Id: &id, Qualifier: proto.String(r.Number())}}
	base := r.Message.GetJobAssignment().GetBaseWageRates()
	if s.overridesOnly {
		base = nil
	}
	var ends []civil.Date
	for _, rate := range base {
		days := record.CheckedRange(record.EffectiveDates(rate))
		ends = append(ends, days.From, days.To)
	}
	for _, rule := range r.WageRules {
		days := record.CheckedRange(record.EffectiveDates(rule))
		ends = append(ends, days.From, days.To)
	}
	slices.Sort(ends)
	ends = slices.Compact(ends)
	for i := 1; i < len(ends); i++ {
		days := civil.Range{From: ends[i-1], To: ends[i]}
		if days.Intersect(s.days).Empty() || s.remaining < 0 {
			continue
		}
		if interval := s.interval(days, base, r.WageRules); interval != nil {
			out.EffectiveDatedWageWorkRules = append(out.EffectiveDatedWageWorkRules, interval)
		}
	}
	return out
}

// interval returns the rules of one interval, or nil if it has none.
func (s *selection) interval(days civil.Range, base []*commonsv1.BaseWageRate, wages []*commonsv1.WageWorkRule) *commonsv1.EffectiveDatedWageWorkRules {
	out := &commonsv1.EffectiveDatedWageWorkRules{EffectiveDate: days.From.String(), ExpirationDate: days.To.String()}
	for _, rate := range base {
		if record.CheckedRange(record.EffectiveDates(rate)).Contains(days.From) {
			out.BaseWage = wageText(rate.HourlyRate)
		}
	}
	var overrides []*commonsv1.WageWorkRuleOverride
	for _, rule := range wages {
		if record.CheckedRange(record.EffectiveDates(rule)).Contains(days.From) {
			overrides = append(overrides, &commonsv1.WageWorkRuleOverride{
				Job: proto.CloneOf(rule.GetJob()), Wage: wageText(rule.HourlyRate), WorkRule: proto.CloneOf(rule.GetWorkRule()),
			})
		}
	}
	if len(overrides) == 0 && out.GetBaseWage() == "" {
		return nil
	}
	slices.SortFunc(overrides, func(a, b *commonsv1.WageWorkRuleOverride) int {
		return cmp.Compare(a.GetJob().GetQualifier(), b.GetJob().GetQualifier())
	})
	out.TotalElements = proto.Int32(int32(len(overrides)))
	if s.count > 0 {
		from := min(s.index*s.count, len(overrides))
		overrides = overrides[from:min(from+s.count, len(overrides))]
	}
	if s.remaining -= len(overrides); s.remaining < 0 {
		return nil
	}
	out.WageWorkRules = overrides
	return out
}

// wageText returns a wage as responses show it, or "" for nil.
func wageText(rate *float64) string {
	if rate == nil {
		return ""
	}
	return strconv.FormatFloat(*rate, 'f', -1, 64)
}
