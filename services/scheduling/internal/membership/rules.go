// Package membership assigns persons to employment terms by effective dates. A person has at most
// one term on a day.
package membership

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// Error codes of assignments.
const (
	// CodeValues (400): the values of a criterion are missing or not ids.
	CodeValues = "WCO-101202"
	// CodeManyIdentities (400): several properties identify a person. Use one.
	CodeManyIdentities = "WCO-101261"
	// CodeNoIdentity (400): no property identifies the person. Use one.
	CodeNoIdentity = "WCO-101262"
)

// membership is one stored assignment: a term and the days from the first date until the second,
// exclusive.
type membership struct {
	term int64
	days civil.Range
}

// change is the requested change of one item: the new assignments replace all others inside the
// span.
type change struct {
	span  civil.Range
	terms []termDays
}

// termDays is a new assignment whose term has not been looked up yet.
type termDays struct {
	ref  *commonv1.Ref
	days civil.Range
}

// always is the span of items without one.
var always = civil.Range{From: civil.Beginning, To: civil.Forever}

// readChange parses and checks the assignments of one item.
func readChange(in *schedulingv1.PersonEmploymentTerms) (change, error) {
	c := change{span: always}
	if s := in.GetAssignmentSpan(); s != nil {
		var err error
		if c.span, err = readDays("assignmentSpan", "start", s.GetStart(), "end", s.GetEnd()); err != nil {
			return c, err
		}
	}
	for i, a := range in.GetAssignments() {
		at := fmt.Sprintf("assignments[%d]", i)
		ref := a.GetEmploymentTerm()
		if ref.GetId() == 0 && ref.GetQualifier() == "" {
			return c, fault.Invalid(fault.CodeInput, at+".employmentTerm needs an id or a qualifier.")
		}
		days, err := readDays(at, "effectiveDate", a.GetEffectiveDate(), "expirationDate", a.GetExpirationDate())
		if err != nil {
			return c, err
		}
		if !c.span.Covers(days) {
			return c, fault.Invalid(fault.CodeInput, fmt.Sprintf("%s lies outside of the assignmentSpan from %s to %s.", at, c.span.From, c.span.To))
		}
		c.terms = append(c.terms, termDays{ref, days})
	}
	return c, checkOverlap(c.terms)
}

func readDays(at, fromName, from, toName, to string) (civil.Range, error) {
	if from == "" || to == "" {
		return civil.Range{}, fault.Invalid(fault.CodeInput, fmt.Sprintf("%s needs %s and %s.", at, fromName, toName))
	}
	first, err := civil.ParseDate(from)
	if err != nil {
		return civil.Range{}, fault.Invalid(fault.CodeDate, fmt.Sprintf("%s.%s: %s.", at, fromName, err))
	}
	end, err := civil.ParseDate(to)
	if err != nil {
		return civil.Range{}, fault.Invalid(fault.CodeDate, fmt.Sprintf("%s.%s: %s.", at, toName, err))
	}
	days := civil.Range{From: first, To: end}.Clamp()
	if days.Empty() {
		return civil.Range{}, fault.Invalid(fault.CodeInput, fmt.Sprintf("%s: %s %s is not after %s %s.", at, toName, to, fromName, from))
	}
	return days, nil
}

func checkOverlap(terms []termDays) error {
	sorted := slices.SortedFunc(slices.Values(terms), func(a, b termDays) int { return cmp.Compare(a.days.From, b.days.From) })
	for i := 1; i < len(sorted); i++ {
		if sorted[i-1].days.Overlaps(sorted[i].days) {
			return fault.Invalid(fault.CodeInput, fmt.Sprintf("The assignments from %s and from %s overlap.", sorted[i-1].days.From, sorted[i].days.From))
		}
	}
	return nil
}

// rewrite returns the assignments of a person after the days of span were replaced by new
// assignments, in order of their days. The new assignments are inside the span and do not overlap.
func rewrite(old []membership, span civil.Range, fresh []membership) []membership {
	out := make([]membership, 0, len(old)+len(fresh)+1)
	for _, m := range old {
		for _, remaining := range civil.AppendDifference(nil, []civil.Range{m.days}, []civil.Range{span}) {
			out = append(out, membership{m.term, remaining})
		}
	}
	out = append(out, fresh...)
	slices.SortFunc(out, func(a, b membership) int { return cmp.Compare(a.days.From, b.days.From) })
	return out
}
