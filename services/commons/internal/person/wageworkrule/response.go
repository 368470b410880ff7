package wageworkrule

import (
	"cmp"
	"slices"
	"strconv"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/cursor"
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
	// cursor is the page by cursor, or nil for a page by index. Its key is the path of a job.
	cursor *cursor.Query[string]
	// remaining is the number of rules that the response can still hold. It is negative if the
	// rules exceed the limit.
	remaining int
}

func newSelection(req *commonsv1.MultiReadWageWorkRulesRequest, where *commonsv1.WageWorkRuleWhere, days civil.Range) (*selection, error) {
	s := &selection{remaining: maxRules, days: days, overridesOnly: where.GetOverridesOnly()}
	if req.After != nil && where.Index != nil {
		return nil, cursor.TwoPages("where.index")
	}
	fixed := proto.CloneOf(req)
	if fixed.GetWhere() != nil {
		fixed.Where.Count = nil // It may change from page to page.
	}
	var err error
	if s.cursor, err = cursor.Read[string](fixed); err != nil {
		return nil, err
	}
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
	overrides = s.page(overrides)
	if s.remaining -= len(overrides); s.remaining < 0 {
		return nil
	}
	out.WageWorkRules = overrides
	return out
}

// page returns the rules of an interval that belong to the page. With a cursor, it returns one more, which
// shows cut whether another page follows.
func (s *selection) page(overrides []*commonsv1.WageWorkRuleOverride) []*commonsv1.WageWorkRuleOverride {
	from, size := min(s.index*s.count, len(overrides)), s.count
	if s.cursor != nil {
		size++
		if after := s.cursor.After; after != nil {
			from = behind(overrides, *after)
		}
	}
	if s.count == 0 {
		return overrides[from:]
	}
	return overrides[from:min(from+size, len(overrides))]
}

// behind returns the number of rules up to a job, inclusive.
func behind(overrides []*commonsv1.WageWorkRuleOverride, job string) int {
	for i, o := range overrides {
		if o.GetJob().GetQualifier() > job {
			return i
		}
	}
	return len(overrides)
}

// cut cuts all intervals off at the same job, so that the next page continues there in each of them. It returns
// the cursor of the next page, or "" on the last page.
func (s *selection) cut(persons []*commonsv1.PersonWageWorkRules) string {
	if s.cursor == nil || s.count == 0 {
		return ""
	}
	last, more := "", false
	for _, p := range persons {
		for _, interval := range p.GetEffectiveDatedWageWorkRules() {
			if rules := interval.GetWageWorkRules(); len(rules) > s.count {
				if job := rules[s.count-1].GetJob().GetQualifier(); !more || job < last {
					last, more = job, true
				}
			}
		}
	}
	if !more {
		return ""
	}
	for _, p := range persons {
		for _, interval := range p.GetEffectiveDatedWageWorkRules() {
			interval.WageWorkRules = interval.GetWageWorkRules()[:behind(interval.GetWageWorkRules(), last)]
		}
	}
	return s.cursor.Next(last)
}

// wageText returns a wage as responses show it, or "" for nil.
func wageText(rate *float64) string {
	if rate == nil {
		return ""
	}
	return strconv.FormatFloat(*rate, 'f', -1, 64)
}
