package standalone

import (
	"fmt"
	"slices"
	"strings"
)

// reference is a reference to an object in the API's representation.
type reference struct {
	ID        int64  `json:"id"`
	Qualifier string `json:"qualifier"`
}

// String returns the id with the name.
func (r reference) String() string {
	if r.Qualifier == "" {
		return fmt.Sprint(r.ID)
	}
	return fmt.Sprintf("%d (%s)", r.ID, r.Qualifier)
}

// name returns the name, or else the id; "" if the object is not named.
func (r reference) name() string {
	if r.Qualifier == "" && r.ID != 0 {
		return fmt.Sprint(r.ID)
	}
	return r.Qualifier
}

// scheduleWarning is a warning about changed schedules in the API's representation.
type scheduleWarning struct {
	Code      string `json:"code"`
	Employees int64  `json:"employees"`
	Persons   []struct {
		Employee reference `json:"employee"`
		Text     string    `json:"text"`
	} `json:"persons"`
}

// propagationPattern is an assignment of a pattern in the API's representation.
type propagationPattern struct {
	AssignmentID int64     `json:"assignmentId"`
	Name         string    `json:"name"`
	Employee     reference `json:"employee"`
}

// listedNames is the largest number of terms or patterns in a line of the list.
const listedNames = 3

// terms returns the names of the employment terms.
func (p *propagation) terms() string {
	var names []string
	for _, term := range p.EmploymentTerms {
		names = append(names, term.name())
	}
	return joinNames(names)
}

// patterns returns the names of the patterns, and the ids of assignments whose patterns have no name.
func (p *propagation) patterns() string {
	var names []string
	for _, pattern := range p.Patterns {
		name := pattern.Name
		if name == "" {
			name = fmt.Sprintf("assignment %d", pattern.AssignmentID)
		}
		if pattern.Employee != (reference{}) {
			name += " of " + pattern.Employee.name()
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return joinNames(names)
}

// warnings returns the codes of the warnings with their numbers of employees.
func (p *propagation) warnings() string {
	var names []string
	for _, w := range p.Warnings {
		names = append(names, fmt.Sprintf("%s (%d)", w.Code, w.Employees))
	}
	return strings.Join(names, ", ")
}

// joinNames joins the first names, and counts the others.
func joinNames(names []string) string {
	text := strings.Join(names[:min(len(names), listedNames)], ", ")
	if others := len(names) - listedNames; others > 0 {
		text += fmt.Sprintf(" and %d others", others)
	}
	return text
}
