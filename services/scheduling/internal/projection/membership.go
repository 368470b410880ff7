package projection

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg/condition"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
)

var (
	readMemberships = `
SELECT employee_id, employment_term_id, from_date, to_date
FROM membership WHERE tenant_id = $1 AND ` + condition.AnyOf("employee_id", "$2::bigint[]") + ` ORDER BY employee_id, from_date`

	deleteMemberships = `DELETE FROM membership WHERE tenant_id = $1 AND ` + condition.AnyOf("employee_id", "$2::bigint[]")
)

const insertMemberships = `
INSERT INTO membership (tenant_id, employee_id, employment_term_id, from_date, to_date)
SELECT $1, u.employee_id, u.term_id, u.from_day, u.to_day
FROM unnest($2::bigint[], $3::bigint[], $4::date[], $5::date[]) AS u (employee_id, term_id, from_day, to_day)`

// membership is one row: an employee is on a term from a day up to, and not
// including, another.
type membership struct {
	employeeID, termID int64
	from, to           civil.Date
}

// applyMemberships replaces the lists of employees, and starts a propagation for
// the employees whose list differs.
func applyMemberships(ctx context.Context, tx pgx.Tx, tenantID int64, changes []membershipChange) error {
	ids, wanted := make([]int64, len(changes)), make(map[int64][]membership, len(changes))
	for i, c := range changes {
		rows, err := parseMemberships(c.State)
		if err != nil {
			return err
		}
		ids[i], wanted[c.Key] = c.Key, rows
	}
	known, err := knownMemberships(ctx, tx, tenantID, ids)
	if err != nil {
		return err
	}
	changed := slices.DeleteFunc(ids, func(id int64) bool { return slices.Equal(known[id], wanted[id]) })
	if len(changed) == 0 {
		return nil
	}
	if err := replaceMemberships(ctx, tx, tenantID, changed, wanted); err != nil {
		return err
	}
	return start(ctx, tx, propagation.Request{Cause: propagation.CauseMembership, EmployeeIDs: changed})
}

func knownMemberships(ctx context.Context, tx pgx.Tx, tenantID int64, employeeIDs []int64) (map[int64][]membership, error) {
	rows, err := tx.Query(ctx, readMemberships, tenantID, employeeIDs)
	if err != nil {
		return nil, fmt.Errorf("projection: read memberships: %w", err)
	}
	known := make(map[int64][]membership, len(employeeIDs))
	var m membership
	_, err = pgx.ForEachRow(rows, []any{&m.employeeID, &m.termID, &m.from, &m.to}, func() error {
		known[m.employeeID] = append(known[m.employeeID], m)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("projection: read memberships: %w", err)
	}
	return known, nil
}

func replaceMemberships(ctx context.Context, tx pgx.Tx, tenantID int64, employeeIDs []int64, wanted map[int64][]membership) error {
	var ids, terms []int64
	var from, to []civil.Date
	for _, id := range employeeIDs {
		for _, m := range wanted[id] {
			ids, terms = append(ids, id), append(terms, m.termID)
			from, to = append(from, m.from), append(to, m.to)
		}
	}
	batch := &pgx.Batch{}
	batch.Queue(deleteMemberships, tenantID, employeeIDs)
	batch.Queue(insertMemberships, tenantID, ids, terms, from, to)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("projection: store memberships: %w", err)
	}
	return nil
}

// unreadable is the error for a list that no repetition mends.
func unreadable(list *timekeepingv1.PersonMemberships, err error) error {
	return bus.Permanent(fmt.Errorf("projection: memberships of person %d: %w", list.GetPersonId(), err))
}

// parseMemberships returns the rows of a list by ascending first day.
func parseMemberships(list *timekeepingv1.PersonMemberships) ([]membership, error) {
	var rows []membership
	for _, m := range list.GetMemberships() {
		from, err := civil.ParseDate(m.GetFrom())
		if err != nil {
			return nil, unreadable(list, err)
		}
		to, err := civil.ParseDate(m.GetTo())
		if err != nil {
			return nil, unreadable(list, err)
		}
		days := civil.Range{From: from, To: to}.Clamp()
		if days.Empty() {
			continue // It covers no day inside the calendar.
		}
		rows = append(rows, membership{
			employeeID: list.GetPersonId(), termID: m.GetEmploymentTermId(),
			from: days.From, to: days.To,
		})
	}
	slices.SortFunc(rows, func(a, b membership) int { return cmp.Compare(a.from, b.from) })
	return rows, nil
}
