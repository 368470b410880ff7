package projection

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/condition"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
)

// defaultZone is the time zone of persons without one.
const defaultZone = "UTC"

const (
	upsertEmployees = `
INSERT INTO employee (tenant_id, id, person_number, full_name, time_zone, hire_date, terminated_from, terminated_to, primary_jobs)
SELECT $1, u.id, u.number, u.name, u.zone, u.hired,
    ARRAY(SELECT d.from_date FROM unnest($8::bigint[], $9::date[], $10::date[]) AS d (id, from_date, to_date) WHERE d.id = u.id ORDER BY 1),
    ARRAY(SELECT d.to_date FROM unnest($8::bigint[], $9::date[], $10::date[]) AS d (id, from_date, to_date) WHERE d.id = u.id ORDER BY d.from_date), u.jobs
FROM unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::date[], $7::bytea[]) AS u (id, number, name, zone, hired, jobs)
ON CONFLICT (tenant_id, id) DO UPDATE SET
    person_number = excluded.person_number, full_name = excluded.full_name, time_zone = excluded.time_zone,
    hire_date = excluded.hire_date, terminated_from = excluded.terminated_from, terminated_to = excluded.terminated_to,
    primary_jobs = excluded.primary_jobs`

	// The rule sets of deleted persons. Evaluations of their past name rule sets explicitly.
	deleteRuleSets = `
DELETE FROM schedule_rule_set_assignment WHERE tenant_id = $1 AND employee_id = ANY($2)`
)

var readTerminated = `
SELECT e.id, d.from_date, d.to_date
FROM employee e, unnest(e.terminated_from, e.terminated_to) AS d (from_date, to_date)
WHERE e.tenant_id = $1 AND ` + condition.AnyOf("e.id", "$2::bigint[]") + ` ORDER BY 1, 2`

// applyPersons stores persons. Deleted persons stay, without number and name, because they own
// schedules of the past. It starts a propagation for all persons whose employment ends or resumes.
// That affects their own patterns, and changes of entries that such patterns generated, even long
// after the patterns were removed. No person can be skipped, because another transaction may be
// assigning a pattern to them.
func applyPersons(ctx context.Context, tx pgx.Tx, changes []personChange) error {
	tenantID := tenant.Of(ctx)
	rows, ids := make([]employeeRow, len(changes)), make([]int64, len(changes))
	var terminated []terminatedDays
	var deleted []int64
	for i, c := range changes {
		if c.State.GetDeleted() {
			deleted = append(deleted, c.Key)
		}
		row, err := newEmployeeRow(c.Key, c.State)
		if err != nil {
			return err
		}
		ids[i], rows[i] = c.Key, row
		if terminated, err = appendTerminated(terminated, c.Key, c.State); err != nil {
			return err
		}
	}
	before, err := readTerminations(ctx, tx, ids)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, upsertEmployees, pg.Columns(terminated, pg.Columns(rows, tenantID)...)...)
	if err != nil {
		return fmt.Errorf("projection: store employees: %w", err)
	}
	if len(deleted) > 0 {
		if _, err := tx.Exec(ctx, deleteRuleSets, tenantID, deleted); err != nil {
			return fmt.Errorf("projection: forget rule sets of employees: %w", err)
		}
	}
	after, err := readTerminations(ctx, tx, ids)
	if err != nil {
		return err
	}
	changed := slices.DeleteFunc(ids, func(id int64) bool { return slices.Equal(before[id], after[id]) })
	return start(ctx, tx, propagation.Request{Cause: propagation.CauseMembership, EmployeeIDs: changed})
}

// employeeRow is a row of employee, without the days of terminatedDays.
type employeeRow struct {
	ID                           int64
	PersonNumber, FullName, Zone string
	HireDate                     *civil.Date
	PrimaryJobs                  []byte
}

func newEmployeeRow(id int64, state *commonsv1.PersonState) (employeeRow, error) {
	row := employeeRow{
		ID: id, PersonNumber: state.GetPersonNumber(), FullName: state.GetFullName(), Zone: cmp.Or(state.GetTimeZone(), defaultZone),
	}
	encoded, err := proto.Marshal(state.GetPrimaryJobs())
	if err != nil {
		return row, fmt.Errorf("projection: encode jobs of person %d: %w", id, err)
	}
	row.PrimaryJobs = append([]byte{}, encoded...) // nil would be NULL
	if text := state.GetHireDate(); text != "" {
		date, err := civil.ParseDate(text)
		if err != nil {
			return row, bus.Permanent(fmt.Errorf("projection: hire date of person %d: %w", id, err))
		}
		row.HireDate = &date
	}
	return row, nil
}

// terminatedDays are days of a person without employment.
type terminatedDays struct {
	ID       int64
	From, To civil.Date
}

// appendTerminated appends the days without employment of a person: all days for a deleted person.
func appendTerminated(out []terminatedDays, id int64, state *commonsv1.PersonState) ([]terminatedDays, error) {
	list := state.GetTerminated()
	if state.GetDeleted() {
		list = []*commonsv1.PersonDays{{From: civil.Beginning.String(), To: civil.Forever.String()}}
	}
	for _, days := range list {
		from, err := civil.ParseDate(days.GetFrom())
		if err != nil {
			return nil, bus.Permanent(fmt.Errorf("projection: termination of person %d: %w", id, err))
		}
		to, err := civil.ParseDate(days.GetTo())
		if err != nil {
			return nil, bus.Permanent(fmt.Errorf("projection: termination of person %d: %w", id, err))
		}
		if r := (civil.Range{From: from, To: to}).Clamp(); !r.Empty() {
			out = append(out, terminatedDays{id, r.From, r.To})
		}
	}
	return out, nil
}

// readTerminations returns the days when employees are not employed.
func readTerminations(ctx context.Context, tx pgx.Tx, ids []int64) (map[int64][]civil.Range, error) {
	found := map[int64][]civil.Range{}
	var id int64
	var days civil.Range
	err := pg.ForEach(ctx, tx, []any{&id, &days.From, &days.To}, func() error {
		found[id] = append(found[id], days)
		return nil
	}, readTerminated, tenant.Of(ctx), ids)
	if err != nil {
		return nil, fmt.Errorf("projection: read terminations: %w", err)
	}
	return found, nil
}

// start starts a propagation if it affects any employees.
func start(ctx context.Context, tx pgx.Tx, req propagation.Request) error {
	if len(req.TermIDs) == 0 && len(req.EmployeeIDs) == 0 {
		return nil
	}
	_, err := propagation.Start(ctx, tx, req)
	return err
}
