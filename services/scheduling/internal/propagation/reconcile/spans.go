package reconcile

import (
	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

const (
	// The range of employees limits the search under any plan. Dates are compared as sums; see
	// decision 76.
	moveToPast = `
WITH gone AS (
    DELETE FROM span s
    USING unnest($2::bigint[], $3::smallint[], $4::date[]) AS u (employee_id, lane, from_date)
    WHERE s.tenant_id = $1 AND s.employee_id = u.employee_id AND s.lane = u.lane
        AND s.from_date = u.from_date + 0 AND s.employee_id BETWEEN $5 AND $6
    RETURNING s.*
)
INSERT INTO span_past_block (tenant_id, first_employee_id, last_employee_id, believed_until, employee_ids, lanes, from_dates, to_dates,
    pattern_ids, positions, day_counts, assignment_ids, inherited, propagation_ids, believed_from, series, first_believed_from)
SELECT $1, min(employee_id), max(employee_id), (SELECT change_time()), array_agg(employee_id), array_agg(lane), array_agg(from_date),
    array_agg(to_date), array_agg(pattern_id), array_agg(position), array_agg(day_count), array_agg(assignment_id),
    array_agg(inherited), array_agg(propagation_id), array_agg(believed_from), array_agg(series), min(believed_from)
FROM gone HAVING count(*) > 0`

	// Parallel calls of unnest need no intermediate table. The subquery evaluates the time of the
	// change only once.
	insertSpans = `
INSERT INTO span (tenant_id, propagation_id, employee_id, lane, from_date, to_date, pattern_id, position, day_count,
    assignment_id, inherited, series, believed_from)
SELECT $1, $2, unnest($3::bigint[]), unnest($4::smallint[]), unnest($5::date[]),
    unnest($6::date[]), unnest($7::bigint[]), unnest($8::int[]), unnest($9::int[]),
    unnest($10::bigint[]), unnest($11::bool[]), unnest($12::bigint[]), (SELECT change_time())`
)

// QueueSpans adds the statements that write the spans of a propagation.
func (c *Changes) QueueSpans(batch *pgx.Batch, tenantID, propagationID int64) {
	if r := &c.removed; len(r.employees) > 0 {
		first, last := r.employees[0], r.employees[len(r.employees)-1]
		batch.Queue(moveToPast, tenantID, r.employees, r.lanes, r.from, first, last)
	}
	if a := &c.added; len(a.employees) > 0 {
		batch.Queue(insertSpans, tenantID, propagationID, a.employees, a.lanes, a.from, a.to, a.patterns, a.positions, a.dayCounts,
			a.assignments, a.inherited, a.series)
	}
}

// AddedEmployees returns the employee of each added span, ascending.
func (c *Changes) AddedEmployees() []int64 { return c.added.employees }

// Events returns the events to publish: the spans of a revision, and the employees whose schedules
// changed.
func (c *Changes) Events(propagationID, revision int64) []proto.Message {
	events := c.published.Events(revision)
	if len(c.employees) > 0 {
		events = append(events, &schedulingv1.ScheduleChanged{
			EmployeeIds: c.employees, PropagationId: propagationID,
			From: c.days.From.String(), To: c.days.To.AddDays(-1).String(),
		})
	}
	return events
}
