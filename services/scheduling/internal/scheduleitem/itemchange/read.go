package itemchange

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemfault"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemstore"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/setupref"
)

// entryState is an existing entry: either a stored row or a generated entry.
type entryState struct {
	row       *itemstore.Row
	generated *reading.Generated
	// denied is the error if the caller may not change the entry, because it is their own.
	denied *fault.Error
}

func (k entryState) employeeID() int64 {
	if k.row != nil {
		return k.row.EmployeeID
	}
	return k.generated.EmployeeID
}

// hides returns the generated entry that an item in place of this entry hides, or nil.
func (k entryState) hides() *itemstore.Hides {
	if k.row != nil {
		return k.row.Hides
	}
	return itemstore.NewHides(k.generated)
}

// covers reports whether the entry covers the shifts on its days.
func (k entryState) covers() bool { return k.row != nil && k.row.Covers }

func (k entryState) version() int64 {
	if k.row != nil {
		return k.row.Version
	}
	return k.generated.Version
}

// lookUp returns the visible entries of this kind by id: open ones, and entries of visible
// employees.
func (f *Editor[M]) lookUp(ctx context.Context, db pg.Querier, visible rowvisibility.Set, ids []int64) (map[int64]entryState, error) {
	// Read generated entries first. An entry that is detached in between is then found among the
	// rows, which take precedence. In the other order it would be found in neither.
	generated, err := f.Reader.ReadGenerated(ctx, db, ids)
	if err != nil {
		return nil, err
	}
	stored, err := itemstore.Find(ctx, db, ids)
	if err != nil {
		return nil, err
	}
	out := make(map[int64]entryState, len(ids))
	for _, id := range ids {
		switch r, g := stored[id], generated[id]; {
		case r != nil && !r.Deleted && r.Kind == f.Kind:
			out[id] = entryState{row: r}
		case r == nil && g != nil && f.Generated(g):
			out[id] = entryState{generated: g}
		}
	}
	for id, k := range out {
		if employee := k.employeeID(); employee != 0 && !visible.HasOn(employee, f.occupiedDays(k).Days) {
			authn.NoteNotVisible(ctx)
			delete(out, id)
			continue
		}
		k.denied = visible.RefuseOwn(k.employeeID())
		out[id] = k
	}
	rowvisibility.WritesForNobody(ctx)
	return out, nil
}

// read returns the entries with the ids, by id. Unknown ids are absent.
func (f *Editor[M]) read(ctx context.Context, ids []int64) (map[int64]M, error) {
	visible, err := f.Directory.Visible(ctx)
	if err != nil {
		return nil, err
	}
	found, err := f.lookUp(ctx, f.Pool, visible, ids)
	if err != nil {
		return nil, err
	}
	employees, err := f.readEmployees(ctx, found)
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
	return out, setupref.Show(ctx, f.Pool, slices.Collect(maps.Values(out))...)
}

// present returns an entry for responses.
func (f *Editor[M]) present(k entryState, employee *projection.Employee) (M, error) {
	if k.row != nil {
		return f.decode(k.row, employee)
	}
	m, err := f.Show(k.generated, employee)
	if err == nil {
		f.Fill(m, k.generated.ID, employee, k.generated.Version, k.generated.Locked)
	}
	return m, err
}

// readEmployees returns the employees of entries, by id.
func (f *Editor[M]) readEmployees(ctx context.Context, found map[int64]entryState) (map[int64]*projection.Employee, error) {
	out := map[int64]*projection.Employee{}
	var refs []*commonv1.Ref
	for _, k := range found {
		id := k.employeeID()
		if _, requested := out[id]; id != 0 && !requested && k.denied == nil {
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

// ReadOne returns one entry, or an error with the given status if it does not exist.
func (f *Editor[M]) ReadOne(ctx context.Context, id int64, status int) (M, error) {
	found, err := f.read(ctx, []int64{id})
	if err != nil {
		var zero M
		return zero, err
	}
	if m, ok := found[id]; ok {
		return m, nil
	}
	var zero M
	return zero, itemfault.NotFound(status, f.Label, id)
}
