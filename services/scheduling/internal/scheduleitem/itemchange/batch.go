package itemchange

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemdraft"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemfault"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemstore"
)

// ChangeSet is what an edit changes of one kind.
type ChangeSet[M any] interface {
	GetCreate() []M
	GetUpdate() []M
	GetDelete() []int64
}

// Count returns how many entries a set changes.
func Count[M any](c ChangeSet[M]) int {
	return len(c.GetCreate()) + len(c.GetUpdate()) + len(c.GetDelete())
}

// Batch is what edits do to the entries of one kind.
type Batch[M Entry] struct {
	family *Family[M]
	// The entries, and to which edit each belongs.
	create, update     []M
	createdBy, updates []int
	remove             []int64

	drafts, updated    []*itemdraft.Draft
	created, replacing []itemstore.Row
}

// Batch returns a batch of entries of this kind.
func (f *Family[M]) Batch() *Batch[M] { return &Batch[M]{family: f} }

// Add adds what an edit changes. What it creates is a copy, which assign completes.
func (w *Batch[M]) Add(edit int, changes ChangeSet[M], assign func(M)) {
	for _, m := range changes.GetCreate() {
		made := proto.CloneOf(m)
		assign(made)
		w.create, w.createdBy = append(w.create, made), append(w.createdBy, edit)
	}
	for _, m := range changes.GetUpdate() {
		w.update, w.updates = append(w.update, m), append(w.updates, edit)
	}
	w.remove = append(w.remove, changes.GetDelete()...)
}

// Prepare checks what can be checked before the transaction.
func (w *Batch[M]) Prepare(ctx context.Context, tenantID int64, visible rowvisibility.Set) error {
	f := w.family
	slices.Sort(w.remove)
	w.remove = slices.Compact(w.remove)
	for _, m := range w.update {
		if _, both := slices.BinarySearch(w.remove, m.GetId()); both {
			return fault.Invalid(fault.CodeInput, fmt.Sprintf("The %s %d cannot be both changed and deleted.", f.Label, m.GetId()))
		}
	}
	failed := make([]error, len(w.create))
	employees := f.employeesNamed(ctx, w.create, failed)
	var err error
	if w.drafts, err = f.drafts(ctx, tenantID, w.create, employees, failed, false); err != nil {
		return err
	}
	failed = f.distinctIDs(w.update)
	if employees, err = f.employeesAfter(ctx, tenantID, visible, w.update, failed); err != nil {
		return err
	}
	w.updated, err = f.drafts(ctx, tenantID, w.update, employees, failed, false)
	return err
}

// Employees are those whose schedules get entries.
func (w *Batch[M]) Employees() []int64 {
	var ids []int64
	for _, d := range slices.Concat(w.drafts, w.updated) {
		if id := d.EmployeeID(); id != 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

// Apply deletes, changes and creates, in this order.
func (w *Batch[M]) Apply(ctx context.Context, tx pgx.Tx, tenantID int64, visible rowvisibility.Set) error {
	f := w.family
	if len(w.remove) > 0 {
		found, err := f.lockEntries(ctx, tx, tenantID, visible, w.remove, nil)
		if err != nil {
			return err
		}
		for _, id := range w.remove {
			k, ok := found[id]
			switch {
			case !ok:
				return itemfault.NotFound(itemfault.InBody, f.Label, id)
			case k.refused != nil:
				return k.refused
			}
		}
		if err := f.delete(ctx, tx, tenantID, w.remove, found); err != nil {
			return err
		}
	}
	var err error
	if len(w.update) > 0 {
		if w.replacing, err = f.replaceMany(ctx, tx, tenantID, visible, w.update, w.updated, make([]error, len(w.update)), false); err != nil {
			return err
		}
	}
	if len(w.create) > 0 {
		w.created, err = f.insert(ctx, tx, tenantID, w.drafts, make([]error, len(w.drafts)), false)
	}
	return err
}

// Results hands on the entries that were created and changed, with their edits.
func (w *Batch[M]) Results(add func(edit int, m M)) error {
	for _, part := range []struct {
		rows   []itemstore.Row
		drafts []*itemdraft.Draft
		of     []int
	}{{w.created, w.drafts, w.createdBy}, {w.replacing, w.updated, w.updates}} {
		for i := range part.rows {
			m, err := w.family.decode(&part.rows[i], part.drafts[i].Employee)
			if err != nil {
				return err
			}
			add(part.of[i], m)
		}
	}
	return nil
}
