package calculation

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/personzone"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/employeeday"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leaveedit"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/payrule"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/dayschedule"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/paycodeedit"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/punch"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/worktime"
)

// Days around the requested days that are read too: the week before counts towards overtime, and a
// shift can begin before a day and end after it. The pairing of punches is only certain some days
// away from the ends of the data.
const (
	daysBefore = 8
	daysAfter  = 5
	// daysBack is the number of days to search back for the start of a shift. If an employee made
	// no pause longer than the longest shift in this time, a shift begins with the first punch in
	// it.
	daysBack = 35
)

// employee is the stored data of one employee on some days.
type employee struct {
	ID           int64
	number, name string
	clocks       civil.Clocks
	// hired is nil if the hire date is unknown. terminated are the days after a termination.
	hired      *civil.Date
	terminated []civil.Range
	// Through is the last signed-off day; nil without a sign-off.
	Through     *civil.Date
	punches     []punch.Punch
	edits       []*paycodeedit.Edit
	leave       []leaveedit.Paid
	corrections []*correction
	// late are the present punches of signed-off days.
	late []punch.Punch
	// signed are the requested days that are signed off. before is the work of these days and of
	// the days before.
	signed map[civil.Date]*timekeepingv1.TimecardDay
	before map[civil.Date]worktime.Worked
	// rescheduled is the schedule that signed-off days are paid by whose schedule changed after the
	// sign-off.
	rescheduled dayschedule.Days
	// of is the data of other services.
	of employeeday.Days
}

// Window selects the data to read.
type Window struct {
	Days civil.Range
	// Bodies requests the bodies of punches, for showing them.
	Bodies bool
	// Signed restricts the read to signed-off days, and calculates them anyway.
	Signed bool
	// Across reads punches after the signed-off days too.
	Across bool
	// Wages requests totals with wages.
	Wages bool
	// Booked leaves out punches, and reads only bookings without punches.
	Booked bool
}

// aroundWeek is the number of other days, before and after a day, that can belong to its week.
const aroundWeek = 6

// weeks returns the days to calculate: the days of the window and, for wages by the regular rate,
// the weeks around them.
func (w Window) weeks(rules *payrule.Rules) civil.Range {
	if w.Wages && rules.HasRegularRate() {
		return civil.Range{From: w.Days.From - aroundWeek, To: w.Days.To + aroundWeek}
	}
	return w.Days
}

const (
	readEmployees = `
SELECT e.id, coalesce(p.person_number, ''), coalesce(p.full_name, ''), coalesce(p.time_zone, 'UTC'), coalesce(p.time_zones, ''), p.hire_date, coalesce(p.terminated, '{}'),
       (SELECT max(through) FROM timecard_signoff WHERE tenant_id = $1 AND employee_id = e.id)
FROM unnest($2::bigint[]) AS e (id)
LEFT JOIN person p ON p.tenant_id = $1 AND p.id = e.id`

	// A shift begins after a pause that is longer than any shift. The query also reads the punches
	// in the $10 seconds before open days, because parts of their shifts may count there. Each
	// bound is a separate column: row-level security does not let other expressions of columns
	// search the index.
	readPunches = `
SELECT e.id, p.id, p.at, p.time_zone, p.direction, p.is_transfer, p.job, p.work_rule_id, p.work_rule, p.no_deduction,
       CASE WHEN $7 THEN p.body END, p.created_at, p.updated_at
FROM unnest($2::bigint[]) AS e (id)
CROSS JOIN LATERAL (
    SELECT max(open_from) AS open_from, CASE WHEN NOT $8 THEN max(open_from) - make_interval(secs => $10) END AS first_at
    FROM timecard_signoff WHERE tenant_id = $1 AND employee_id = e.id
) AS h
CROSS JOIN LATERAL (
    SELECT coalesce(max(q.at), $3) AS at FROM (
        SELECT at, at - lag(at) OVER (ORDER BY at) AS pause FROM punch
        WHERE tenant_id = $1 AND employee_id = e.id AND at >= $3::timestamptz - make_interval(days => $6) AND at < $3
    ) AS q WHERE q.pause IS NULL OR q.pause > make_interval(secs => $5)
) AS first
CROSS JOIN LATERAL (
    SELECT * FROM punch
    WHERE tenant_id = $1 AND employee_id = e.id AND at < $4
      AND at >= greatest(first.at, h.first_at)
      AND (NOT $8 OR $9 OR at < h.open_from)
    OFFSET 0
) AS p
ORDER BY e.id, p.at, p.direction DESC, p.is_transfer, p.id`
)

// load reads the stored data of employees.
func (r *Reader) load(ctx context.Context, tx pgx.Tx, ids []int64, w Window, rules *payrule.Rules) (map[int64]*employee, error) {
	tenantID := tenant.Of(ctx)
	found := make(map[int64]*employee, len(ids))
	days, maxShift, back := w.weeks(rules), rules.MaxShift(), int64(0)
	if rules.Splits() {
		back = 2*maxShift + civil.SecondsPerDay
	}
	from, to := days.From-daysBefore, days.To+daysAfter
	var snapshot pg.Snapshot
	snapshot.Queue(func(rows pgx.Rows) error { return r.scanEmployees(rows, found) }, readEmployees, tenantID, ids)
	if !w.Booked {
		snapshot.Queue(func(rows pgx.Rows) error {
			return r.scanPunches(rows, func(id int64, p punch.Punch) { found[id].punches = append(found[id].punches, p) })
		}, readPunches,
			tenantID, ids, from.Time(), to.Time(), float64(maxShift), daysBack, w.Bodies, w.Signed, w.Across, float64(back))
	}
	snapshot.Queue(func(rows pgx.Rows) error {
		return paycodeedit.Scan(rows, func(id int64, e *paycodeedit.Edit) { found[id].edits = append(found[id].edits, e) })
	}, paycodeedit.ReadStored, tenantID, ids, days.From, days.To)
	shownFrom := w.Days.From
	if w.Bodies {
		shownFrom -= nightsBefore
		snapshot.Queue(func(rows pgx.Rows) error {
			return r.scanPunches(rows, func(id int64, p punch.Punch) { found[id].late = append(found[id].late, p) })
		}, readLate, tenantID, ids, shownFrom.Time(), (w.Days.To + 1).Time())
	}
	var leave []leaveedit.PaidEdit
	snapshot.Queue(func(rows pgx.Rows) error {
		return leaveedit.ScanPaid(rows, func(e leaveedit.PaidEdit) { leave = append(leave, e) })
	}, leaveedit.ReadPaid, tenantID, ids, days.From, days.To)
	if !w.Signed {
		snapshot.Queue(func(rows pgx.Rows) error { return scanSigned(rows, found) }, readSigned, tenantID, ids, from, days.To, min(shownFrom, days.From))
		snapshot.Queue(func(rows pgx.Rows) error { return scanCorrections(rows, found) }, readCorrections, tenantID, ids, w.Days.From, w.Days.To)
	}
	if err := snapshot.Read(ctx, tx); err != nil {
		return nil, fmt.Errorf("read timecards: %w", err)
	}
	paid, err := leaveedit.PaidTime(ctx, tx, leave)
	for _, p := range paid {
		found[p.EmployeeID].leave = append(found[p.EmployeeID].leave, p)
	}
	return found, err
}

func (r *Reader) scanEmployees(rows pgx.Rows, found map[int64]*employee) error {
	for rows.Next() {
		e := &employee{}
		var zone string
		var zones []byte
		var terminated pgtype.Multirange[pgtype.Range[civil.Date]]
		if err := rows.Scan(&e.ID, &e.number, &e.name, &zone, &zones, &e.hired, &terminated, &e.Through); err != nil {
			return err
		}
		for _, days := range terminated {
			e.terminated = append(e.terminated, civil.Range{From: days.Lower, To: days.Upper})
		}
		var err error
		if e.clocks, err = personzone.Read(&r.zones, zone, zones); err != nil {
			return err
		}
		found[e.ID] = e
	}
	return rows.Err()
}

func (r *Reader) scanPunches(rows pgx.Rows, add func(int64, punch.Punch)) error {
	for rows.Next() {
		var id int64
		var at time.Time
		var zone string
		var p punch.Punch
		err := rows.Scan(&id, &p.ID, &at, &zone, (*int8)(&p.Direction), &p.Transfer, &p.Job, &p.WorkRuleID, &p.WorkRule, &p.NoDeduction,
			&p.Body, &p.Entered, &p.UpdatedAt)
		if err != nil {
			return err
		}
		p.At = at.Unix()
		if p.Zone, err = r.zones.Get(zone); err != nil {
			return err
		}
		add(id, p)
	}
	return rows.Err()
}
