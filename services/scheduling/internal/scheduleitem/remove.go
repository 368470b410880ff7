package scheduleitem

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemfault"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemstore"
)

// remove deletes entries, all or none. What hides a generated entry, and a
// generated entry itself, becomes a tombstone. An id that names nothing is an
// error with the given status. Each entry must have the version, if one is given.
func (f *family[M]) remove(ctx context.Context, ids []int64, version *int64, unknown int) error {
	tenantID, err := tenant.Of(ctx)
	if err != nil {
		return err
	}
	visible, err := f.Directory.Visible(ctx)
	if err != nil {
		return err
	}
	ids = slices.Clone(ids)
	slices.Sort(ids)
	ids = slices.Compact(ids)
	err = f.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		found, err := f.lockEntries(ctx, tx, tenantID, visible, ids, nil)
		if err != nil {
			return err
		}
		for _, id := range ids {
			k, ok := found[id]
			if !ok {
				return itemfault.NotFound(unknown, f.label, id)
			}
			if version != nil && *version != k.version() {
				return itemfault.Stale(f.label, id, k.version())
			}
		}
		return f.delete(ctx, tx, tenantID, ids, found)
	})
	if err != nil {
		return err
	}
	f.Wake()
	return nil
}

func (f *family[M]) delete(ctx context.Context, tx pgx.Tx, tenantID int64, ids []int64, found map[int64]known) error {
	var days []itemstore.EmployeeDays
	var tombstones []itemstore.Row
	var gone []int64
	var news changes
	for _, id := range ids {
		k := found[id]
		p := f.employeeDaysOf(k)
		days = append(days, p)
		shown := f.shownOn(k).Days
		news.add(p.EmployeeID, shown.From, shown.To-1)
		news.cover(k.covers(), p.EmployeeID)
		hides := k.hides()
		if hides == nil {
			gone = append(gone, id)
			if err := news.gone(f.kind, id, p.EmployeeID, p.Days.From); err != nil {
				return err
			}
			continue
		}
		tombstone := itemstore.Row{
			ID: id, EmployeeID: hides.EmployeeID, From: hides.Day, To: hides.Day, Hides: hides, Deleted: true, Version: k.version() + 1,
		}
		tombstones = append(tombstones, tombstone)
		if err := news.put(f.kind, &tombstone); err != nil {
			return err
		}
	}
	if err := unlocked(ctx, tx, tenantID, days); err != nil {
		return err
	}
	if len(gone) > 0 {
		if err := itemstore.Delete(ctx, tx, tenantID, gone); err != nil {
			return err
		}
	}
	if err := itemstore.Put(ctx, tx, tenantID, f.kind, tombstones); err != nil {
		return err
	}
	return news.publish(ctx, tx, tenantID)
}
