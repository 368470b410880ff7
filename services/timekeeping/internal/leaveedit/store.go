package leaveedit

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavecase"
)

// row is a stored edit.
type row struct {
	id, caseID, employeeID, version int64
	first, last                     civil.Date
	body                            *timekeepingv1.LeaveEdit
}

const selectEdits = `
SELECT e.id, e.leave_case_id, e.employee_id, e.version, e.from_day, e.to_day, e.body
FROM leave_edit e WHERE e.tenant_id = $1 AND `

func scanRow(rows pgx.CollectableRow) (row, error) {
	r := row{body: &timekeepingv1.LeaveEdit{}}
	var first, last civil.Date
	var body []byte
	if err := rows.Scan(&r.id, &r.caseID, &r.employeeID, &r.version, &first, &last, &body); err != nil {
		return r, err
	}
	r.first, r.last = first, last
	if err := proto.Unmarshal(body, r.body); err != nil {
		return r, fmt.Errorf("decode leave edit %d: %w", r.id, err)
	}
	return r, nil
}

func collect(ctx context.Context, db pg.Querier, where string, args ...any) ([]row, error) {
	rows, err := db.Query(ctx, selectEdits+where, args...)
	if err != nil {
		return nil, fmt.Errorf("read leave edits: %w", err)
	}
	out, err := pgx.CollectRows(rows, scanRow)
	if err != nil {
		return nil, fmt.Errorf("read leave edits: %w", err)
	}
	return out, nil
}

func byIDs(ctx context.Context, db pg.Querier, ids []int64) (map[int64]row, error) {
	found, err := collect(ctx, db, `e.id = ANY($2)`, tenant.Of(ctx), ids)
	if err != nil {
		return nil, err
	}
	out := make(map[int64]row, len(found))
	for _, r := range found {
		out[r.id] = r
	}
	return out, nil
}

// ofCases returns the edits of cases, by employee, day and id, up to a limit.
func ofCases(ctx context.Context, db pg.Querier, cases []int64, limit int) ([]row, error) {
	return collect(ctx, db, `e.leave_case_id = ANY($2) ORDER BY e.employee_id, e.from_day, e.id LIMIT $3`, tenant.Of(ctx), cases, limit)
}

// ofEmployees returns the edits of employees that overlap the days, sorted and limited as in
// ofCases.
func ofEmployees(ctx context.Context, db pg.Querier, employees []int64, days civil.Range, limit int) ([]row, error) {
	// Each employee is a separate index search. OFFSET 0 keeps it so even before PostgreSQL has
	// statistics. The lower bound of from_day keeps the search short: edits are never longer.
	return collect(ctx, db, `e.id = ANY(ARRAY(
    SELECT x.id FROM unnest($2::bigint[]) AS q (employee) CROSS JOIN LATERAL (
        SELECT id FROM leave_edit
        WHERE tenant_id = $1 AND employee_id = q.employee
        AND from_day < $4 AND from_day > $3::date - $6::int AND to_day >= $3 OFFSET 0
    ) AS x)) ORDER BY e.employee_id, e.from_day, e.id LIMIT $5`,
		tenant.Of(ctx), employees, days.From, days.To, limit, maxDays)
}

// number assigns ids to the drafts that have none.
func number(ctx context.Context, tx pgx.Tx, drafts []*draft) error {
	var fresh []*draft
	for _, d := range drafts {
		if d.id == 0 {
			fresh = append(fresh, d)
		}
	}
	rows, err := tx.Query(ctx, `SELECT nextval('leave_edit_id') FROM generate_series(1, $1)`, len(fresh))
	if err != nil {
		return fmt.Errorf("number leave edits: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return fmt.Errorf("number leave edits: %w", err)
	}
	for i, d := range fresh {
		d.id = ids[i]
	}
	return nil
}

// write stores new and changed rows.
func write(ctx context.Context, tx pgx.Tx, rows []row) error {
	type stored struct {
		ID, Case, Employee int64
		First, Last        civil.Date
		Version            int64
		Body               []byte
	}
	all := make([]stored, len(rows))
	for i, r := range rows {
		body, err := proto.Marshal(r.body)
		if err != nil {
			return fmt.Errorf("encode leave edit: %w", err)
		}
		all[i] = stored{r.id, r.caseID, r.employeeID, r.first, r.last, r.version, body}
	}
	_, err := tx.Exec(ctx, `
INSERT INTO leave_edit (tenant_id, id, leave_case_id, employee_id, from_day, to_day, version, body)
SELECT $1, u.* FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::date[], $6::date[], $7::bigint[], $8::bytea[]) AS u
ON CONFLICT (tenant_id, id) DO UPDATE
SET from_day = excluded.from_day, to_day = excluded.to_day, version = excluded.version, body = excluded.body`,
		pg.Columns(all, tenant.Of(ctx))...)
	if err != nil {
		return fmt.Errorf("store leave edits: %w", err)
	}
	return nil
}

// lockHeads prevents other transactions from changing the leave edits of employees until this one
// ends, and returns the versions of the employees.
func lockHeads(ctx context.Context, tx pgx.Tx, employees []int64) (map[int64]int64, error) {
	tenantID := tenant.Of(ctx)
	batch := &pgx.Batch{}
	batch.Queue(`INSERT INTO leave_edit_head (tenant_id, employee_id)
		SELECT DISTINCT $1::bigint, q.id FROM unnest($2::bigint[]) AS q (id) ORDER BY q.id
		ON CONFLICT DO NOTHING`, tenantID, employees)
	versions := make(map[int64]int64, len(employees))
	batch.Queue(`SELECT employee_id, version FROM leave_edit_head
		WHERE tenant_id = $1 AND employee_id = ANY($2) ORDER BY employee_id FOR UPDATE`, tenantID, employees).
		Query(func(rows pgx.Rows) error {
			var id, version int64
			_, err := pgx.ForEachRow(rows, []any{&id, &version}, func() error {
				versions[id] = version
				return nil
			})
			return err
		})
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return nil, fmt.Errorf("lock leave edits: %w", err)
	}
	return versions, nil
}

// toProto returns the edit in the form of responses.
func (r row) toProto(c *leavecase.Case) *timekeepingv1.LeaveEdit {
	out := r.body
	out.Id, out.LeaveCase, out.LeaveCaseShortName, out.Employee = proto.Int64(r.id), c.Ref(), c.Code(), c.Employee()
	out.Category, out.Reason, out.Frequency = c.Body().GetCategory(), c.Body().GetReason(), c.Body().GetFrequency()
	out.InMemory, out.FromSchedule = proto.Bool(false), proto.Bool(out.GetFromSchedule())
	return out
}
