package explanation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rotation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
)

// assignment is a version of the assignment of a pattern to an employment term or an employee.
type assignment struct {
	ID      int64
	Version int32
	// TermID and Term are the employment term; they are empty if the owner is an employee.
	TermID        int64
	Term          string
	Days          civil.Range
	PatternID     int64
	DayCount      int32
	Anchor        civil.Date
	Offset        int32
	PropagationID int64
	// Decided is the time of the change that made the version.
	Decided time.Time
}

// puts reports whether the version puts a day at the place of the cycle where the span has it.
func (a *assignment) puts(s *reading.SpanOrigin, day civil.Date) bool {
	return a.PatternID == s.PatternID && a.Days.Contains(day) && rotation.Position(a.Anchor, a.Offset, day, a.DayCount) == s.Position(day)
}

// item is the decision of an item: a shift or time off that people entered, or a generated shift that
// they changed or deleted.
type item struct {
	// EmployeeID is the employee who has the item now, or 0 if it is an open shift.
	EmployeeID int64
	Day        civil.Date
	Deleted    bool
	Version    int64
	Decided    time.Time
}

// membership puts an employee on an employment term.
type membership struct {
	TermID   int64
	Term     string
	Inherits bool // whether the term passes its patterns on
	Days     civil.Range
	Decided  time.Time
}

// employment is the time of employment, as known today.
type employment struct {
	Hired      *civil.Date
	Terminated []civil.Range
}

// employs reports whether the person is employed on a day.
func (e *employment) employs(day civil.Date) bool {
	if e.Hired != nil && day < *e.Hired {
		return false
	}
	return !slices.ContainsFunc(e.Terminated, func(r civil.Range) bool { return r.Contains(day) })
}

// The statements of decisions. $1 is the tenant, $2 are ids, and the last argument is the instant; NULL
// selects the present. A table in braces has the rows that were believed at the instant.
const (
	readItemDecisions = `
SELECT i.id, coalesce(i.employee_id, 0), i.from_day, i.deleted, i.version, i.believed_from FROM {schedule_item} i WHERE i.id = ANY($2)`

	readLockDecisions = `SELECT l.id, l.believed_from FROM {day_lock} l WHERE l.id = ANY($2)`

	readLeaveDecisions = `
SELECT l.id, l.believed_from FROM {locked_leave} l WHERE l.id = ANY($2)
UNION ALL SELECT l.id, l.believed_from FROM {leave_edit} l WHERE l.id = ANY($2)`

	readMemberships = `
SELECT m.employee_id, m.employment_term_id, coalesce(t.name, ''), coalesce(t.allows_inheritance, false), m.from_date, m.to_date, m.believed_from
FROM {membership} m LEFT JOIN employment_term t ON t.tenant_id = $1 AND t.id = m.employment_term_id
WHERE m.employee_id = ANY($2) AND m.from_date < $4 AND m.to_date > $3 ORDER BY m.employee_id, m.from_date`

	readAssignments = `
SELECT a.id, a.version, coalesce(a.employment_term_id, 0), coalesce(t.name, ''), a.from_date, a.to_date, a.pattern_id, a.day_count, a.anchor,
    a.start_date_offset, a.propagation_id, a.believed_from
FROM pattern_assignment a LEFT JOIN employment_term t ON t.tenant_id = $1 AND t.id = a.employment_term_id
WHERE a.tenant_id = $1 AND a.id = ANY($2) AND a.believed_from <= coalesce($3, 'infinity'::timestamptz) ORDER BY a.id, a.version DESC`

	readEmployments = `SELECT id, hire_date, terminated_from, terminated_to FROM employee WHERE tenant_id = $1 AND id = ANY($2)`
)

// decisionTexts are the statements as of now, and as of the instant that is their last argument.
var decisionTexts = func() (texts [2]map[string]string) {
	for i := range texts {
		texts[i] = map[string]string{}
		for sql, last := range map[string]string{readItemDecisions: "$3", readLockDecisions: "$3", readLeaveDecisions: "$3", readMemberships: "$5"} {
			text := sql
			for table, key := range map[string]string{
				"schedule_item": "id, employee_id, from_day, deleted, version", "day_lock": "id", "leave_edit": "id", "locked_leave": "id",
				"membership": "employee_id, employment_term_id, from_date, to_date",
			} {
				rows := fmt.Sprintf("(SELECT %[1]s, believed_from FROM %[2]s WHERE tenant_id = $1 AND %[3]s::timestamptz IS NULL)", key, table, last)
				if i == 1 {
					rows = fmt.Sprintf(`(
    SELECT %[1]s, believed_from FROM %[2]s WHERE tenant_id = $1 AND believed_from <= %[3]s
    UNION ALL SELECT %[1]s, believed_from FROM %[2]s_past WHERE tenant_id = $1 AND believed_from <= %[3]s AND believed_until > %[3]s)`, key, table, last)
				}
				text = strings.ReplaceAll(text, "{"+table+"}", rows)
			}
			texts[i][sql] = text
		}
	}
	return texts
}()

// decisionText returns the text of a statement.
func decisionText(sql string, at *time.Time) string {
	if at != nil {
		return decisionTexts[1][sql]
	}
	return decisionTexts[0][sql]
}

// decisions are the decisions that the rows of origins follow from.
type decisions struct {
	// assignments are the versions of the assignments that spans name, by assignment, newest first.
	assignments map[int64][]assignment
	// items are the decisions of the items that add or hide shifts or take time off, by id.
	items map[int64]item
	// locks and leave are the times of decisions, by id.
	locks, leave map[int64]time.Time
	// memberships, in order, and employments are by employee.
	memberships map[int64][]membership
	employments map[int64]employment
}

// readDecisions reads the decisions; nil means as of now.
func readDecisions(ctx context.Context, tx pgx.Tx, o *reading.Origins, at *time.Time) (*decisions, error) {
	var assignments, items, locks, leave, persons []int64
	for i := range o.Persons {
		p := &o.Persons[i]
		persons = append(persons, p.Person.ID)
		for k := range p.Spans {
			assignments = append(assignments, p.Spans[k].AssignmentID)
		}
		for _, h := range p.Hides {
			items = append(items, h.ItemID)
		}
		for _, e := range p.Entered {
			items = append(items, e.ID)
		}
		for _, l := range p.Locks {
			locks = append(locks, l.ID)
		}
		for _, l := range p.Leave {
			leave = append(leave, l.ID)
		}
	}
	d := &decisions{memberships: map[int64][]membership{}, employments: map[int64]employment{}}
	var err error
	if d.assignments, err = assignmentVersions(ctx, tx, sortUnique(assignments), at); err != nil {
		return nil, err
	}
	if d.items, err = itemDecisions(ctx, tx, sortUnique(items), at); err != nil {
		return nil, err
	}
	if d.locks, err = decisionTimes(ctx, tx, readLockDecisions, sortUnique(locks), at); err != nil {
		return nil, err
	}
	if d.leave, err = decisionTimes(ctx, tx, readLeaveDecisions, sortUnique(leave), at); err != nil {
		return nil, err
	}
	return d, d.readPersons(ctx, tx, persons, o.Days, at)
}

func sortUnique(ids []int64) []int64 {
	slices.Sort(ids)
	return slices.Compact(ids)
}

func assignmentVersions(ctx context.Context, tx pgx.Tx, ids []int64, at *time.Time) (map[int64][]assignment, error) {
	out := map[int64][]assignment{}
	if len(ids) == 0 {
		return out, nil
	}
	var a assignment
	err := pg.ForEach(ctx, tx, []any{
		&a.ID, &a.Version, &a.TermID, &a.Term, &a.Days.From, &a.Days.To, &a.PatternID, &a.DayCount, &a.Anchor, &a.Offset, &a.PropagationID, &a.Decided,
	}, func() error {
		out[a.ID] = append(out[a.ID], a)
		return nil
	}, readAssignments, tenant.Of(ctx), ids, at)
	if err != nil {
		return nil, fmt.Errorf("explanation: read assignments: %w", err)
	}
	return out, nil
}

func itemDecisions(ctx context.Context, tx pgx.Tx, ids []int64, at *time.Time) (map[int64]item, error) {
	out := map[int64]item{}
	if len(ids) == 0 {
		return out, nil
	}
	var id int64
	var i item
	err := pg.ForEach(ctx, tx, []any{&id, &i.EmployeeID, &i.Day, &i.Deleted, &i.Version, &i.Decided}, func() error {
		out[id] = i
		return nil
	}, decisionText(readItemDecisions, at), tenant.Of(ctx), ids, at)
	if err != nil {
		return nil, fmt.Errorf("explanation: read decisions of items: %w", err)
	}
	return out, nil
}

// decisionTimes returns the times of the decisions with the ids. Leave that also locked days have uses the
// time of its edit.
func decisionTimes(ctx context.Context, tx pgx.Tx, sql string, ids []int64, at *time.Time) (map[int64]time.Time, error) {
	out := map[int64]time.Time{}
	if len(ids) == 0 {
		return out, nil
	}
	var id int64
	var decided time.Time
	err := pg.ForEach(ctx, tx, []any{&id, &decided}, func() error {
		out[id] = decided
		return nil
	}, decisionText(sql, at), tenant.Of(ctx), ids, at)
	if err != nil {
		return nil, fmt.Errorf("explanation: read times of decisions: %w", err)
	}
	return out, nil
}

// readPersons reads the memberships and the employment of persons.
func (d *decisions) readPersons(ctx context.Context, tx pgx.Tx, ids []int64, days civil.Range, at *time.Time) error {
	var id int64
	var m membership
	if err := pg.ForEach(ctx, tx, []any{&id, &m.TermID, &m.Term, &m.Inherits, &m.Days.From, &m.Days.To, &m.Decided}, func() error {
		d.memberships[id] = append(d.memberships[id], m)
		return nil
	}, decisionText(readMemberships, at), tenant.Of(ctx), ids, days.From, days.To, at); err != nil {
		return fmt.Errorf("explanation: read memberships: %w", err)
	}
	var hired *civil.Date
	var from, to []civil.Date
	if err := pg.ForEach(ctx, tx, []any{&id, &hired, &from, &to}, func() error {
		e := employment{}
		if hired != nil {
			day := *hired
			e.Hired = &day
		}
		for i := range from {
			e.Terminated = append(e.Terminated, civil.Range{From: from[i], To: to[i]})
		}
		d.employments[id] = e
		return nil
	}, readEmployments, tenant.Of(ctx), ids); err != nil {
		return fmt.Errorf("explanation: read employments: %w", err)
	}
	return nil
}
