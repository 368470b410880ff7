package patternassignment

import (
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/pg/advisory"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
)

// Kind is whom patterns are put on.
type Kind struct {
	// lock makes changes of the same owners wait for each other, until the
	// transaction ends. What is read afterwards is then what the one before left.
	// Locking the rows themselves would not do: the version that it waited for is
	// gone, and the one that replaced it was not there when the statement began.
	lock advisory.Lock
	// owner and owners are what messages call one and several of them.
	owner, owners string
	// What requests call an assignment, and the refs of its owners.
	pattern, ref, refs, removeByOwners string
	// lastBlocks ends the list of the blocks of an update.
	lastBlocks string
	// codeEnd is for an end that is not after its start, codeStart for a start that
	// is missing.
	codeEnd, codeStart string
	// ofEmployees reports whether the owners are employees.
	ofEmployees bool
	// concerned are those whom a change may concern.
	affected func(owners []int64) propagation.Request
	// notice speaks of a number of employees with locked days.
	notice func(employees int64) string

	selectOwners, selectOne, selectWindow, selectHistory, insertVersions, countLocked string
	// selectHired is empty for owners who are not hired.
	selectHired string
}

// The SQL of a kind differs in the column of the owner, and in the table that has
// the owner's name.
func (k *Kind) prepare(column, table string) *Kind {
	k.selectOwners = fmt.Sprintf(selectOwners, column, table)
	k.selectOne = fmt.Sprintf(selectOne, column, table)
	k.selectWindow = fmt.Sprintf(selectWindow, column, table)
	k.selectHistory = fmt.Sprintf(selectHistory, column)
	k.insertVersions = fmt.Sprintf(insertVersions, column)
	return k
}

// Terms are the employment terms, which pass their patterns on to the employees who
// are on them. A term can be deleted while it has patterns, but not while it has
// persons: its assignments concern nobody, and are gone with it.
func Terms() *Kind {
	k := &Kind{
		lock: "patterns of employment terms", owner: "employment term", owners: "employment terms",
		pattern: "groupSchedulePattern", ref: "groupRef", refs: "groupRefs", removeByOwners: "removeByGroups", lastBlocks: " and removeByGroups",
		codeEnd: codeEnd, codeStart: codeMissing, countLocked: countLockedOfTerms,
		affected: func(owners []int64) propagation.Request {
			return propagation.Request{Cause: propagation.CausePattern, TermIDs: owners}
		},
		notice: func(employees int64) string {
			return fmt.Sprintf("Days are locked for at least %d of the term's employees and are left alone.", employees)
		},
	}
	return k.prepare("employment_term_id", "employment_term")
}

// The codes that the reference product has for patterns of employees.
const (
	// codeEmployeeEnd (400): the end of an employee's pattern is not after its start. Send a later end, or none.
	codeEmployeeEnd = "WFS-100604"
	// codeEmployeeStart (400): an employee's pattern has no start. Send a startDate.
	codeEmployeeStart = "WFS-100607"
	// codeHired (400): an employee's pattern starts before the hire date. Send a later startDate.
	codeHired = "WFS-100601"
)

// countLockedOfEmployees counts the employees who have locked days in the range that
// belongs to them: one or none for each.
const countLockedOfEmployees = `
SELECT c.n, count(*)
FROM unnest($2::bigint[], $3::date[], $4::date[]) WITH ORDINALITY AS c (employee_id, from_date, to_date, n)
WHERE EXISTS (SELECT FROM day_lock l WHERE l.tenant_id = $1 AND l.employee_id = c.employee_id
                                       AND l.from_date < c.to_date AND l.to_date > c.from_date)
GROUP BY c.n LIMIT $5`

// selectHired finds from when on employees may have patterns.
const selectHired = `
SELECT id, hire_date FROM employee WHERE tenant_id = $1 AND id = ANY($2) AND hire_date IS NOT NULL`

// Employees are employees with patterns of their own, which lie above those that they
// have from terms.
func Employees() *Kind {
	k := &Kind{
		lock: "patterns of employees", owner: "employee", owners: "employees", ofEmployees: true,
		pattern: "employeeSchedulePattern", ref: "employeeRef", refs: "employeeRefs", removeByOwners: "removeByEmployees", lastBlocks: ", removeByEmployees and restore",
		codeEnd: codeEmployeeEnd, codeStart: codeEmployeeStart, countLocked: countLockedOfEmployees,
		affected: func(owners []int64) propagation.Request {
			return propagation.Request{Cause: propagation.CausePattern, EmployeeIDs: owners}
		},
		selectHired: selectHired,
		notice:      func(int64) string { return "Days of the employee are locked and are left alone." },
	}
	return k.prepare("employee_id", `(SELECT tenant_id, id, person_number AS name, true AS allows_inheritance FROM employee)`)
}
