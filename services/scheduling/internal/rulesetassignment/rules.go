// Package rulesetassignment gives persons schedule rule sets, effective-dated. In a
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

// Codes of the reference product.
const (
	// CodeContext (400): there is no such context, or an assignment names none.
	CodeContext = "WFS-107018"
	// CodeDay (400): a date is missing, or is none.
	CodeDay = "WFS-107024"
	// CodeContextGiven (400): the span names a context, and the assignments do as well. Leave out that of the span.
	CodeContextGiven = "WFS-107027"
	// CodeContextMissing (400): there are no assignments, and the span does not name the context to clear.
	CodeContextMissing = "WFS-107028"
	// CodeMissing (400): something that is needed was not given.
	CodeMissing = "WFS-111201"
	// CodeDays (400): dates are not in their order, or assignments overlap.
	CodeDays = "WFS-111203"
	// CodeSeveral (400): persons are named in more than one way.
	CodeSeveral = "WFS-111207"
	// CodeOtherPerson (400): the person in the body is not the one in the path.
	CodeOtherPerson = "WFS-111209"
)

// Codes of ours.
const (
	// CodeRuleType (400): the rule set is not of the type Employee, which alone is for persons.
	CodeRuleType = "WRL-31801"
	// CodeUnknownRuleSet (400): there is no such rule set.
	CodeUnknownRuleSet = "WRL-31505"
)

// The contexts.
const (
	// Default is the context of what holds for persons.
	Default int64 = -1
	// GenerationOverride is the context of what holds in its place while schedules
	// are generated.
	GenerationOverride int64 = -2
)

// contexts are the names of the contexts.
var contexts = map[int64]string{Default: "DEFAULT", GenerationOverride: "SCHEDULE_GENERATION_OVERRIDE"}

// maxAssignments bounds the assignments of a person.
const maxAssignments = 500

// assignment is a rule set on days, from the first up to, and not including, the last.
type assignment struct {
	context, ruleSet int64
	days             civil.Range
	// name is that of the rule set; it is not stored.
	name string
}

// change is what a request asks for, of one person: inside the span nothing stays in
// the contexts but the new assignments.
type change struct {
	span     civil.Range
	contexts []int64
	fresh    []newAssignment
}

// newAssignment is one whose rule set is not yet looked up.
type newAssignment struct {
	path    string
	context int64
	ruleSet *commonv1.Ref
	days    civil.Range
}

// ContextOf returns the context that a ref names; the id goes before the name.
func ContextOf(path string, ref *commonv1.Ref) (int64, error) {
	for id, name := range contexts {
		if ref.GetId() == id || ref != nil && ref.Id == nil && ref.GetQualifier() == name {
			return id, nil
		}
	}
	return 0, fault.Invalid(CodeContext, path+" is neither -1 (DEFAULT) nor -2 (SCHEDULE_GENERATION_OVERRIDE).")
}

// readChange checks what a request says of a person's assignments. In a sequence each
// assignment lasts until the next of its context, whatever its expiration date is.
func readChange(path string, in *schedulingv1.PersonScheduleRuleSets, sequence bool) (change, error) {
	c := change{span: civil.Range{From: civil.Beginning, To: civil.Forever}}
	var err error
	if s := in.GetAssignmentSpan().GetAssignmentSpan(); s != nil {
		if c.span, err = readDays(path+"assignmentSpan.assignmentSpan", "start", s.GetStart(), "end", s.GetEnd()); err != nil {
			return c, err
		}
	}
	cleared := in.GetAssignmentSpan().GetContext()
	switch given := len(in.GetAssignments()) > 0; {
	case given && cleared != nil:
		return c, fault.Invalid(CodeContextGiven, path+"assignmentSpan.context goes without assignments, which name their contexts themselves.")
	case !given && cleared == nil:
		return c, fault.Invalid(CodeContextMissing, path+"assignmentSpan.context is missing: it says what is cleared, for there are no assignments.")
	case !given:
		context, err := ContextOf(path+"assignmentSpan.context", cleared)
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
	if out.context, err = ContextOf(path+".context", in.GetContext()); err != nil {
		return out, err
	}
	end := in.GetExpirationDate()
	if sequence {
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

// arrange ends each assignment of a sequence with the next one, and refuses those that
// overlap.
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
	for i, given := range []struct{ name, text string }{{fromName, from}, {toName, to}} {
		if given.text == "" {
			return civil.Range{}, fault.Invalid(CodeDay, fmt.Sprintf("%s.%s is missing.", path, given.name))
		}
		var err error
		if ends[i], err = civil.ParseDate(given.text); err != nil {
			return civil.Range{}, fault.Invalid(CodeDay, fmt.Sprintf("%s.%s: %s.", path, given.name, err))
		}
	}
	days := civil.Range{From: ends[0], To: ends[1]}.Clamp()
	if days.Empty() {
		return civil.Range{}, fault.Invalid(CodeDays, fmt.Sprintf("%s: %s %s is not after %s %s.", path, toName, to, fromName, from))
	}
	return days, nil
}

// rewrite returns the assignments of a person after the span was cleared in some
// contexts, and filled with new ones, by context and day.
func rewrite(old []assignment, c change, fresh []assignment) []assignment {
	out := make([]assignment, 0, len(old)+len(fresh)+1)
	for _, a := range old {
		if !slices.Contains(c.contexts, a.context) {
			out = append(out, a)
			continue
		}
		for _, left := range civil.AppendDifference(nil, []civil.Range{a.days}, []civil.Range{c.span}) {
			a.days = left
			out = append(out, a)
		}
	}
	out = append(out, fresh...)
	slices.SortFunc(out, func(a, b assignment) int {
		return cmp.Or(cmp.Compare(b.context, a.context), cmp.Compare(a.days.From, b.days.From))
	})
	return out
}

// toProto returns assignments as callers read them: those of a context, or of all when it
// is 0, that hold on a day, or on any when it is nil.
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

// EffectiveRuleSet says that a rule set holds on days.
type EffectiveRuleSet struct {
	RuleSet int64
	Days    civil.Range
}

// effectiveRuleSets returns which rule sets hold on days in a context, each with its days
// joined. Overridden days are those of the override alone.
func effectiveRuleSets(list []assignment, context int64, days civil.Range) []EffectiveRuleSet {
	var overridden []civil.Range
	for _, a := range list {
		if context == GenerationOverride && a.context == GenerationOverride {
			overridden = append(overridden, a.days)
		}
	}
	overridden = civil.Normalise(overridden)
	held := map[int64][]civil.Range{}
	for _, a := range list {
		on := []civil.Range{a.days.Intersect(days)}
		switch {
		case on[0].Empty() || a.context != Default && a.context != context:
			continue
		case a.context == Default:
			on = civil.AppendDifference(nil, on, overridden)
		}
		held[a.ruleSet] = append(held[a.ruleSet], on...)
	}
	var out []EffectiveRuleSet
	for id, ranges := range held {
		for _, r := range civil.Normalise(ranges) {
			out = append(out, EffectiveRuleSet{RuleSet: id, Days: r})
		}
	}
	slices.SortFunc(out, func(a, b EffectiveRuleSet) int {
		return cmp.Or(cmp.Compare(a.RuleSet, b.RuleSet), cmp.Compare(a.Days.From, b.Days.From))
	})
	return out
}
