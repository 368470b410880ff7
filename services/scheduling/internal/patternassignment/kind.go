package patternassignment

import (
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/pg/advisory"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/assignmenthistory"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
)

// Kind is a kind of owner of patterns.
type Kind struct {
	// lock serializes changes of the same owners until the transaction ends, so that a change reads
	// the result of the one before. Locking the rows would not be enough: after the wait the old
	// version is ended, and the new one is not visible to the statement.
	lock advisory.Lock
	// owner and owners are the singular and plural names of owners in messages.
	owner, owners string
	// The names of assignments and references to owners in requests.
	pattern, ref, refs, removeByOwners string
	// lastBlocks is the end of the list of the blocks of an update.
	lastBlocks string
	// codeEnd is the error for an end that is not after its start, codeStart the error for a
	// missing start.
	codeEnd, codeStart string
	// ofEmployees reports whether the owners are employees.
	ofEmployees bool
	// affected returns the propagation request for changed assignments of owners.
	affected func(owners, assignments []int64) propagation.Request
	// notice formats the notice about a number of employees with locked days.
	notice func(employees int64) string

	selectOwners, selectOne, selectWindow, selectPast, selectChanged, insertVersions, countLocked string
	// history reads the versions of assignments.
	history *assignmenthistory.Reader
	// selectHired is empty for owners without a hire date.
	selectHired string
}

// prepare fills the owner's column, and the table with the owner's name, into the SQL.
func (k *Kind) prepare(column, table string) *Kind {
	k.selectOwners = fmt.Sprintf(selectOwners, column, table)
	k.selectOne = fmt.Sprintf(selectOne, column, table)
	k.selectWindow = fmt.Sprintf(selectWindow, column, table)
	k.selectPast = fmt.Sprintf(selectPast, column, table)
	k.selectChanged = fmt.Sprintf(selectChanged, column, table)
	k.history = assignmenthistory.NewReader(column)
	k.insertVersions = fmt.Sprintf(insertVersions, column)
	return k
}

// Terms returns the kind of employment terms, which pass their patterns on to their employees. A
// term with patterns can be deleted, but a term with persons cannot. So the assignments of a
// deleted term affect no employees, and are deleted with it.
func Terms() *Kind {
	k := &Kind{
		lock: "patterns of employment terms", owner: "employment term", owners: "employment terms",
		pattern: "groupSchedulePattern", ref: "groupRef", refs: "groupRefs", removeByOwners: "removeByGroups", lastBlocks: " and removeByGroups",
		codeEnd: codeEnd, codeStart: codeMissing, countLocked: countLockedOfTerms,
		affected: func(owners, assignments []int64) propagation.Request {
			return propagation.Request{Cause: propagation.CausePattern, TermIDs: owners, AssignmentIDs: assignments}
		},
		notice: func(employees int64) string {
			return fmt.Sprintf("Locked days of at least %d employees of the term are not changed.", employees)
		},
	}
	return k.prepare("employment_term_id", "employment_term")
}

// The reference product's error codes for patterns of employees.
const (
	// codeEmployeeEnd (400): the end of an employee's pattern is not after its start. Send a later
	// end, or none.
	codeEmployeeEnd = "WFS-100604"
	// codeEmployeeStart (400): an employee's pattern has no start. Send a startDate.
	codeEmployeeStart = "WFS-100607"
	// codeHired (400): an employee's pattern starts before the hire date. Send a later startDate.
	codeHired = "WFS-100601"
)

// countLockedOfEmployees counts for each employee and range whether the employee has locked days in
// it: one or no row each.
const countLockedOfEmployees = `
SELECT c.n, count(*)
FROM unnest($2::bigint[], $3::date[], $4::date[]) WITH ORDINALITY AS c (employee_id, from_date, to_date, n)
WHERE EXISTS (SELECT FROM day_lock l WHERE l.tenant_id = $1 AND l.employee_id = c.employee_id
                                       AND l.from_date < c.to_date AND l.to_date > c.from_date)
GROUP BY c.n LIMIT $5`

// selectHired reads the hire dates of employees. Patterns cannot start earlier.
const selectHired = `
SELECT id, hire_date FROM employee WHERE tenant_id = $1 AND id = ANY($2) AND hire_date IS NOT NULL`

// Employees returns the kind of employees with their own patterns, which are above the patterns
// that they inherit from terms.
func Employees() *Kind {
	k := &Kind{
		lock: "patterns of employees", owner: "employee", owners: "employees", ofEmployees: true,
		pattern: "employeeSchedulePattern", ref: "employeeRef", refs: "employeeRefs", removeByOwners: "removeByEmployees", lastBlocks: ", removeByEmployees and restore",
		codeEnd: codeEmployeeEnd, codeStart: codeEmployeeStart, countLocked: countLockedOfEmployees,
		affected: func(owners, assignments []int64) propagation.Request {
			return propagation.Request{Cause: propagation.CausePattern, EmployeeIDs: owners, AssignmentIDs: assignments}
		},
		selectHired: selectHired,
		notice:      func(int64) string { return "Locked days of the employee are not changed." },
	}
	return k.prepare("employee_id", `(SELECT tenant_id, id, person_number AS name, true AS allows_inheritance FROM employee)`)
}
