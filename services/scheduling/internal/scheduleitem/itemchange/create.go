package itemchange

import (
	"context"
	"net/http"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employeelock"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemdraft"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemfault"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemstore"
)

// Create stores new entries: all or none, or, with partial, those that can be.
func (f *Family[M]) Create(ctx context.Context, sent []M, partial bool) (*bulk.Outcome[M, M], error) {
	tenantID := tenant.Of(ctx)
	failed := make([]error, len(sent))
	employees := f.employeesNamed(ctx, sent, failed)
	drafts, err := f.drafts(ctx, tenantID, sent, employees, failed, partial)
	if err != nil {
		return nil, err
	}
	var rows []itemstore.Row
	err = pg.InTx(ctx, f.Pool, func(ctx context.Context, tx pgx.Tx) error {
		refused := make([]error, len(sent)) // a repeated run starts anew
		copy(refused, failed)
		var err error
		if rows, err = f.insert(ctx, tx, tenantID, drafts, refused, partial); err == nil {
			copy(failed, refused)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return f.outcome(sent, drafts, rows, failed)
}

// insert stores the drafts that no lock stands against. The rows belong to the
// drafts; what failed has none.
func (f *Family[M]) insert(ctx context.Context, tx pgx.Tx, tenantID int64, drafts []*itemdraft.Draft, failed []error, partial bool) ([]itemstore.Row, error) {
	days := make([]itemstore.EmployeeDays, len(drafts))
	var employees []int64
	for i, d := range drafts {
		if failed[i] == nil && d.Employee != nil {
			days[i] = itemstore.EmployeeDays{EmployeeID: d.EmployeeID(), Days: d.Occupies}
			employees = append(employees, d.EmployeeID())
		}
	}
	if err := employeelock.Lock(ctx, tx, tenantID, employees); err != nil {
		return nil, err
	}
	locked, err := itemstore.Locks(ctx, tx, tenantID, days)
	if err != nil {
		return nil, err
	}
	for i, day := range locked {
		failed[i] = itemfault.LockedDay(days[i].EmployeeID, day)
	}
	for _, err := range failed {
		if err != nil && !partial {
			return nil, err
		}
	}
	ids, err := itemstore.NewIDs(ctx, tx, len(drafts))
	if err != nil {
		return nil, err
	}
	numbered := make([]replacement, 0, len(drafts))
	for i, d := range drafts {
		if failed[i] == nil {
			numbered = append(numbered, replacement{id: ids[i], draft: d})
		}
	}
	if err := numberSegments(ctx, tx, numbered); err != nil {
		return nil, err
	}
	rows := make([]itemstore.Row, len(drafts))
	var stored []itemstore.Row
	var news News
	for i, d := range drafts {
		if failed[i] != nil {
			continue
		}
		rows[i] = itemstore.Row{ID: ids[i], EmployeeID: d.EmployeeID(), From: d.From, To: d.To, Version: 1, Body: d.Body, Covers: d.Covers}
		stored = append(stored, rows[i])
		news.Add(d.EmployeeID(), d.From, d.To)
		news.Cover(d.Covers, d.EmployeeID())
		if err := news.Put(f.Kind, &rows[i]); err != nil {
			return nil, err
		}
	}
	if err := itemstore.Put(ctx, tx, tenantID, f.Kind, stored); err != nil {
		return nil, err
	}
	return rows, news.Publish(ctx, tx, tenantID)
}

func (f *Family[M]) outcome(sent []M, drafts []*itemdraft.Draft, rows []itemstore.Row, failed []error) (*bulk.Outcome[M, M], error) {
	out := &bulk.Outcome[M, M]{}
	for i, m := range sent {
		if failed[i] != nil {
			out.Fail(m, fault.FromError(failed[i]))
			continue
		}
		made, err := f.decode(&rows[i], drafts[i].Employee)
		if err != nil {
			return nil, err
		}
		out.Succeed(m, made)
	}
	return out, nil
}

// employeesNamed returns the employee of each entry, nil where none is named.
// Only when one of them is unknown are they looked up one by one, to find out
// which.
func (f *Family[M]) employeesNamed(ctx context.Context, sent []M, failed []error) []*projection.Employee {
	rowvisibility.WritesForNobody(ctx) // Entries without an employee are nobody's.
	out := make([]*projection.Employee, len(sent))
	var refs []*commonv1.Ref
	var positions []int
	for i, m := range sent {
		if ref := m.GetEmployee(); ref != nil {
			refs, positions = append(refs, ref), append(positions, i)
		}
	}
	if len(refs) == 0 {
		return out
	}
	if found, err := f.Directory.Employees(ctx, refs); err == nil {
		for k, i := range positions {
			out[i] = &found[k]
		}
		return out
	}
	for k, i := range positions {
		found, err := f.Directory.Employees(ctx, refs[k:k+1])
		if err != nil {
			failed[i] = err
			if !ConcernsItem(err) {
				return out
			}
			continue
		}
		out[i] = &found[0]
	}
	return out
}

// ConcernsItem reports whether an error is about an item, as opposed to the whole
// request.
func ConcernsItem(err error) bool {
	return fault.FromError(err).Status < http.StatusInternalServerError
}
