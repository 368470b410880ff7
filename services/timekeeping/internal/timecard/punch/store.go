package punch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardfault"
)

const (
	insertPunches = `
INSERT INTO punch (tenant_id, employee_id, at, time_zone, direction, is_transfer, job, work_rule_id, work_rule, no_deduction, body)
SELECT $1, q.* FROM unnest($2::bigint[], $3::timestamptz[], $4::text[], $5::smallint[], $6::boolean[], $7::text[], $8::bigint[], $9::text[], $10::boolean[], $11::bytea[]) AS q
ON CONFLICT ON CONSTRAINT punch_once DO NOTHING`

	readStored = `
SELECT q.n, p.id, p.direction, p.no_deduction, p.time_zone, p.body, p.created_at, p.updated_at
FROM unnest($2::bigint[], $3::timestamptz[], $4::smallint[], $5::boolean[]) WITH ORDINALITY AS q (employee_id, at, direction, is_transfer, n)
JOIN punch p ON p.tenant_id = $1 AND p.employee_id = q.employee_id AND p.at = q.at AND p.direction = q.direction AND p.is_transfer = q.is_transfer`

	updatePunch = `
UPDATE punch SET at = $4, time_zone = $5, direction = $6, is_transfer = $7, job = $8, work_rule_id = $9, work_rule = $10, no_deduction = $11, body = $12, updated_at = now()
WHERE tenant_id = $1 AND employee_id = $2 AND id = $3`

	deletePunch = `DELETE FROM punch WHERE tenant_id = $1 AND employee_id = $2 AND id = $3`

	readBetween = `
SELECT q.n, p.id, p.at, p.time_zone, p.direction, p.no_deduction, p.body, p.created_at, p.updated_at
FROM unnest($2::bigint[], $3::timestamptz[], $4::timestamptz[]) WITH ORDINALITY AS q (employee_id, first, last, n)
JOIN punch p ON p.tenant_id = $1 AND p.employee_id = q.employee_id AND p.at BETWEEN q.first AND q.last
ORDER BY q.n, p.at, p.direction DESC, p.is_transfer, p.id`
)

// Insert stores punches. A punch with the same second and the same content as a stored one is the
// same punch, and does not change.
func Insert(ctx context.Context, tx pgx.Tx, zones *civil.Zones, rows []*Entry) error {
	tenantID := tenant.Of(ctx)
	if len(rows) == 0 {
		return nil
	}
	var employees []int64
	n := len(rows)
	at, names, directions, transfers := make([]time.Time, n), make([]string, n), make([]int16, n), make([]bool, n)
	jobs, rules, ruleIDs, noDeductions, bodies := make([]string, n), make([]string, n), make([]*int64, n), make([]bool, n), make([][]byte, n)
	for i, row := range rows {
		employees = append(employees, row.Employee.ID)
		at[i], names[i], directions[i], transfers[i] = time.Unix(row.At, 0), row.Zone.Name(), int16(row.Direction), row.Transfer
		jobs[i], rules[i], ruleIDs[i], noDeductions[i], bodies[i] = row.Job, row.WorkRule, row.WorkRuleID, row.NoDeduction, row.Body
	}
	if _, err := tx.Exec(ctx, insertPunches, tenantID, employees, at, names, directions, transfers, jobs, ruleIDs, rules, noDeductions, bodies); err != nil {
		return fmt.Errorf("store punches: %w", err)
	}
	stored, err := tx.Query(ctx, readStored, tenantID, employees, at, directions, transfers)
	if err != nil {
		return fmt.Errorf("read stored punches: %w", err)
	}
	var number int64
	var p Punch
	var zone string
	_, err = pgx.ForEachRow(stored, []any{&number, &p.ID, (*int8)(&p.Direction), &p.NoDeduction, &zone, &p.Body, &p.Entered, &p.UpdatedAt}, func() error {
		row := rows[number-1]
		row.ID, row.Direction, row.NoDeduction, row.Body, row.Entered, row.UpdatedAt = p.ID, p.Direction, p.NoDeduction, p.Body, p.Entered, p.UpdatedAt
		p.Body = nil
		row.Zone, err = zones.Get(zone)
		return err
	})
	return err
}

// Update replaces the punch that has the id of an entry.
func Update(ctx context.Context, tx pgx.Tx, e *Entry) error {
	tag, err := tx.Exec(ctx, updatePunch, tenant.Of(ctx), e.Employee.ID, e.ID, time.Unix(e.At, 0), e.Zone.Name(), int16(e.Direction),
		e.Transfer, e.Job, e.WorkRuleID, e.WorkRule, e.NoDeduction, e.Body)
	var broken *pgconn.PgError
	if errors.As(err, &broken) && broken.ConstraintName == "punch_once" {
		return timecardfault.Invalid("The employee has the same punch at %s already", e.Local(e.At))
	}
	return checkFound(tag, err, e.ID)
}

// Delete deletes a punch of an employee.
func Delete(ctx context.Context, tx pgx.Tx, employeeID, id int64) error {
	tag, err := tx.Exec(ctx, deletePunch, tenant.Of(ctx), employeeID, id)
	return checkFound(tag, err, id)
}

// checkFound returns an error if a statement found no punch.
func checkFound(tag pgconn.CommandTag, err error, id int64) error {
	if err == nil && tag.RowsAffected() == 0 {
		return fault.Invalid(timecardfault.CodeUnknown, fmt.Sprintf("The timecard has no punch with the id %d.", id))
	}
	return err
}

// clockChange is longer than any single clock change. zoneChange is longer than the effect of any
// move to another time zone.
const (
	clockChange = 3 * time.Hour
	zoneChange  = 30 * time.Hour
)

// Between reads the punches of employees between two wall-clock times, inclusive, in the time zone
// of each punch. In an hour that a clock change repeats, it returns the punches of both hours.
// Consecutive windows therefore contain each punch exactly once.
func Between(ctx context.Context, db pg.Querier, zones *civil.Zones, list []person.Person, first, last civil.DateTime) ([]*timekeepingv1.EmployeePunches, error) {
	ids, from, to := make([]int64, len(list)), make([]time.Time, len(list)), make([]time.Time, len(list))
	clocks := make([]civil.Clocks, len(list))
	out := make([]*timekeepingv1.EmployeePunches, len(list))
	for i, who := range list {
		var err error
		if clocks[i], err = who.Clocks(zones); err != nil {
			return nil, err
		}
		around := clockChange
		if len(who.TimeZones.GetZones()) > 1 {
			around = zoneChange
		}
		ids[i], from[i], to[i] = who.ID, time.Unix(clocks[i].Unix(first), 0).Add(-around), time.Unix(clocks[i].Unix(last), 0).Add(around)
		out[i] = &timekeepingv1.EmployeePunches{Employee: &commonv1.Ref{Id: &ids[i], Qualifier: &list[i].Number}}
	}
	rows, err := db.Query(ctx, readBetween, tenant.Of(ctx), ids, from, to)
	if err != nil {
		return nil, fmt.Errorf("read punches: %w", err)
	}
	for rows.Next() {
		var n int64
		var p Punch
		var at time.Time
		var zone string
		if err := rows.Scan(&n, &p.ID, &at, &zone, (*int8)(&p.Direction), &p.NoDeduction, &p.Body, &p.Entered, &p.UpdatedAt); err != nil {
			rows.Close()
			return nil, fmt.Errorf("read punches: %w", err)
		}
		if shown := clocks[n-1].At(at); shown.Compare(first) < 0 || shown.Compare(last) > 0 {
			continue
		}
		p.At = at.Unix()
		if p.Zone, err = zones.Get(zone); err != nil {
			rows.Close()
			return nil, err
		}
		out[n-1].Punches = append(out[n-1].Punches, p.ToProto(out[n-1].GetEmployee()))
	}
	return out, rows.Err()
}
