package itemchange

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemfault"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemstore"
)

// known is an entry that exists: a row, or one that a pattern generates.
type known struct {
	row       *itemstore.Row
	generated *reading.Generated
	// refused says that the operation may not change it: it is the caller's own.
	refused *fault.Error
}

func (k known) employeeID() int64 {
	if k.row != nil {
		return k.row.EmployeeID
	}
	return k.generated.EmployeeID
}

// hides returns what an item that takes the entry's place hides; nil for nothing.
func (k known) hides() *itemstore.Hides {
	if k.row != nil {
		return k.row.Hides
	}
	return itemstore.HidesOf(k.generated)
}

// covers reports whether it takes the shifts of its days.
func (k known) covers() bool { return k.row != nil && k.row.Covers }

func (k known) version() int64 {
	if k.row != nil {
		return k.row.Version
	}
	return k.generated.Version
}

// lookUp returns the entries of this kind that exist for the caller, by id:
// open ones, and those of employees whom the caller may see.
func (f *Family[M]) lookUp(ctx context.Context, db pg.Querier, tenantID int64, visible rowvisibility.Set, ids []int64) (map[int64]known, error) {
	// Generated ones come first: one that is detached meanwhile is then found
	// among the rows, which decide. The other way round it would be in neither.
	generated, err := f.Reader.ReadGenerated(ctx, db, tenantID, ids)
	if err != nil {
		return nil, err
	}
	stored, err := itemstore.Find(ctx, db, tenantID, ids)
	if err != nil {
		return nil, err
	}
	out := make(map[int64]known, len(ids))
	for _, id := range ids {
		switch r, g := stored[id], generated[id]; {
		case r != nil && !r.Deleted && r.Kind == f.Kind:
			out[id] = known{row: r}
		case r == nil && g != nil && f.Generated(g):
			out[id] = known{generated: g}
		}
	}
	for id, k := range out {
		if employee := k.employeeID(); employee != 0 && !visible.Has(employee) {
			authn.NoteNotVisible(ctx)
			delete(out, id)
			continue
		}
		k.refused = visible.RefuseOwn(k.employeeID())
		out[id] = k
	}
	rowvisibility.WritesForNobody(ctx)
	return out, nil
}

// read returns the entries of the ids, by id. What does not exist is absent.
func (f *Family[M]) read(ctx context.Context, ids []int64) (map[int64]M, error) {
	tenantID := tenant.Of(ctx)
	visible, err := f.Directory.Visible(ctx)
	if err != nil {
		return nil, err
	}
	found, err := f.lookUp(ctx, f.Pool, tenantID, visible, ids)
	if err != nil {
		return nil, err
	}
	employees, err := f.employeesOf(ctx, found)
	if err != nil {
		return nil, err
	}
	out := make(map[int64]M, len(found))
	for id, k := range found {
		employee := employees[k.employeeID()]
		if out[id], err = f.present(k, employee); err != nil {
			return nil, fmt.Errorf("itemchange: entry %d: %w", id, err)
		}
	}
	return out, nil
}

// present returns an entry as responses show it.
func (f *Family[M]) present(k known, employee *projection.Employee) (M, error) {
	if k.row != nil {
		return f.decode(k.row, employee)
	}
	m, err := f.Show(k.generated, employee)
	if err == nil {
		f.Fill(m, k.generated.ID, employee, k.generated.Version, k.generated.Locked)
	}
	return m, err
}

// employeesOf returns the employees of entries, by id.
func (f *Family[M]) employeesOf(ctx context.Context, found map[int64]known) (map[int64]*projection.Employee, error) {
	out := map[int64]*projection.Employee{}
	var refs []*commonv1.Ref
	for _, k := range found {
		id := k.employeeID()
		if _, asked := out[id]; id != 0 && !asked && k.refused == nil {
			out[id] = nil
			refs = append(refs, &commonv1.Ref{Id: proto.Int64(id)})
		}
	}
	if len(refs) == 0 {
		return out, nil
	}
	employees, err := f.Directory.Employees(ctx, refs)
	if err != nil {
		return nil, err
	}
	for i := range employees {
		out[employees[i].ID] = &employees[i]
	}
	return out, nil
}

// ReadOne returns one entry, or the error with the given status when there is
// none.
func (f *Family[M]) ReadOne(ctx context.Context, id int64, status int) (M, error) {
	found, err := f.read(ctx, []int64{id})
	if err != nil {
		var none M
		return none, err
	}
	if m, ok := found[id]; ok {
		return m, nil
	}
	var none M
	return none, itemfault.NotFound(status, f.Label, id)
}
