package itemchange

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemfault"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemstore"
)

// Remove deletes entries, all or none. A generated entry, or an item that hides one, becomes a
// tombstone. An unknown id is an error with the given status. If a version is given, each entry
// must have it.
func (f *Editor[M]) Remove(ctx context.Context, ids []int64, version *int64, notFoundStatus int) error {
	visible, err := f.Directory.Visible(ctx)
	if err != nil {
		return err
	}
	ids = slices.Clone(ids)
	slices.Sort(ids)
	ids = slices.Compact(ids)
	err = f.InTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		found, err := f.lockEntries(ctx, tx, visible, ids, nil)
		if err != nil {
			return err
		}
		for _, id := range ids {
			k, ok := found[id]
			if !ok {
				return itemfault.NotFound(notFoundStatus, f.Label, id)
			}
			if k.denied != nil {
				return k.denied
			}
			if err := itemfault.CheckVersion(ctx, f.Label, id, k.version(), version); err != nil {
				return err
			}
		}
		return f.delete(ctx, tx, ids, found)
	})
	if err != nil {
		return err
	}
	return nil
}

func (f *Editor[M]) delete(ctx context.Context, tx pgx.Tx, ids []int64, found map[int64]entryState) error {
	var days []itemstore.EmployeeDays
	var tombstones []itemstore.Row
	var deleted []int64
	var changes Notifications
	for _, id := range ids {
		k := found[id]
		p := f.occupiedDays(k)
		days = append(days, p)
		shown := f.shownDays(k).Days
		changes.AddDays(p.EmployeeID, shown.From, shown.To-1)
		changes.AddCovering(k.covers(), p.EmployeeID)
		hides := k.hides()
		if hides == nil {
			deleted = append(deleted, id)
			if err := changes.AddDeleted(f.Kind, id, p.EmployeeID, p.Days.From); err != nil {
				return err
			}
			continue
		}
		tombstone := itemstore.Row{
			ID: id, EmployeeID: hides.EmployeeID, From: hides.Day, To: hides.Day, Hides: hides, Deleted: true, Version: k.version() + 1,
		}
		tombstones = append(tombstones, tombstone)
		if err := changes.AddEntry(f.Kind, &tombstone); err != nil {
			return err
		}
	}
	if err := checkUnlocked(ctx, tx, days); err != nil {
		return err
	}
	if len(deleted) > 0 {
		if err := itemstore.Delete(ctx, tx, deleted); err != nil {
			return err
		}
	}
	if err := itemstore.Put(ctx, tx, f.Kind, tombstones); err != nil {
		return err
	}
	return changes.Publish(ctx, tx)
}
