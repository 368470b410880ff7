package itemchange

import (
	"context"
	"net/http"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employeelock"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemdraft"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemfault"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemstore"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/setupref"
)

// Create stores new entries: all or none or, with partial, the valid ones.
func (f *Editor[M]) Create(ctx context.Context, sent []M, partial bool) (*bulk.Outcome[M, M], error) {
	out, err := f.create(ctx, sent, partial)
	if partial && isForbidden(err) {
		return f.oneByOne(ctx, sent, make([]error, len(sent)), f.create)
	}
	return out, err
}

func (f *Editor[M]) create(ctx context.Context, sent []M, partial bool) (*bulk.Outcome[M, M], error) {
	failed := make([]error, len(sent))
	employees := f.findEmployees(ctx, sent, failed)
	drafts, err := f.newDrafts(ctx, sent, employees, failed, partial)
	if err != nil {
		return nil, err
	}
	check, err := f.prepareCheck(ctx, drafts)
	if err != nil {
		return nil, err
	}
	var rows []itemstore.Row
	var warnings Warnings
	err = pg.InTx(ctx, f.Pool, func(ctx context.Context, tx pgx.Tx) error {
		errs := make([]error, len(sent)) // A repeated transaction starts over.
		copy(errs, failed)
		err := employeelock.Lock(ctx, tx, employeeIDs(drafts))
		if err == nil {
			err = check.Before(ctx, tx)
		}
		if err == nil {
			rows, err = f.insert(ctx, tx, drafts, errs, partial)
		}
		if err == nil {
			warnings, err = NewWarnings(check.After(ctx, tx))
		}
		if err == nil {
			copy(failed, errs)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return f.outcome(ctx, sent, drafts, rows, failed, warnings)
}

// insert stores the drafts whose days are not locked. Row i belongs to draft i; it is empty if the
// draft failed.
func (f *Editor[M]) insert(ctx context.Context, tx pgx.Tx, drafts []*itemdraft.Draft, failed []error, partial bool) ([]itemstore.Row, error) {
	days := make([]itemstore.EmployeeDays, len(drafts))
	var employees []int64
	for i, d := range drafts {
		if failed[i] == nil && d.Employee != nil {
			days[i] = itemstore.EmployeeDays{EmployeeID: d.EmployeeID(), Days: d.Occupies}
			employees = append(employees, d.EmployeeID())
		}
	}
	if err := employeelock.Lock(ctx, tx, employees); err != nil {
		return nil, err
	}
	locked, err := itemstore.Locks(ctx, tx, days)
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
	var changes Notifications
	for i, d := range drafts {
		if failed[i] != nil {
			continue
		}
		rows[i] = itemstore.Row{ID: ids[i], EmployeeID: d.EmployeeID(), From: d.From, To: d.To, Version: 1, Body: d.Body, Covers: d.Covers}
		stored = append(stored, rows[i])
		changes.AddDays(d.EmployeeID(), d.From, d.To)
		changes.AddCovering(d.Covers, d.EmployeeID())
		if err := changes.AddEntry(f.Kind, &rows[i]); err != nil {
			return nil, err
		}
	}
	if err := itemstore.Put(ctx, tx, f.Kind, stored); err != nil {
		return nil, err
	}
	return rows, changes.Publish(ctx, tx)
}

func (f *Editor[M]) outcome(ctx context.Context, sent []M, drafts []*itemdraft.Draft, rows []itemstore.Row, failed []error, warnings Warnings) (*bulk.Outcome[M, M], error) {
	out := &bulk.Outcome[M, M]{}
	var shown []M
	for i, m := range sent {
		if failed[i] != nil {
			out.Fail(m, fault.FromError(failed[i]))
			continue
		}
		created, err := f.decode(&rows[i], drafts[i].Employee)
		if err != nil {
			return nil, err
		}
		f.warn(created, warnings)
		out.Succeed(m, created)
		shown = append(shown, created)
	}
	return out, setupref.Show(ctx, f.Pool, shown...)
}

// findEmployees returns the employee of each entry, or nil for an entry without one. Only if one of
// them is unknown, it looks them up one by one.
func (f *Editor[M]) findEmployees(ctx context.Context, sent []M, failed []error) []*projection.Employee {
	rowvisibility.WritesForNobody(ctx) // Entries without an employee have no owner.
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

// ConcernsItem reports whether an error is about one item, and not about the whole request.
func ConcernsItem(err error) bool {
	return fault.FromError(err).Status < http.StatusInternalServerError
}
