package itemchange

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemfault"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemstore"
)

// Remove deletes entries, all or none. What hides a generated entry, and a
// generated entry itself, becomes a tombstone. An id that names nothing is an
// error with the given status. Each entry must have the version, if one is given.
func (f *Family[M]) Remove(ctx context.Context, ids []int64, version *int64, unknown int) error {
	tenantID := tenant.Of(ctx)
	visible, err := f.Directory.Visible(ctx)
	if err != nil {
		return err
	}
	ids = slices.Clone(ids)
	slices.Sort(ids)
	ids = slices.Compact(ids)
	err = f.InTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		found, err := f.lockEntries(ctx, tx, tenantID, visible, ids, nil)
		if err != nil {
			return err
		}
		for _, id := range ids {
			k, ok := found[id]
			if !ok {
				return itemfault.NotFound(unknown, f.Label, id)
			}
			if k.refused != nil {
				return k.refused
			}
			if err := itemfault.CheckVersion(ctx, f.Label, id, k.version(), version); err != nil {
				return err
			}
		}
		return f.delete(ctx, tx, tenantID, ids, found)
	})
	if err != nil {
		return err
	}
	return nil
}

func (f *Family[M]) delete(ctx context.Context, tx pgx.Tx, tenantID int64, ids []int64, found map[int64]known) error {
	var days []itemstore.EmployeeDays
	var tombstones []itemstore.Row
	var gone []int64
	var news News
	for _, id := range ids {
		k := found[id]
		p := f.employeeDaysOf(k)
		days = append(days, p)
		shown := f.shownOn(k).Days
		news.Add(p.EmployeeID, shown.From, shown.To-1)
		news.Cover(k.covers(), p.EmployeeID)
		hides := k.hides()
		if hides == nil {
			gone = append(gone, id)
			if err := news.Deleted(f.Kind, id, p.EmployeeID, p.Days.From); err != nil {
				return err
			}
			continue
		}
		tombstone := itemstore.Row{
			ID: id, EmployeeID: hides.EmployeeID, From: hides.Day, To: hides.Day, Hides: hides, Deleted: true, Version: k.version() + 1,
		}
		tombstones = append(tombstones, tombstone)
		if err := news.Put(f.Kind, &tombstone); err != nil {
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
	if err := itemstore.Put(ctx, tx, tenantID, f.Kind, tombstones); err != nil {
		return err
	}
	return news.Publish(ctx, tx, tenantID)
}
