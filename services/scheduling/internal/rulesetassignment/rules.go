// Package rulesetassignment assigns schedule rule sets to persons by effective dates. In each
// context a person has at most one rule set on a day.
package rulesetassignment

import (
	"cmp"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// Error codes of the reference product.
const (
	// CodeContext (400): there is no such context, or an assignment has no context.
	CodeContext = "WFS-107018"
	// CodeDay (400): a date is missing or malformed.
	CodeDay = "WFS-107024"
	// CodeContextGiven (400): both the span and the assignments name a context. Leave out the
	// context of the span.
	CodeContextGiven = "WFS-107027"
	// CodeContextMissing (400): there are no assignments, and the span does not name the context to
	// clear.
	CodeContextMissing = "WFS-107028"
	// CodeMissing (400): a required value is missing.
	CodeMissing = "WFS-111201"
	// CodeDays (400): dates are out of order, or assignments overlap.
	CodeDays = "WFS-111203"
	// CodeSeveral (400): persons are identified in more than one way.
	CodeSeveral = "WFS-111207"
	// CodeOtherPerson (400): the person in the body differs from the person in the path.
	CodeOtherPerson = "WFS-111209"
)

// Error codes of our own.
const (
	// CodeRuleType (400): the rule set is not of the type Employee, which alone can be assigned to
	// persons. Assign a rule set of the type Employee.
	CodeRuleType = "WRL-31801"
	// CodeUnknownRuleSet (400): there is no such rule set.
	CodeUnknownRuleSet = "WRL-31505"
)

// The contexts.
const (
	// Default is the context of normal assignments.
	Default int64 = -1
	// GenerationOverride is the context of assignments that replace the normal ones while schedules
	// are generated.
	GenerationOverride int64 = -2
)

// contexts are the names of the contexts.
var contexts = map[int64]string{Default: "DEFAULT", GenerationOverride: "SCHEDULE_GENERATION_OVERRIDE"}

// maxAssignments limits the assignments of a person.
const maxAssignments = 500

// assignment is a rule set on a range of days, including the first and excluding the last.
type assignment struct {
	context, ruleSet int64
	days             civil.Range
	// name is the name of the rule set. It is not stored here.
	name string
}

// change is the requested change of one person: the new assignments replace all others of the
// contexts inside the span.
type change struct {
	span     civil.Range
	contexts []int64
	fresh    []newAssignment
}

// newAssignment is an assignment whose rule set has not been looked up yet.
type newAssignment struct {
	path    string
	context int64
	ruleSet *commonv1.Ref
	days    civil.Range
}

// FindContext returns the context of a reference. The id takes precedence over the name.
func FindContext(path string, ref *commonv1.Ref) (int64, error) {
	for id, name := range contexts {
		if ref.GetId() == id || ref != nil && ref.Id == nil && ref.GetQualifier() == name {
			return id, nil
		}
	}
	return 0, fault.Invalid(CodeContext, path+" is neither -1 (DEFAULT) nor -2 (SCHEDULE_GENERATION_OVERRIDE).")
}

// readChange parses and checks the change of a person's assignments. In a sequence, each assignment
// lasts until the next one of its context, regardless of its expiration date.
func readChange(path string, in *schedulingv1.PersonScheduleRuleSets, sequence bool) (change, error) {
	c := change{span: civil.Range{From: civil.Beginning, To: civil.Forever}}
	var err error
	if s := in.GetAssignmentSpan().GetAssignmentSpan(); s != nil {
		if c.span, err = readDays(path+"assignmentSpan.assignmentSpan", "start", s.GetStart(), "end", s.GetEnd()); err != nil {
			return c, err
		}
	}
	cleared := in.GetAssignmentSpan().GetContext()
	switch hasAssignments := len(in.GetAssignments()) > 0; {
	case hasAssignments && cleared != nil:
		return c, fault.Invalid(CodeContextGiven, path+"assignmentSpan.context cannot be combined with assignments, which have their own contexts.")
	case !hasAssignments && cleared == nil:
		return c, fault.Invalid(CodeContextMissing, path+"assignmentSpan.context is missing. Without assignments it selects the context to clear.")
	case !hasAssignments:
		context, err := FindContext(path+"assignmentSpan.context", cleared)
		c.contexts = []int64{context}
		return c, err
	}
	for i, a := range in.GetAssignments() {
		fresh, err := c.readAssignment(fmt.Sprintf("%sassignments[%d]", path, i), a, sequence)
		if err != nil {
			return c, err
		}
		c.fresh = append(c.fresh, fresh)
		c.contexts = append(c.contexts, fresh.context)
	}
	slices.Sort(c.contexts)
	c.contexts = slices.Compact(c.contexts)
	slices.SortStableFunc(c.fresh, func(a, b newAssignment) int {
		return cmp.Or(cmp.Compare(a.context, b.context), cmp.Compare(a.days.From, b.days.From))
	})
	return c, c.arrange(sequence)
}

func (c *change) readAssignment(path string, in *schedulingv1.ScheduleRuleSetAssignment, sequence bool) (newAssignment, error) {
	out := newAssignment{path: path, ruleSet: in.GetRuleSet()}
	if out.ruleSet.GetId() == 0 && out.ruleSet.GetQualifier() == "" {
		return out, fault.Invalid(CodeMissing, path+".ruleSet needs an id or a qualifier.")
	}
	var err error
	if out.context, err = FindContext(path+".context", in.GetContext()); err != nil {
		return out, err
	}
	end := in.GetExpirationDate()
	if sequence || end == "" {
		end = c.span.To.String()
	}
	if out.days, err = readDays(path, "effectiveDate", in.GetEffectiveDate(), "expirationDate", end); err != nil {
		return out, err
	}
	if !c.span.Covers(out.days) {
		return out, fault.Invalid(CodeDays, fmt.Sprintf("%s lies outside of the span from %s to %s.", path, c.span.From, c.span.To))
	}
	return out, nil
}

// arrange ends each assignment of a sequence where the next one begins, and rejects overlapping
// assignments.
func (c *change) arrange(sequence bool) error {
	for i := 1; i < len(c.fresh); i++ {
		before, next := &c.fresh[i-1], &c.fresh[i]
		if before.context != next.context {
			continue
		}
		if sequence && before.days.From < next.days.From {
			before.days.To = next.days.From
		}
		if before.days.Overlaps(next.days) {
			return fault.Invalid(CodeDays, fmt.Sprintf("%s and %s overlap.", before.path, next.path))
		}
	}
	return nil
}

func readDays(path, fromName, from, toName, to string) (civil.Range, error) {
	var ends [2]civil.Date
	for i, date := range []struct{ name, text string }{{fromName, from}, {toName, to}} {
		if date.text == "" {
			return civil.Range{}, fault.Invalid(CodeDay, fmt.Sprintf("%s.%s is missing.", path, date.name))
		}
		var err error
		if ends[i], err = civil.ParseDate(date.text); err != nil {
			return civil.Range{}, fault.Invalid(CodeDay, fmt.Sprintf("%s.%s: %s.", path, date.name, err))
		}
	}
	days := civil.Range{From: ends[0], To: ends[1]}.Clamp()
	if days.Empty() {
		return civil.Range{}, fault.Invalid(CodeDays, fmt.Sprintf("%s: %s %s is not after %s %s.", path, toName, to, fromName, from))
	}
	return days, nil
}

// rewrite returns the assignments of a person after the span was cleared in some contexts and
// filled with new assignments, by context and day.
func rewrite(old []assignment, c change, fresh []assignment) []assignment {
	out := make([]assignment, 0, len(old)+len(fresh)+1)
	for _, a := range old {
		if !slices.Contains(c.contexts, a.context) {
			out = append(out, a)
			continue
		}
		for _, remaining := range civil.AppendDifference(nil, []civil.Range{a.days}, []civil.Range{c.span}) {
			a.days = remaining
			out = append(out, a)
		}
	}
	out = append(out, fresh...)
	slices.SortFunc(out, func(a, b assignment) int {
		return cmp.Or(cmp.Compare(b.context, a.context), cmp.Compare(a.days.From, b.days.From))
	})
	return out
}

// toProto returns assignments for responses. context selects one context; 0 means all. day selects
// one day; nil means all.
func toProto(list []assignment, context int64, day *civil.Date) []*schedulingv1.ScheduleRuleSetAssignment {
	var out []*schedulingv1.ScheduleRuleSetAssignment
	for _, a := range list {
		if context != 0 && a.context != context || day != nil && !a.days.Contains(*day) {
			continue
		}
		out = append(out, &schedulingv1.ScheduleRuleSetAssignment{
			RuleSet:       &commonv1.Ref{Id: proto.Int64(a.ruleSet), Qualifier: proto.String(a.name)},
			Context:       &commonv1.Ref{Id: proto.Int64(a.context), Qualifier: proto.String(contexts[a.context])},
			EffectiveDate: a.days.From.String(), ExpirationDate: a.days.To.String(),
		})
	}
	return out
}

// EffectiveRuleSet is a rule set that applies on a range of days.
type EffectiveRuleSet struct {
	RuleSet int64
	Days    civil.Range
}

// effectiveRuleSets returns the rule sets that apply in a context, each with its joined days. On
// overridden days only the override applies.
func effectiveRuleSets(list []assignment, context int64, days civil.Range) []EffectiveRuleSet {
	var overridden []civil.Range
	for _, a := range list {
		if context == GenerationOverride && a.context == GenerationOverride {
			overridden = append(overridden, a.days)
		}
	}
	overridden = civil.Normalise(overridden)
	daysByRuleSet := map[int64][]civil.Range{}
	for _, a := range list {
		on := []civil.Range{a.days.Intersect(days)}
		switch {
		case on[0].Empty() || a.context != Default && a.context != context:
			continue
		case a.context == Default:
			on = civil.AppendDifference(nil, on, overridden)
		}
		daysByRuleSet[a.ruleSet] = append(daysByRuleSet[a.ruleSet], on...)
	}
	var out []EffectiveRuleSet
	for id, ranges := range daysByRuleSet {
		for _, r := range civil.Normalise(ranges) {
			out = append(out, EffectiveRuleSet{RuleSet: id, Days: r})
		}
	}
	slices.SortFunc(out, func(a, b EffectiveRuleSet) int {
		return cmp.Or(cmp.Compare(a.RuleSet, b.RuleSet), cmp.Compare(a.Days.From, b.Days.From))
	})
	return out
}
