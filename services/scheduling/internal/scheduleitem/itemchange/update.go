package itemchange

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employeelock"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemdraft"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemfault"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemstore"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/setupref"
)

// Update replaces an entry. A generated entry is detached: an item with its id replaces it. Without
// an employee in the request, the entry keeps its employee.
func (f *Editor[M]) Update(ctx context.Context, id int64, sent M) (M, error) {
	var zero M
	if inBody := sent.GetId(); inBody != 0 && inBody != id {
		return zero, fault.Newf(itemfault.CodeOtherID, http.StatusBadRequest, "The id %d in the body differs from the id %d in the path.", inBody, id)
	}
	visible, err := f.Directory.Visible(ctx)
	if err != nil {
		return zero, err
	}
	employee, err := f.employeeAfter(ctx, visible, id, sent)
	if err != nil {
		return zero, err
	}
	drafts, err := f.newDrafts(ctx, []M{sent}, []*projection.Employee{employee}, make([]error, 1), false)
	if err != nil {
		return zero, err
	}
	d := drafts[0]
	check, err := f.prepareCheck(ctx, drafts)
	if err != nil {
		return zero, err
	}
	var updated itemstore.Row
	var warnings Warnings
	err = f.InTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		old, err := f.lockEntries(ctx, tx, visible, []int64{id}, []int64{d.EmployeeID()})
		if err != nil {
			return err
		}
		was, ok := old[id]
		if !ok {
			return itemfault.NotFound(http.StatusNotFound, f.Label, id)
		}
		if was.denied != nil {
			return was.denied
		}
		if err := itemfault.CheckVersion(ctx, f.Label, id, was.version(), f.Version(sent)); err != nil {
			return err
		}
		if sent.GetEmployee() == nil && was.employeeID() != d.EmployeeID() {
			return itemfault.Stale(ctx, f.Label, id, was.version()) // Another transaction moved it.
		}
		change := []replacement{{id, was, d}}
		conflicts, err := f.findConflicts(ctx, tx, change)
		if err != nil || len(conflicts) > 0 {
			return cmp.Or(err, conflicts[0])
		}
		if err := check.Before(ctx, tx); err != nil {
			return err
		}
		rows, err := f.replace(ctx, tx, change)
		if err == nil {
			updated = rows[0]
			warnings, err = NewWarnings(check.After(ctx, tx))
		}
		return err
	})
	if err != nil {
		return zero, err
	}
	out, err := f.decode(&updated, employee)
	if err != nil {
		return zero, err
	}
	f.warn(out, warnings)
	return out, setupref.Show(ctx, f.Pool, out)
}

// employeeAfter returns the owner of an entry after an update: the employee in the request, or the
// current one; nil for an open shift.
func (f *Editor[M]) employeeAfter(ctx context.Context, visible rowvisibility.Set, id int64, sent M) (*projection.Employee, error) {
	ref := sent.GetEmployee()
	if ref == nil {
		found, err := f.lookUp(ctx, f.Pool, visible, []int64{id})
		if err != nil {
			return nil, err
		}
		was, ok := found[id]
		if !ok {
			return nil, itemfault.NotFound(http.StatusNotFound, f.Label, id)
		}
		if was.denied != nil {
			return nil, was.denied
		}
		if was.employeeID() == 0 {
			return nil, nil
		}
		ref = &commonv1.Ref{Id: proto.Int64(was.employeeID())}
	}
	employees, err := f.Directory.Employees(ctx, []*commonv1.Ref{ref})
	if err != nil {
		return nil, err
	}
	return &employees[0], nil
}

// replacement is an entry with the draft that replaces it.
type replacement struct {
	id    int64
	was   entryState
	draft *itemdraft.Draft
}

// replace stores drafts in place of entries, and returns the new rows.
func (f *Editor[M]) replace(ctx context.Context, tx pgx.Tx, list []replacement) ([]itemstore.Row, error) {
	if err := numberSegments(ctx, tx, list); err != nil {
		return nil, err
	}
	rows := make([]itemstore.Row, len(list))
	var changes Notifications
	for i, r := range list {
		rows[i] = itemstore.Row{
			ID: r.id, EmployeeID: r.draft.EmployeeID(), From: r.draft.From, To: r.draft.To,
			Hides: r.was.hides(), Version: r.was.version() + 1, Body: r.draft.Body, Covers: r.was.covers(),
		}
		before := f.shownDays(r.was)
		changes.AddCovering(r.was.covers(), before.EmployeeID)
		changes.AddCovering(r.was.covers(), r.draft.EmployeeID())
		changes.AddDays(before.EmployeeID, before.Days.From, before.Days.To-1)
		changes.AddDays(r.draft.EmployeeID(), r.draft.From, r.draft.To)
		if err := changes.AddEntry(f.Kind, &rows[i]); err != nil {
			return nil, err
		}
	}
	if err := itemstore.Put(ctx, tx, f.Kind, rows); err != nil {
		return nil, err
	}
	return rows, changes.Publish(ctx, tx)
}

// findConflicts returns the errors of replacements by their position: a day of the old or new entry
// is locked, or the new entry would be withdrawn.
func (f *Editor[M]) findConflicts(ctx context.Context, tx pgx.Tx, list []replacement) (map[int]error, error) {
	days := make([]itemstore.EmployeeDays, 0, 2*len(list))
	for _, r := range list {
		days = append(days, f.occupiedDays(r.was), itemstore.EmployeeDays{EmployeeID: r.draft.EmployeeID(), Days: r.draft.Occupies})
	}
	locked, err := itemstore.Locks(ctx, tx, days)
	if err != nil {
		return nil, err
	}
	conflicts := map[int]error{}
	for i := len(days) - 1; i >= 0; i-- {
		if day, ok := locked[i]; ok {
			conflicts[i/2] = itemfault.LockedDay(days[i].EmployeeID, day)
		}
	}
	rows := make([]itemstore.Row, len(list))
	for i, r := range list {
		rows[i] = itemstore.Row{EmployeeID: r.draft.EmployeeID(), From: r.draft.From, Hides: r.was.hides()}
	}
	withdrawn, err := itemstore.WouldBeWithdrawn(ctx, tx, rows)
	if err != nil {
		return nil, err
	}
	for _, i := range withdrawn {
		if conflicts[i] == nil {
			conflicts[i] = itemfault.WithoutTerm(f.Label, rows[i].EmployeeID, rows[i].From)
		}
	}
	return conflicts, nil
}

// lockEntries locks the schedules of the entries' employees and of the other employees for the
// transaction, and returns the existing entries by id.
func (f *Editor[M]) lockEntries(ctx context.Context, tx pgx.Tx, visible rowvisibility.Set, ids, others []int64) (map[int64]entryState, error) {
	seen, err := f.lookUp(ctx, tx, visible, ids)
	if err != nil {
		return nil, err
	}
	employees := others
	for _, k := range seen {
		employees = append(employees, k.employeeID())
		if h := k.hides(); h != nil {
			employees = append(employees, h.EmployeeID) // Its propagations compute the slot of the hidden entry.
		}
	}
	if err := employeelock.Lock(ctx, tx, employees); err != nil {
		return nil, err
	}
	// Rows do not change after this point.
	found, err := f.lookUp(ctx, tx, visible, ids)
	if err != nil {
		return nil, err
	}
	for id, k := range found {
		if before, ok := seen[id]; !ok || before.employeeID() != k.employeeID() {
			return nil, fmt.Errorf("%w: %w", errMoved, itemfault.Stale(ctx, f.Label, id, k.version()))
		}
	}
	return found, nil
}

// errMoved reports that an entry was moved to another employee, or created, while its employees
// were being locked.
var errMoved = errors.New("itemchange: the entry moved")

// maxTries limits the attempts to lock entries that keep moving.
const maxTries = 10

// InTx runs a change in a transaction. It runs it again if an entry moved before it was locked. If
// the caller requires a version, the change fails by that.
func (f *Editor[M]) InTx(ctx context.Context, change func(context.Context, pgx.Tx) error) error {
	var err error
	for range maxTries {
		if err = pg.InTx(ctx, f.Pool, change); !errors.Is(err, errMoved) {
			return err
		}
	}
	return err
}

// occupiedDays returns the days that an entry occupies: all days of a pay code edit, and the first
// day of a shift.
func (f *Editor[M]) occupiedDays(k entryState) itemstore.EmployeeDays {
	if k.row == nil {
		return itemstore.EmployeeDays{EmployeeID: k.generated.EmployeeID, Days: civil.Range{From: k.generated.Day, To: k.generated.Day + 1}}
	}
	days := civil.Range{From: k.row.From, To: k.row.From + 1}
	if f.Kind == itemstore.KindPayCodeEdit {
		days.To = k.row.To + 1
	}
	return itemstore.EmployeeDays{EmployeeID: k.row.EmployeeID, Days: days}
}

// shownDays returns the days of an entry, as far as they are known without its times.
func (f *Editor[M]) shownDays(k entryState) itemstore.EmployeeDays {
	days := f.occupiedDays(k)
	if k.row != nil {
		days.Days.To = k.row.To + 1
	}
	return days
}

// checkUnlocked returns an error if any of the days is locked.
func checkUnlocked(ctx context.Context, tx pgx.Tx, days []itemstore.EmployeeDays) error {
	locked, err := itemstore.Locks(ctx, tx, days)
	if err != nil {
		return err
	}
	for i, p := range days {
		if day, ok := locked[i]; ok {
			return itemfault.LockedDay(p.EmployeeID, day)
		}
	}
	return nil
}
