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
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employeelock"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemdraft"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemfault"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemstore"
)

// Update replaces an entry. A generated one is detached: an item with its id
// takes its place. An entry that is sent without an employee stays with the one
// that it has.
func (f *Family[M]) Update(ctx context.Context, id int64, sent M) (M, error) {
	var none M
	tenantID := tenant.Of(ctx)
	if inBody := sent.GetId(); inBody != 0 && inBody != id {
		return none, fault.Newf(itemfault.CodeOtherID, http.StatusBadRequest, "The id in the body, %d, is not the one in the path, %d.", inBody, id)
	}
	visible, err := f.Directory.Visible(ctx)
	if err != nil {
		return none, err
	}
	employee, err := f.employeeAfter(ctx, tenantID, visible, id, sent)
	if err != nil {
		return none, err
	}
	drafts, err := f.drafts(ctx, tenantID, []M{sent}, []*projection.Employee{employee}, make([]error, 1), false)
	if err != nil {
		return none, err
	}
	d := drafts[0]
	var updated itemstore.Row
	err = f.InTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		old, err := f.lockEntries(ctx, tx, tenantID, visible, []int64{id}, []int64{d.EmployeeID()})
		if err != nil {
			return err
		}
		was, ok := old[id]
		if !ok {
			return itemfault.NotFound(http.StatusNotFound, f.Label, id)
		}
		if was.refused != nil {
			return was.refused
		}
		if err := itemfault.CheckVersion(ctx, f.Label, id, was.version(), f.Version(sent)); err != nil {
			return err
		}
		if sent.GetEmployee() == nil && was.employeeID() != d.EmployeeID() {
			return itemfault.Stale(ctx, f.Label, id, was.version()) // Somebody moved it meanwhile.
		}
		change := []replacement{{id, was, d}}
		refused, err := f.refusals(ctx, tx, tenantID, change)
		if err != nil || len(refused) > 0 {
			return cmp.Or(err, refused[0])
		}
		rows, err := f.replace(ctx, tx, tenantID, change)
		if err == nil {
			updated = rows[0]
		}
		return err
	})
	if err != nil {
		return none, err
	}
	return f.decode(&updated, employee)
}

// employeeAfter returns the employee whose entry it is after an update: the one
// that is named, or the one that has it; nil for an open shift.
func (f *Family[M]) employeeAfter(ctx context.Context, tenantID int64, visible rowvisibility.Set, id int64, sent M) (*projection.Employee, error) {
	ref := sent.GetEmployee()
	if ref == nil {
		found, err := f.lookUp(ctx, f.Pool, tenantID, visible, []int64{id})
		if err != nil {
			return nil, err
		}
		was, ok := found[id]
		if !ok {
			return nil, itemfault.NotFound(http.StatusNotFound, f.Label, id)
		}
		if was.refused != nil {
			return nil, was.refused
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

// replacement is an entry that a draft is to take the place of.
type replacement struct {
	id    int64
	was   known
	draft *itemdraft.Draft
}

// replace stores drafts in the place of entries, and returns the rows that they
// are now.
func (f *Family[M]) replace(ctx context.Context, tx pgx.Tx, tenantID int64, list []replacement) ([]itemstore.Row, error) {
	if err := numberSegments(ctx, tx, list); err != nil {
		return nil, err
	}
	rows := make([]itemstore.Row, len(list))
	var news News
	for i, r := range list {
		rows[i] = itemstore.Row{
			ID: r.id, EmployeeID: r.draft.EmployeeID(), From: r.draft.From, To: r.draft.To,
			Hides: r.was.hides(), Version: r.was.version() + 1, Body: r.draft.Body, Covers: r.was.covers(),
		}
		before := f.shownOn(r.was)
		news.Cover(r.was.covers(), before.EmployeeID)
		news.Cover(r.was.covers(), r.draft.EmployeeID())
		news.Add(before.EmployeeID, before.Days.From, before.Days.To-1)
		news.Add(r.draft.EmployeeID(), r.draft.From, r.draft.To)
		if err := news.Put(f.Kind, &rows[i]); err != nil {
			return nil, err
		}
	}
	if err := itemstore.Put(ctx, tx, tenantID, f.Kind, rows); err != nil {
		return nil, err
	}
	return rows, news.Publish(ctx, tx, tenantID)
}

// refusals returns why replacements cannot be, by their position: a day is locked that the
// entry occupies, or would, or the entry would be withdrawn where it comes to be.
func (f *Family[M]) refusals(ctx context.Context, tx pgx.Tx, tenantID int64, list []replacement) (map[int]error, error) {
	days := make([]itemstore.EmployeeDays, 0, 2*len(list))
	for _, r := range list {
		days = append(days, f.employeeDaysOf(r.was), itemstore.EmployeeDays{EmployeeID: r.draft.EmployeeID(), Days: r.draft.Occupies})
	}
	locked, err := itemstore.Locks(ctx, tx, tenantID, days)
	if err != nil {
		return nil, err
	}
	refused := map[int]error{}
	for i := len(days) - 1; i >= 0; i-- {
		if day, ok := locked[i]; ok {
			refused[i/2] = itemfault.LockedDay(days[i].EmployeeID, day)
		}
	}
	rows := make([]itemstore.Row, len(list))
	for i, r := range list {
		rows[i] = itemstore.Row{EmployeeID: r.draft.EmployeeID(), From: r.draft.From, Hides: r.was.hides()}
	}
	withdrawn, err := itemstore.WouldBeWithdrawn(ctx, tx, tenantID, rows)
	if err != nil {
		return nil, err
	}
	for _, i := range withdrawn {
		if refused[i] == nil {
			refused[i] = itemfault.WithoutTerm(f.Label, rows[i].EmployeeID, rows[i].From)
		}
	}
	return refused, nil
}

// lockEntries makes the transaction the only one that changes the schedules of
// the entries' employees and of the others, and returns the entries that exist,
// by id.
func (f *Family[M]) lockEntries(ctx context.Context, tx pgx.Tx, tenantID int64, visible rowvisibility.Set, ids, others []int64) (map[int64]known, error) {
	seen, err := f.lookUp(ctx, tx, tenantID, visible, ids)
	if err != nil {
		return nil, err
	}
	employees := others
	for _, k := range seen {
		employees = append(employees, k.employeeID())
		if h := k.hides(); h != nil {
			employees = append(employees, h.EmployeeID) // Whose propagations find out where the hidden entry stands.
		}
	}
	if err := employeelock.Lock(ctx, tx, tenantID, employees); err != nil {
		return nil, err
	}
	// Only what is read from here on stays as it is.
	found, err := f.lookUp(ctx, tx, tenantID, visible, ids)
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

// errMoved says that an entry went to another employee, or came to be, while its
// employees were being locked.
var errMoved = errors.New("itemchange: the entry moved")

// maxTries bounds how often entries are looked for that move meanwhile.
const maxTries = 10

// InTx runs a change, again when an entry moved before it was locked: the caller
// named no state that it wants to change, or fails by the version.
func (f *Family[M]) InTx(ctx context.Context, change func(context.Context, pgx.Tx) error) error {
	var err error
	for range maxTries {
		if err = pg.InTx(ctx, f.Pool, change); !errors.Is(err, errMoved) {
			return err
		}
	}
	return err
}

// employeeDaysOf returns the days that an entry occupies: those of a pay code edit,
// and the one on which a shift starts.
func (f *Family[M]) employeeDaysOf(k known) itemstore.EmployeeDays {
	if k.row == nil {
		return itemstore.EmployeeDays{EmployeeID: k.generated.EmployeeID, Days: civil.Range{From: k.generated.Day, To: k.generated.Day + 1}}
	}
	days := civil.Range{From: k.row.From, To: k.row.From + 1}
	if f.Kind == itemstore.KindPayCodeEdit {
		days.To = k.row.To + 1
	}
	return itemstore.EmployeeDays{EmployeeID: k.row.EmployeeID, Days: days}
}

// shownOn returns the days on which an entry is, as far as is known without its times.
func (f *Family[M]) shownOn(k known) itemstore.EmployeeDays {
	days := f.employeeDaysOf(k)
	if k.row != nil {
		days.Days.To = k.row.To + 1
	}
	return days
}

// unlocked refuses the change of days of which one is locked.
func unlocked(ctx context.Context, tx pgx.Tx, tenantID int64, days []itemstore.EmployeeDays) error {
	locked, err := itemstore.Locks(ctx, tx, tenantID, days)
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
