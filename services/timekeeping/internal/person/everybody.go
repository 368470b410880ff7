package person

import (
	"context"
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

const (
	countEverybody = `SELECT count(*) FROM person WHERE tenant_id = $1`

	readEverybody = `SELECT id, person_number, full_name, time_zone, time_zones, hire_date, terminated FROM person WHERE tenant_id = $1 ORDER BY id`

	readVisible = `SELECT id, person_number, full_name, time_zone, time_zones, hire_date, terminated FROM person WHERE tenant_id = $1 AND id = ANY($2) ORDER BY id`
)

// CountEverybody returns the number of persons that the caller may see.
func (d *Directory) CountEverybody(ctx context.Context) (int, error) {
	visible, err := d.rows.Visible(ctx)
	if err != nil || !visible.All() {
		return len(visible.IDs()), err
	}
	var count int
	if err := d.pool.QueryRow(ctx, countEverybody, tenant.Of(ctx)).Scan(&count); err != nil {
		return 0, fmt.Errorf("count persons: %w", err)
	}
	return count, nil
}

// Everybody returns the persons that the caller may see, sorted by id. It leaves out the caller's
// own record if the operation must not write to it.
func (d *Directory) Everybody(ctx context.Context) ([]Person, error) {
	visible, err := d.rows.Visible(ctx)
	if err != nil {
		return nil, err
	}
	sql, args := readEverybody, []any{tenant.Of(ctx)}
	if !visible.All() {
		sql, args = readVisible, append(args, visible.IDs())
	}
	persons, err := pg.Collect(ctx, d.pool, scanPerson, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("read persons: %w", err)
	}
	kept := persons[:0]
	for _, p := range persons {
		if visible.RefuseOwn(p.ID) == nil {
			kept = append(kept, p)
		}
	}
	return kept, nil
}
