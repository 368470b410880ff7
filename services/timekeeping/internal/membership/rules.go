// Package membership puts persons on employment terms, effective-dated. A
// person has at most one term on a day.
package membership

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
)

// Error codes of assignments.
const (
	// CodeKey (400): the key of a criterion is not one that is known here.
	CodeKey = "WCO-101203"
	// CodeValues (400): the values of a criterion are missing or no ids.
	CodeValues = "WCO-101202"
	// CodeManyIdentities (400): a person is named by several properties.
	CodeManyIdentities = "WCO-101261"
	// CodeNoIdentity (400): a person is not named.
	CodeNoIdentity = "WCO-101262"
)

// membership is one stored assignment: a term and the days from the first up
// to, and not including, the second date.
type membership struct {
	term int64
	days civil.Range
}

// change is what one item of a request asks for: inside the span nothing
// stays but the new assignments.
type change struct {
	person person.Key
	span   civil.Range
	terms  []termDays
}

// termDays is a new assignment whose term is not yet looked up.
type termDays struct {
	ref  *commonv1.Ref
	days civil.Range
}

// always is the span of an item that names none.
var always = civil.Range{From: civil.Beginning, To: civil.Forever}

// readChange checks one item of a request.
func readChange(in *timekeepingv1.PersonEmploymentTerms) (change, error) {
	var c change
	var err error
	if c.person, err = readIdentity(in.GetPersonIdentity()); err != nil {
		return c, err
	}
	c.span = always
	if s := in.GetAssignmentSpan(); s != nil {
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

// readIdentity answers the one property by which a person is named. A person
// and the employee are the same, so their keys are as well.
func readIdentity(id *timekeepingv1.EmployeeIdentity) (person.Key, error) {
	var keys []person.Key
	if id != nil && id.PersonKey != nil {
		keys = append(keys, person.Key{ID: id.GetPersonKey()})
	}
	if id != nil && id.EmployeeKey != nil {
		keys = append(keys, person.Key{ID: id.GetEmployeeKey()})
	}
	if id != nil && id.PersonNumber != nil {
		keys = append(keys, person.Key{Number: id.GetPersonNumber()})
	}
	switch {
	case len(keys) == 0 || len(keys) == 1 && keys[0] == (person.Key{}):
		return person.Key{}, fault.Invalid(CodeNoIdentity, "personIdentity needs one of personKey, personNumber and employeeKey.")
	case len(keys) > 1:
		return person.Key{}, fault.Invalid(CodeManyIdentities, "personIdentity has more than one of personKey, personNumber and employeeKey.")
	}
	return keys[0], nil
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

// rewrite answers the assignments of a person after the days of span were
// cleared and filled with new ones, in the order of their days. The new ones
// lie inside the span and do not overlap.
func rewrite(old []membership, span civil.Range, fresh []membership) []membership {
	out := make([]membership, 0, len(old)+len(fresh)+1)
	for _, m := range old {
		for _, left := range civil.AppendDifference(nil, []civil.Range{m.days}, []civil.Range{span}) {
			out = append(out, membership{m.term, left})
		}
	}
	out = append(out, fresh...)
	slices.SortFunc(out, func(a, b membership) int { return cmp.Compare(a.days.From, b.days.From) })
	return out
}
