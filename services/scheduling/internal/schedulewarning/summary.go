package schedulewarning

import (
	"cmp"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
)

// MaxPersons is the largest number of persons that a [Summary] names.
const MaxPersons = 100

// Person is an employee with a warning.
type Person struct {
	EmployeeID int64
	// Dates and Text are the dates and the text of the [Warning].
	Dates []civil.Date
	Text  string
}

// Summary has the employees with the same warning.
type Summary struct {
	Code         Code
	AssignmentID int64
	// Employees counts all employees. Persons are the first of them, at most [MaxPersons].
	Employees int64
	Persons   []Person
}

// Summaries collects the warnings of a change's employees. The zero value is ready to use.
type Summaries struct {
	list               []Summary
	employees, changed int64
}

// Add adds the warnings of one employee. changed reports whether the employee's schedule changes.
func (s *Summaries) Add(employeeID int64, changed bool, warnings []Warning) {
	s.employees++
	if changed {
		s.changed++
	}
	for _, w := range warnings {
		i := slices.IndexFunc(s.list, func(o Summary) bool { return o.Code == w.Code && o.AssignmentID == w.AssignmentID })
		if i < 0 {
			i = len(s.list)
			s.list = append(s.list, Summary{Code: w.Code, AssignmentID: w.AssignmentID})
		}
		one := &s.list[i]
		one.Employees++
		if len(one.Persons) < MaxPersons {
			one.Persons = append(one.Persons, Person{EmployeeID: employeeID, Dates: w.Dates, Text: w.Text})
		}
	}
}

// List returns the summaries by code and assignment; assignments that are not stored come last. The
// last summary is [EmptyChange] if no schedule changes.
func (s *Summaries) List() []Summary {
	slices.SortStableFunc(s.list, func(a, b Summary) int {
		return cmp.Or(cmp.Compare(slices.Index(Codes, a.Code), slices.Index(Codes, b.Code)), compareAssignments(a.AssignmentID, b.AssignmentID))
	})
	if s.employees == 0 || s.changed > 0 {
		return s.list
	}
	return append(slices.Clip(s.list), Summary{Code: EmptyChange, Employees: s.employees})
}

// compareAssignments orders stored assignments before those that are not stored, whose ids are negative.
func compareAssignments(a, b int64) int {
	if (a < 0) != (b < 0) {
		return cmp.Compare(b, a)
	}
	return cmp.Compare(max(a, -a), max(b, -b))
}
