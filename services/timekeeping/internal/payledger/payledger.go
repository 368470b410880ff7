// Package payledger records the days of employees that payroll must compare again with its ledger,
// and orders the runs of one employee.
//
// The ledger itself consists of the rows of all staging runs that were not cancelled (package
// payrollstaging). Open days are always compared again. Signed-off days seldom change, so each
// change records them here.
package payledger

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// Head is the state of the ledger of one employee.
type Head struct {
	EmployeeID int64
	// Version grows with each run and each cancellation, and Changes with each call of Note.
	Version, Changes int64
	// Changed are the days that changed since a run compared them with the ledger.
	Changed civil.Range
	// Open is the first day that is not signed off.
	Open civil.Date
}

// Days are days of an employee.
type Days struct {
	EmployeeID int64
	civil.Range
}

// ErrMoved (409) means that another run or a cancellation has changed the ledger since Read.
var ErrMoved = fault.Conflict(fault.CodeStale, "Another run has staged one of the employees. Try again.")

// Transactions that lock several heads lock them by ascending employee, to prevent deadlocks.
const (
	note = `
INSERT INTO payroll_ledger_head AS h (tenant_id, employee_id, changes, changed_from, changed_to)
SELECT $1, d.id, 1, min(d.first), max(d.next) FROM unnest($2::bigint[], $3::date[], $4::date[]) AS d (id, first, next) GROUP BY d.id ORDER BY d.id
ON CONFLICT (tenant_id, employee_id) DO UPDATE SET changes = h.changes + 1,
    changed_from = least(h.changed_from, excluded.changed_from), changed_to = greatest(h.changed_to, excluded.changed_to)`

	read = `
SELECT e.id, coalesce(h.version, 0), coalesce(h.changes, 0), h.changed_from, h.changed_to,
       (SELECT max(through) FROM timecard_signoff WHERE tenant_id = $1 AND employee_id = e.id)
FROM unnest($2::bigint[]) AS e (id) LEFT JOIN payroll_ledger_head h ON h.tenant_id = $1 AND h.employee_id = e.id ORDER BY e.id`

	add = `
INSERT INTO payroll_ledger_head (tenant_id, employee_id) SELECT $1, e FROM unnest($2::bigint[]) AS e ORDER BY e ON CONFLICT DO NOTHING`

	lock = `
SELECT employee_id, version FROM payroll_ledger_head WHERE tenant_id = $1 AND employee_id = ANY($2) ORDER BY employee_id FOR UPDATE`

	// The next run compares the changes that were made while this run read totals.
	settle = `
UPDATE payroll_ledger_head h SET version = version + 1,
    changed_from = CASE WHEN s.changes = h.changes AND h.changed_to > s.next THEN greatest(h.changed_from, s.next) WHEN s.changes <> h.changes THEN h.changed_from END,
    changed_to = CASE WHEN s.changes <> h.changes OR h.changed_to > s.next THEN h.changed_to END
FROM unnest($2::bigint[], $3::bigint[], $4::date[]) AS s (id, changes, next) WHERE h.tenant_id = $1 AND h.employee_id = s.id`
)

// Note records changed days. Call it in the transaction of the change.
func Note(ctx context.Context, tx pgx.Tx, list []Days) error {
	ids, first, next := make([]int64, len(list)), make([]civil.Date, len(list)), make([]civil.Date, len(list))
	for i, d := range list {
		ids[i], first[i], next[i] = d.EmployeeID, d.From, d.To
	}
	if len(list) == 0 {
		return nil
	}
	if _, err := tx.Exec(ctx, note, tenant.Of(ctx), ids, first, next); err != nil {
		return fmt.Errorf("note changed days for payroll: %w", err)
	}
	return nil
}

// Read returns the heads of employees, by ascending id.
func Read(ctx context.Context, db pg.Querier, ids []int64) ([]Head, error) {
	rows, err := db.Query(ctx, read, tenant.Of(ctx), ids)
	if err != nil {
		return nil, fmt.Errorf("read the ledger of payroll: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (h Head, err error) {
		var from, to, through *civil.Date
		if err := row.Scan(&h.EmployeeID, &h.Version, &h.Changes, &from, &to, &through); err != nil {
			return h, err
		}
		if from != nil {
			h.Changed = civil.Range{From: *from, To: *to}
		}
		h.Open = civil.Beginning
		if through != nil {
			h.Open = *through + 1
		}
		return h, nil
	})
}

// Lock locks the ledgers of employees until the transaction ends. It returns ErrMoved when
// one has changed since Read.
func Lock(ctx context.Context, tx pgx.Tx, heads []Head) error {
	tenantID := tenant.Of(ctx)
	ids, versions := make([]int64, len(heads)), make(map[int64]int64, len(heads))
	for i, h := range heads {
		ids[i], versions[h.EmployeeID] = h.EmployeeID, h.Version
	}
	if _, err := tx.Exec(ctx, add, tenantID, ids); err != nil {
		return fmt.Errorf("lock the ledger of payroll: %w", err)
	}
	rows, err := tx.Query(ctx, lock, tenantID, ids)
	if err != nil {
		return fmt.Errorf("lock the ledger of payroll: %w", err)
	}
	moved := false
	var id, version int64
	if _, err := pgx.ForEachRow(rows, []any{&id, &version}, func() error {
		moved = moved || versions[id] != version
		return nil
	}); err != nil {
		return fmt.Errorf("lock the ledger of payroll: %w", err)
	}
	if moved {
		return ErrMoved
	}
	return nil
}

// Settle ends a run of employees whose ledgers are locked. The run deletes the recorded days of an
// employee before the day in until, unless more days were recorded after Read. until is in the
// order of heads.
func Settle(ctx context.Context, tx pgx.Tx, heads []Head, until []civil.Date) error {
	ids, changes := make([]int64, len(heads)), make([]int64, len(heads))
	for i, h := range heads {
		ids[i], changes[i] = h.EmployeeID, h.Changes
	}
	if _, err := tx.Exec(ctx, settle, tenant.Of(ctx), ids, changes, until); err != nil {
		return fmt.Errorf("settle the ledger of payroll: %w", err)
	}
	return nil
}
