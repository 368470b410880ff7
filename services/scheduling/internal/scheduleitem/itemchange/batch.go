package itemchange

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/ruleviolation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemdraft"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemfault"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemstore"
)

// ChangeSet has the changes of one kind of entries in an edit.
type ChangeSet[M any] interface {
	GetCreate() []M
	GetUpdate() []M
	GetDelete() []int64
}

// Count returns the number of entries in a set.
func Count[M any](c ChangeSet[M]) int {
	return len(c.GetCreate()) + len(c.GetUpdate()) + len(c.GetDelete())
}

// Batch has the changes of one kind of entries in a request.
type Batch[M Entry] struct {
	editor *Editor[M]
	// The entries, and the indexes of their edits.
	create, update     []M
	createdBy, updates []int
	remove             []int64

	newDrafts, updated []*itemdraft.Draft
	created, replaced  []itemstore.Row
}

// Batch returns an empty batch.
func (f *Editor[M]) Batch() *Batch[M] { return &Batch[M]{editor: f} }

// Add adds the changes of an edit. assign completes copies of the created entries.
func (w *Batch[M]) Add(edit int, changes ChangeSet[M], assign func(M)) {
	for _, m := range changes.GetCreate() {
		created := proto.CloneOf(m)
		assign(created)
		w.create, w.createdBy = append(w.create, created), append(w.createdBy, edit)
	}
	for _, m := range changes.GetUpdate() {
		w.update, w.updates = append(w.update, m), append(w.updates, edit)
	}
	w.remove = append(w.remove, changes.GetDelete()...)
}

// Prepare checks everything that can be checked before the transaction.
func (w *Batch[M]) Prepare(ctx context.Context, visible rowvisibility.Set) error {
	f := w.editor
	slices.Sort(w.remove)
	w.remove = slices.Compact(w.remove)
	for _, m := range w.update {
		if _, both := slices.BinarySearch(w.remove, m.GetId()); both {
			return fault.Invalid(fault.CodeInput, fmt.Sprintf("The %s %d cannot be both changed and deleted.", f.Label, m.GetId()))
		}
	}
	failed := make([]error, len(w.create))
	employees := f.findEmployees(ctx, w.create, failed)
	var err error
	if w.newDrafts, err = f.newDrafts(ctx, w.create, employees, failed, false); err != nil {
		return err
	}
	failed = f.distinctIDs(w.update)
	if employees, err = f.employeesAfter(ctx, visible, w.update, failed); err != nil {
		return err
	}
	w.updated, err = f.newDrafts(ctx, w.update, employees, failed, false)
	return err
}

// Employees returns the employees that get entries.
func (w *Batch[M]) Employees() []int64 {
	return employeeIDs(slices.Concat(w.newDrafts, w.updated))
}

// Check returns the check of the schedule rules, or nil if no rule applies.
func (w *Batch[M]) Check(ctx context.Context) (*ruleviolation.Check, error) {
	return w.editor.prepareCheck(ctx, slices.Concat(w.newDrafts, w.updated))
}

// Apply deletes, changes and creates entries, in this order.
func (w *Batch[M]) Apply(ctx context.Context, tx pgx.Tx, visible rowvisibility.Set) error {
	f := w.editor
	if len(w.remove) > 0 {
		found, err := f.lockEntries(ctx, tx, visible, w.remove, nil)
		if err != nil {
			return err
		}
		for _, id := range w.remove {
			k, ok := found[id]
			switch {
			case !ok:
				return itemfault.NotFound(itemfault.InBody, f.Label, id)
			case k.denied != nil:
				return k.denied
			}
		}
		if err := f.delete(ctx, tx, w.remove, found); err != nil {
			return err
		}
	}
	var err error
	if len(w.update) > 0 {
		if w.replaced, err = f.replaceMany(ctx, tx, visible, w.update, w.updated, make([]error, len(w.update)), replacing{}); err != nil {
			return err
		}
	}
	if len(w.create) > 0 {
		w.created, err = f.insert(ctx, tx, w.newDrafts, make([]error, len(w.newDrafts)), false)
	}
	return err
}

// Results passes each created and changed entry with the index of its edit to add.
func (w *Batch[M]) Results(warnings Warnings, add func(edit int, m M)) error {
	for _, part := range []struct {
		rows   []itemstore.Row
		drafts []*itemdraft.Draft
		edits  []int
	}{{w.created, w.newDrafts, w.createdBy}, {w.replaced, w.updated, w.updates}} {
		for i := range part.rows {
			m, err := w.editor.decode(&part.rows[i], part.drafts[i].Employee)
			if err != nil {
				return err
			}
			w.editor.warn(m, warnings)
			add(part.edits[i], m)
		}
	}
	return nil
}
