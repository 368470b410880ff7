// Package leave stores the leave of employees by day. Timekeeping manages leave and sends the
// complete state of an employee.
package leave

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employeelock"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleevent"
)

// maxEmployees limits the employees of one call.
const maxEmployees = 100

const (
	readHeads = `SELECT employee_id, version FROM leave_head WHERE tenant_id = $1 AND employee_id = ANY($2)`

	writeHeads = `
INSERT INTO leave_head (tenant_id, employee_id, version) SELECT $1, u.* FROM unnest($2::bigint[], $3::bigint[]) AS u
ON CONFLICT (tenant_id, employee_id) DO UPDATE SET version = excluded.version`

	readEdits = `SELECT id, employee_id, from_day, to_day, version, body FROM leave_edit WHERE tenant_id = $1 AND employee_id = ANY($2)`

	deleteEdits = `DELETE FROM leave_edit WHERE tenant_id = $1 AND id = ANY($2)`

	upsertEdits = `
INSERT INTO leave_edit (tenant_id, id, employee_id, from_day, to_day, version, body)
SELECT $1, u.* FROM unnest($2::bigint[], $3::bigint[], $4::date[], $5::date[], $6::bigint[], $7::bytea[]) AS u
ON CONFLICT (tenant_id, id) DO UPDATE
SET employee_id = excluded.employee_id, from_day = excluded.from_day, to_day = excluded.to_day,
    version = excluded.version, body = excluded.body`
)

// Handler serves LeaveService.
type Handler struct {
	schedulingv1.UnsafeLeaveServiceServer
	pool *pg.Pool
}

var _ schedulingv1.LeaveServiceServer = (*Handler)(nil)

// New returns a Handler.
func New(pool *pg.Pool) *Handler { return &Handler{pool: pool} }

// row is a row of leave_edit.
type row struct {
	ID, EmployeeID int64
	First, Last    civil.Date
	Version        int64
	Body           []byte
}

func (r row) equal(other row) bool {
	return r.EmployeeID == other.EmployeeID && r.Version == other.Version && r.First == other.First && r.Last == other.Last && bytes.Equal(r.Body, other.Body)
}

// PutLeave replaces the leave of employees if the new state is newer. It locks the employees'
// schedules, so that a later day lock sees the leave.
func (h *Handler) PutLeave(ctx context.Context, req *schedulingv1.PutLeaveRequest) (*schedulingv1.PutLeaveResponse, error) {
	if n := len(req.GetEmployees()); n > maxEmployees {
		return nil, fault.Invalid(fault.CodeBadRequest, fmt.Sprintf("The request has %d employees. Allowed are at most %d.", n, maxEmployees))
	}
	wanted := map[int64][]row{}
	versions := map[int64]int64{}
	for _, e := range req.GetEmployees() {
		if e.GetVersion() <= versions[e.GetEmployeeId()] {
			continue
		}
		rows, err := newRows(e)
		if err != nil {
			return nil, err
		}
		wanted[e.GetEmployeeId()], versions[e.GetEmployeeId()] = rows, e.GetVersion()
	}
	err := pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		return storeNewer(ctx, tx, maps.Clone(versions), wanted)
	})
	if err != nil {
		return nil, fmt.Errorf("put leave: %w", err)
	}
	return &schedulingv1.PutLeaveResponse{}, nil
}

// newRows returns the rows of all leave of an employee.
func newRows(e *schedulingv1.EmployeeLeaveState) ([]row, error) {
	rows := make([]row, len(e.GetLeaveEdits()))
	for i, edit := range e.GetLeaveEdits() {
		r, err := newRow(e.GetEmployeeId(), edit)
		if err != nil {
			return nil, fault.Invalid(fault.CodeBadRequest, fmt.Sprintf("leave edit %d: %s.", edit.GetId(), err))
		}
		rows[i] = r
	}
	return rows, nil
}

func newRow(employeeID int64, edit *schedulingv1.LeaveEdit) (row, error) {
	r := row{ID: edit.GetId(), EmployeeID: employeeID, Version: edit.GetVersion()}
	var err error
	if r.First, err = civil.ParseDate(edit.GetStartDate()); err != nil {
		return r, err
	}
	r.Last = r.First
	if edit.GetStartTime() != "" {
		end, err := civil.ParseDateTime(edit.GetEndDate() + "T" + edit.GetEndTime())
		if err != nil {
			return r, err
		}
		lastMoment, _ := civil.DateTime{Date: end.Date, Seconds: end.Seconds - 1}.Clock()
		r.Last = max(r.First, lastMoment)
	}
	stored := proto.CloneOf(edit)
	stored.Id, stored.Version, stored.Employee = nil, nil, nil
	r.Body, err = proto.MarshalOptions{Deterministic: true}.Marshal(stored)
	return r, err
}

// storeNewer stores the states that are newer than the stored ones.
func storeNewer(ctx context.Context, tx pgx.Tx, versions map[int64]int64, wanted map[int64][]row) error {
	tenantID := tenant.Of(ctx)
	employees := slices.Sorted(maps.Keys(versions))
	if err := employeelock.Lock(ctx, tx, employees); err != nil {
		return err
	}
	stored, err := readVersions(ctx, tx, employees)
	if err != nil {
		return err
	}
	employees = slices.DeleteFunc(employees, func(id int64) bool { return versions[id] <= stored[id] })
	if len(employees) == 0 {
		return nil
	}
	c := change{}
	rows, err := readRows(ctx, tx, employees)
	if err != nil {
		return err
	}
	heads := make([]int64, len(employees))
	for i, id := range employees {
		heads[i] = versions[id]
		for _, r := range wanted[id] {
			before, exists := rows[r.ID]
			delete(rows, r.ID)
			if exists && before.equal(r) {
				continue
			}
			if exists {
				c.addDays(before)
			}
			c.addDays(r)
			c.written = append(c.written, r)
		}
	}
	for _, removed := range rows {
		c.addDays(removed)
		c.deleted = append(c.deleted, removed.ID)
	}
	batch := &pgx.Batch{}
	batch.Queue(writeHeads, tenantID, employees, heads)
	batch.Queue(deleteEdits, tenantID, c.deleted)
	batch.Queue(upsertEdits, pg.Columns(c.written, tenantID)...)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return err
	}
	// The event also includes employees whose version changed without changes of leave.
	if err := scheduleevent.PublishLeave(ctx, tx, employees); err != nil {
		return err
	}
	if len(c.changed) == 0 {
		return nil
	}
	slices.Sort(c.changed)
	return outbox.Append(ctx, tx, &schedulingv1.ScheduleChanged{
		EmployeeIds: slices.Compact(c.changed), From: c.from.String(), To: c.to.String(),
	})
}

func readVersions(ctx context.Context, tx pgx.Tx, employees []int64) (map[int64]int64, error) {
	out := map[int64]int64{}
	var id, version int64
	err := pg.ForEach(ctx, tx, []any{&id, &version}, func() error {
		out[id] = version
		return nil
	}, readHeads, tenant.Of(ctx), employees)
	return out, err
}

func readRows(ctx context.Context, db pg.Querier, employees []int64) (map[int64]row, error) {
	rows, err := db.Query(ctx, readEdits, tenant.Of(ctx), employees)
	if err != nil {
		return nil, err
	}
	out := map[int64]row{}
	for rows.Next() {
		var r row
		if err := rows.Scan(&r.ID, &r.EmployeeID, &r.First, &r.Last, &r.Version, &r.Body); err != nil {
			return nil, err
		}
		out[r.ID] = r
	}
	return out, rows.Err()
}

// change collects the differences.
type change struct {
	deleted []int64
	written []row

	changed  []int64 // employees
	from, to civil.Date
}

// addDays records the days of changed leave, including the last one.
func (c *change) addDays(r row) {
	if len(c.changed) == 0 {
		c.from, c.to = r.First, r.Last
	}
	c.changed = append(c.changed, r.EmployeeID)
	c.from, c.to = min(c.from, r.First), max(c.to, r.Last)
}
