package rules

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/record"
)

// TakeTermRequests moves the requests for employment terms out of the message, because
// timekeeping stores terms. By default, an assignment starts on first. It ends when the next
// one starts, or never.
func TakeTermRequests(p *commonsv1.Person, first civil.Date) ([]record.TermRequest, error) {
	given := p.GetJobAssignment().GetEmploymentTermAssignments()
	if len(given) == 0 {
		return nil, nil
	}
	p.JobAssignment.EmploymentTermAssignments = nil
	if len(given) > maxList {
		return nil, fault.Invalid(CodeBadValue, fmt.Sprintf("jobAssignment.employmentTermAssignments has %d elements, more than the allowed %d.", len(given), maxList))
	}
	asked := make([]record.TermRequest, len(given))
	var starts []civil.Range
	for i, g := range given {
		var err error
		if asked[i], err = readTerm(fmt.Sprintf("jobAssignment.employmentTermAssignments[%d]", i), g, first); err != nil {
			return nil, err
		}
		starts = append(starts, asked[i].Days)
	}
	for i := range asked {
		a := &asked[i]
		if given[i].GetEndDate() == "" && a.Days != (civil.Range{}) {
			a.Days.To = nextStart(starts, a.Days.From)
		}
		if a.Days.Empty() && a.Days != (civil.Range{}) {
			return nil, fault.Invalid(CodeDates, fmt.Sprintf("%s: endDate %s is not after startDate %s.", a.Path, a.Days.To, a.Days.From))
		}
	}
	return asked, checkTermOverlaps(asked)
}

func readTerm(path string, g *commonsv1.TermAssignment, first civil.Date) (record.TermRequest, error) {
	a := record.TermRequest{Path: path, Name: g.GetName()}
	if err := checkText(path+".name", a.Name, maxText); err != nil {
		return a, err
	}
	read := func(name, text string, missing civil.Date) (civil.Date, error) {
		if text == "" {
			return missing, nil
		}
		day, err := civil.ParseDate(text)
		if err != nil {
			return 0, fault.Invalid(fault.CodeDate, fmt.Sprintf("%s.%s: %s.", path, name, err))
		}
		return day, nil
	}
	from, err := read("startDate", g.GetStartDate(), first)
	if err != nil {
		return a, err
	}
	to, err := read("endDate", g.GetEndDate(), civil.Forever)
	if err != nil {
		return a, err
	}
	if g.GetOriginalStartDate() != "" {
		day, err := read("originalStartDate", g.GetOriginalStartDate(), 0)
		if err != nil {
			return a, err
		}
		a.OriginalStart = &day
		if a.Name == "" && g.GetStartDate() == "" && g.GetEndDate() == "" {
			return a, nil
		}
	}
	a.Days = civil.Range{From: from, To: to}.Clamp()
	return a, nil
}

// checkTermOverlaps refuses overlapping assignments, because a person has at most one term on
// a day.
func checkTermOverlaps(asked []record.TermRequest) error {
	sorted := slices.SortedFunc(slices.Values(asked), func(a, b record.TermRequest) int { return cmp.Compare(a.Days.From, b.Days.From) })
	sorted = slices.DeleteFunc(sorted, func(a record.TermRequest) bool { return a.Days.Empty() })
	for i := 1; i < len(sorted); i++ {
		if sorted[i-1].Days.Overlaps(sorted[i].Days) {
			return fault.Invalid(CodeDates, fmt.Sprintf("%s and %s overlap.", sorted[i-1].Path, sorted[i].Path))
		}
	}
	return nil
}

// checkPositionTerms refuses employment terms in a position, because terms belong to the
// person.
func checkPositionTerms(p *commonsv1.Person) error {
	for i, position := range p.GetPositions() {
		for k, a := range position.GetFields()["employmentTermAssignments"].GetListValue().GetValues() {
			if name := a.GetStructValue().GetFields()["name"]; name.GetStringValue() != "" {
				return fault.Invalid(CodeCombination, fmt.Sprintf("positions[%d].employmentTermAssignments[%d]: a term is the person's, "+
					"not that of a position. Name it in jobAssignment.employmentTermAssignments.", i, k))
			}
		}
	}
	return nil
}
