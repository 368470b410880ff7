package reconcile

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/entryid"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/hiddenentry"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/span"
)

// The employees of a batch are mostly consecutive, and are read by ranges of ids. With a cached
// plan, a list of ids would be searched from its beginning for each row. OFFSET 0 keeps each range
// a separate index search, even while the database has no statistics.
const (
	overRanges = `
FROM unnest($2::bigint[], $3::bigint[]) AS r (first, last)
CROSS JOIN LATERAL (`

	readMemberships = `
SELECT m.employee_id, m.employment_term_id, m.from_date, m.to_date` + overRanges + `
    SELECT * FROM membership WHERE tenant_id = $1 AND employee_id BETWEEN r.first AND r.last OFFSET 0
) AS m ORDER BY m.employee_id`

	assignmentColumns = `a.id, a.seq, coalesce(a.employment_term_id, 0), a.from_date, a.to_date,
    a.pattern_id, a.day_count, a.anchor, a.start_date_offset, a.override, a.lane,
    coalesce(a.lineage_id, a.id), a.entries_per_day`

	// An employee's own pattern does not apply while the employment is terminated. For patterns of
	// terms, the memberships end.
	readOwnAssignments = `
SELECT a.employee_id, ` + assignmentColumns + `,
    e.terminated_from, e.terminated_to` + overRanges + `
    SELECT * FROM pattern_assignment
    WHERE tenant_id = $1 AND employee_id BETWEEN r.first AND r.last AND believed_until = 'infinity' OFFSET 0
) AS a LEFT JOIN employee e ON e.tenant_id = $1 AND e.id = a.employee_id
ORDER BY a.employee_id`

	readTermAssignments = `
SELECT a.employment_term_id, ` + assignmentColumns + `, NULL::date[], NULL::date[]
FROM employment_term t
JOIN pattern_assignment a ON a.tenant_id = $1 AND a.employment_term_id = t.id AND a.believed_until = 'infinity'
WHERE t.tenant_id = $1 AND t.id = ANY($2) AND t.allows_inheritance = $3
ORDER BY a.employment_term_id`

	readLocks = `
SELECT l.employee_id, l.from_date, l.to_date` + overRanges + `
    SELECT * FROM day_lock WHERE tenant_id = $1 AND employee_id BETWEEN r.first AND r.last OFFSET 0
) AS l ORDER BY l.employee_id`

	readSpans = `
SELECT s.employee_id, s.from_date, s.to_date, s.position, s.day_count, s.pattern_id,
    s.assignment_id, s.lane, s.inherited, s.series` + overRanges + `
    SELECT * FROM span WHERE tenant_id = $1 AND employee_id BETWEEN r.first AND r.last OFFSET 0
) AS s ORDER BY s.employee_id`

	// While an undo is not finished: the spans of the past since the change that it undoes, the
	// first to end first. Their series belong to the entries that return. Without such an undo the
	// statement reads no block. $4 is the time of the change that a forecast undoes, or NULL.
	readFormer = `
SELECT s.employee_id, s.from_date, s.to_date, s.position, s.day_count, s.pattern_id, s.assignment_id, s.lane, s.inherited, s.series` + overRanges + `
    SELECT * FROM span_past_block WHERE tenant_id = $1 AND last_employee_id >= r.first AND first_employee_id <= r.last AND believed_until >= least($4, (
        SELECT min(restores_from) FROM propagation WHERE tenant_id = $1 AND state <> 'FINISHED')) OFFSET 0
) AS b
CROSS JOIN LATERAL unnest(b.employee_ids, b.from_dates, b.to_dates, b.positions, b.day_counts, b.pattern_ids, b.assignment_ids, b.lanes, b.inherited, b.series)
    AS s (employee_id, from_date, to_date, position, day_count, pattern_id, assignment_id, lane, inherited, series)
WHERE s.employee_id BETWEEN r.first AND r.last
ORDER BY s.employee_id, b.believed_until`

	readHidden = `
SELECT i.hides_employee_id, i.id, i.hides_day, coalesce(i.hides_lineage_id, 0), coalesce(i.hides_pattern_id, 0),
    coalesce(i.hides_cycle_day, 0), coalesce(i.hides_ordinal, 0), i.hidden_lane, i.hidden_ordinal,
    CASE WHEN i.deleted THEN 0 ELSE coalesce(i.employee_id, 0) END, i.from_day, i.withdrawn,
    EXISTS (SELECT FROM pattern_assignment a WHERE a.tenant_id = $1 AND a.id = i.hides_lineage_id AND a.employee_id IS NOT NULL),
    EXISTS (SELECT FROM employee e, unnest(e.terminated_from, e.terminated_to) AS d (f, t)
            WHERE e.tenant_id = $1 AND e.id = i.hides_employee_id AND d.f <= i.from_day AND d.t > i.from_day)` + overRanges + `
    SELECT * FROM schedule_item
    WHERE tenant_id = $1 AND hides_employee_id BETWEEN r.first AND r.last AND hides_day IS NOT NULL OFFSET 0
) AS i ORDER BY i.hides_employee_id, i.id`
)

// widestGap is the number of other ids that a range may span.
const widestGap = 32

// ranges returns inclusive ranges that contain the ascending ids and few others.
func ranges(ids []int64) (first, last []int64) {
	for _, id := range ids {
		if n := len(last); n > 0 && id-last[n-1] <= widestGap {
			last[n-1] = id
		} else {
			first, last = append(first, id), append(last, id)
		}
	}
	return first, last
}

// State is the input that determines the spans of employees, and their stored spans.
type State struct {
	memberships list[span.Membership]
	own         list[span.Assignment]
	byTerm      list[span.Assignment] // by term, if it passes on its patterns
	locks       list[civil.Range]
	spans       list[span.Span]
	former      list[span.Span]        // replaced spans, while an undo is not finished
	hidden      list[hiddenentry.Hide] // changed or deleted generated entries
	// restoresFrom is the time of the change that a forecast undoes, or nil.
	restoresFrom *time.Time
	// Revision is the revision of the resulting spans.
	Revision int64

	terms    []int64
	gathered []span.Assignment
}

// Load reads the state of employees. Their ids ascend. They must be locked, or db must be a
// transaction with a snapshot.
func (s *State) Load(ctx context.Context, db pg.Querier, employeeIDs []int64) error {
	batch := &pgx.Batch{}
	s.Queue(batch, tenant.Of(ctx), employeeIDs)
	if err := db.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("propagation: read state: %w", err)
	}
	return s.LoadAssignments(ctx, db)
}

// Queue adds statements that read the state of employees except for the assignments of their terms.
// LoadAssignments reads these afterwards.
func (s *State) Queue(batch *pgx.Batch, tenantID int64, employeeIDs []int64) {
	first, last := ranges(employeeIDs)
	batch.Queue(readMemberships, tenantID, first, last).Query(s.scanMemberships)
	batch.Queue(readOwnAssignments, tenantID, first, last).Query(scanAssignments(&s.own))
	batch.Queue(readLocks, tenantID, first, last).Query(s.scanLocks)
	batch.Queue(readSpans, tenantID, first, last).Query(scanSpans(&s.spans))
	batch.Queue(readFormer, tenantID, first, last, s.restoresFrom).Query(scanSpans(&s.former))
	batch.Queue(readHidden, tenantID, first, last).Query(s.scanHidden)
}

// LoadAssignments reads the assignments of the employees' terms. The rest of the state must be
// loaded.
func (s *State) LoadAssignments(ctx context.Context, db pg.Querier) error {
	s.collectTerms()
	rows, err := db.Query(ctx, readTermAssignments, tenant.Of(ctx), s.terms, true)
	if err == nil {
		err = scanAssignments(&s.byTerm)(rows)
	}
	if err != nil {
		return fmt.Errorf("propagation: read assignments: %w", err)
	}
	return nil
}

// collectTerms lists the terms of the employees.
func (s *State) collectTerms() {
	s.terms = s.terms[:0]
	for i := range s.memberships.values {
		if id := s.memberships.values[i].TermID; len(s.terms) == 0 || s.terms[len(s.terms)-1] != id {
			s.terms = append(s.terms, id)
		}
	}
	slices.Sort(s.terms)
	s.terms = slices.Compact(s.terms)
}

// next returns the input for an employee's spans, which is valid until the next call. Successive
// calls must ask for ascending employees.
func (s *State) next(employeeID int64) span.Input {
	in := s.nextRows(employeeID)
	in.Assignments = s.withTerms(in.Assignments, in.Memberships, &s.byTerm)
	return in
}

// nextRows is next with only the employee's own assignments.
func (s *State) nextRows(employeeID int64) span.Input {
	return span.Input{
		Memberships: s.memberships.next(employeeID),
		Assignments: s.own.next(employeeID),
		Locks:       s.locks.next(employeeID),
		Current:     s.spans.next(employeeID),
	}
}

// withTerms returns an employee's own assignments together with those of the terms. The result is
// valid until the next call.
func (s *State) withTerms(own []span.Assignment, memberships []span.Membership, byTerm *list[span.Assignment]) []span.Assignment {
	if len(memberships) == 1 && len(own) == 0 {
		return byTerm.find(memberships[0].TermID)
	}
	s.gathered = append(s.gathered[:0], own...)
	for i, m := range memberships {
		before := memberships[:i]
		if !slices.ContainsFunc(before, func(b span.Membership) bool { return b.TermID == m.TermID }) {
			s.gathered = append(s.gathered, byTerm.find(m.TermID)...)
		}
	}
	return s.gathered
}

func (s *State) scanMemberships(rows pgx.Rows) error {
	s.memberships.reset()
	var employee, term int64
	var days civil.Range
	_, err := pgx.ForEachRow(rows, []any{&employee, &term, &days.From, &days.To}, func() error {
		// The assignments of a term that does not pass on its patterns are never loaded.
		s.memberships.add(employee, span.Membership{TermID: term, Days: days, Inherits: true})
		return nil
	})
	return err
}

func scanAssignments(into *list[span.Assignment]) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		into.reset()
		var owner int64
		var a span.Assignment
		var days civil.Range
		var lane int16
		var terminatedFrom, terminatedTo []civil.Date
		_, err := pgx.ForEachRow(rows, []any{
			&owner, &a.ID, &a.Seq, &a.TermID, &days.From, &days.To, &a.PatternID, &a.DayCount, &a.Anchor, &a.Offset, &a.Override, &lane,
			&a.Lineage, &a.EntriesPerDay, &terminatedFrom, &terminatedTo,
		}, func() error {
			a.Lane, a.From, a.To = uint8(lane), days.From, days.To
			for _, part := range employedParts(a, joinRanges(terminatedFrom, terminatedTo)) {
				into.add(owner, part)
			}
			return nil
		})
		return err
	}
}

// joinRanges returns the ranges with the given first days and days after the last.
func joinRanges(from, to []civil.Date) []civil.Range {
	var list []civil.Range
	for i := range from {
		list = append(list, civil.Range{From: from[i], To: to[i]})
	}
	return civil.Normalise(list)
}

// employedParts returns the parts of an assignment without the days of a terminated employment.
func employedParts(a span.Assignment, terminated []civil.Range) []span.Assignment {
	var parts []span.Assignment
	for _, remaining := range civil.AppendDifference(nil, []civil.Range{a.Days()}, terminated) {
		a.From, a.To = remaining.From, remaining.To
		parts = append(parts, a)
	}
	return parts
}

func (s *State) scanLocks(rows pgx.Rows) error {
	s.locks.reset()
	var employee int64
	var days civil.Range
	_, err := pgx.ForEachRow(rows, []any{&employee, &days.From, &days.To}, func() error {
		s.locks.add(employee, days)
		return nil
	})
	return err
}

func scanSpans(into *list[span.Span]) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		into.reset()
		var employee int64
		var row span.Span
		var lane int16
		_, err := pgx.ForEachRow(rows, []any{
			&employee, &row.From, &row.To, &row.Position, &row.DayCount, &row.PatternID, &row.AssignmentID, &lane, &row.Inherited, &row.Series,
		}, func() error {
			row.Lane = uint8(lane)
			into.add(employee, row)
			return nil
		})
		return err
	}
}

func (s *State) scanHidden(rows pgx.Rows) error {
	s.hidden.reset()
	var h hiddenentry.Hide
	var ordinal int16
	var lane, slot *int16
	_, err := pgx.ForEachRow(rows, []any{
		&h.EmployeeID, &h.ItemID, &h.Day, &h.LineageID, &h.PatternID, &h.CycleDay, &ordinal, &lane, &slot,
		&h.OwnerID, &h.OwnDay, &h.Withdrawn, &h.OfEmployee, &h.Terminated,
	}, func() error {
		h.Ordinal, h.Series, h.Slot = uint8(ordinal), 0, nil
		if at, err := entryid.Decode(h.ItemID); err == nil {
			h.Series = at.Series
		}
		if lane != nil && slot != nil {
			h.Slot = &hiddenentry.Slot{Lane: uint8(*lane), Ordinal: uint8(*slot)}
		}
		s.hidden.add(h.EmployeeID, h)
		return nil
	})
	return err
}
