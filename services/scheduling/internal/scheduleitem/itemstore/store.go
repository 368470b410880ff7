// Package itemstore stores and reads the items of schedules.
package itemstore

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// The stored kinds of items.
const (
	KindShift       = "SHIFT"
	KindPayCodeEdit = "PAY_CODE_EDIT"
	KindScheduleTag = "SCHEDULE_TAG"
)

// Row is a row of schedule_item.
type Row struct {
	ID, EmployeeID int64 // 0 for an open shift
	Kind           string
	From, To       civil.Date
	Hides          *Hides // the generated entry that it replaces
	Deleted        bool   // a tombstone
	Version        int64
	Body           []byte
	Locked         bool // whether its first day is locked; read only
	Covers         bool // whether it covers the shifts on its days; replacing a row keeps the value
}

const (
	readRows = `
SELECT i.id, coalesce(i.employee_id, 0), i.kind, i.from_day, i.to_day,
       i.hides_employee_id, i.hides_day, i.hides_lineage_id, i.hides_pattern_id, i.hides_cycle_day, i.hides_ordinal,
       i.hidden_lane, i.hidden_ordinal, i.deleted OR i.withdrawn, i.version, i.body,
       EXISTS (SELECT FROM day_lock l WHERE l.tenant_id = $1 AND l.employee_id = i.employee_id
               AND l.from_date <= i.from_day AND l.to_date > i.from_day), i.covers
FROM schedule_item i WHERE i.tenant_id = $1 AND i.id = ANY($2)`

	nextIDs = `SELECT nextval('schedule_item_id') FROM generate_series(1, $1)`

	insertRows = `
INSERT INTO schedule_item (tenant_id, id, employee_id, kind, from_day, to_day, deleted, version, body,
    hides_employee_id, hides_day, hides_lineage_id, hides_pattern_id, hides_cycle_day, hides_ordinal, hidden_lane, hidden_ordinal, covers)
SELECT $1, u.id, nullif(u.employee_id, 0), $9, u.from_day, u.to_day, u.deleted, u.version, u.body,
    u.hides_employee_id, u.hides_day, u.hides_lineage_id, u.hides_pattern_id, u.hides_cycle_day, u.hides_ordinal, u.hidden_lane, u.hidden_ordinal, u.covers
FROM unnest($2::bigint[], $3::bigint[], $4::date[], $5::date[], $6::boolean[], $7::bigint[], $8::bytea[],
            $10::bigint[], $11::date[], $12::bigint[], $13::bigint[], $14::int[], $15::smallint[], $16::smallint[], $17::smallint[], $18::boolean[])
     AS u (id, employee_id, from_day, to_day, deleted, version, body,
           hides_employee_id, hides_day, hides_lineage_id, hides_pattern_id, hides_cycle_day, hides_ordinal, hidden_lane, hidden_ordinal, covers)
ON CONFLICT (tenant_id, id) DO UPDATE SET
    employee_id = excluded.employee_id, from_day = excluded.from_day, to_day = excluded.to_day,
    deleted = excluded.deleted, version = excluded.version, body = excluded.body, updated_at = now()`

	deleteRows = `DELETE FROM schedule_item WHERE tenant_id = $1 AND id = ANY($2)`

	firstLocked = `
SELECT u.ordinal, greatest(l.from_date, u.from_day)
FROM unnest($2::bigint[], $3::date[], $4::date[]) WITH ORDINALITY AS u (employee_id, from_day, to_day, ordinal)
JOIN day_lock l ON l.tenant_id = $1 AND l.employee_id = u.employee_id AND l.from_date < u.to_day AND l.to_date > u.from_day
ORDER BY u.ordinal, 2`
)

// Find returns the rows with the ids, including tombstones, by id.
func Find(ctx context.Context, db pg.Querier, ids []int64) (map[int64]*Row, error) {
	found, err := db.Query(ctx, readRows, tenant.Of(ctx), ids)
	if err != nil {
		return nil, fmt.Errorf("scheduleitem: read: %w", err)
	}
	rows := make(map[int64]*Row, len(ids))
	var r Row
	var h hidesColumns
	_, err = pgx.ForEachRow(found, []any{
		&r.ID, &r.EmployeeID, &r.Kind, &r.From, &r.To, &h.employee, &h.day, &h.lineage, &h.pattern, &h.cycleDay, &h.ordinal,
		&h.lane, &h.slot, &r.Deleted, &r.Version, &r.Body, &r.Locked, &r.Covers,
	}, func() error {
		row := r
		row.Hides = h.read()
		row.Body = append([]byte(nil), r.Body...)
		rows[r.ID] = &row
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("scheduleitem: read: %w", err)
	}
	return rows, nil
}

// NewIDs returns ids for new items, ascending.
func NewIDs(ctx context.Context, tx pgx.Tx, count int) ([]int64, error) {
	ids, err := pg.Collect(ctx, tx, pgx.RowTo[int64], nextIDs, count)
	if err != nil {
		return nil, fmt.Errorf("scheduleitem: make ids: %w", err)
	}
	return ids, nil
}

// Put stores rows of one kind. It replaces rows with the same ids.
func Put(ctx context.Context, tx pgx.Tx, kind string, rows []Row) error {
	if len(rows) == 0 {
		return nil
	}
	n := len(rows)
	ids, employees, versions := make([]int64, n), make([]int64, n), make([]int64, n)
	from, to := make([]civil.Date, n), make([]civil.Date, n)
	hidden := make([]hidesColumns, n)
	deleted, covers, bodies := make([]bool, n), make([]bool, n), make([][]byte, n)
	for i := range rows {
		r := &rows[i]
		ids[i], employees[i], versions[i], deleted[i] = r.ID, r.EmployeeID, r.Version, r.Deleted
		from[i], to[i], bodies[i], covers[i] = r.From, r.To, append([]byte{}, r.Body...), r.Covers
		hidden[i] = r.Hides.columns()
	}
	_, err := tx.Exec(ctx, insertRows, tenant.Of(ctx), ids, employees, from, to, deleted, versions, bodies, kind,
		collectColumn(hidden, func(h hidesColumns) *int64 { return h.employee }), collectColumn(hidden, func(h hidesColumns) *civil.Date { return h.day }),
		collectColumn(hidden, func(h hidesColumns) *int64 { return h.lineage }), collectColumn(hidden, func(h hidesColumns) *int64 { return h.pattern }),
		collectColumn(hidden, func(h hidesColumns) *int32 { return h.cycleDay }), collectColumn(hidden, func(h hidesColumns) *int16 { return h.ordinal }),
		collectColumn(hidden, func(h hidesColumns) *int16 { return h.lane }), collectColumn(hidden, func(h hidesColumns) *int16 { return h.slot }), covers)
	if err != nil {
		return fmt.Errorf("scheduleitem: store: %w", err)
	}
	return nil
}

// Delete deletes rows by their ids.
func Delete(ctx context.Context, tx pgx.Tx, ids []int64) error {
	if _, err := tx.Exec(ctx, deleteRows, tenant.Of(ctx), ids); err != nil {
		return fmt.Errorf("scheduleitem: delete: %w", err)
	}
	return nil
}

// Locks returns the first locked day of each entry, by the entry's position. Entries without locked
// days are absent.
func Locks(ctx context.Context, db pg.Querier, days []EmployeeDays) (map[int]civil.Date, error) {
	employees := make([]int64, len(days))
	from, to := make([]civil.Date, len(days)), make([]civil.Date, len(days))
	for i, p := range days {
		employees[i], from[i], to[i] = p.EmployeeID, p.Days.From, p.Days.To
	}
	locked := map[int]civil.Date{}
	var ordinal int
	var day civil.Date
	err := pg.ForEach(ctx, db, []any{&ordinal, &day}, func() error {
		if _, found := locked[ordinal-1]; !found {
			locked[ordinal-1] = day
		}
		return nil
	}, firstLocked, tenant.Of(ctx), employees, from, to)
	if err != nil {
		return nil, fmt.Errorf("scheduleitem: read locks: %w", err)
	}
	return locked, nil
}

// EmployeeDays are the days that an entry occupies on an employee's schedule.
type EmployeeDays struct {
	EmployeeID int64 // 0 for an open shift, which is never locked
	Days       civil.Range
}
