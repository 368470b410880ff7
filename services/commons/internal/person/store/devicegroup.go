package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// DeviceGroup is a device group of timekeeping. The zero value stands for no group.
type DeviceGroup struct {
	ID   int64
	Name string
}

// DeviceGroupName returns the name of the person's device group, or "".
func (p Change) DeviceGroupName() string {
	return p.Message.GetJobAssignment().GetJobAssignmentDetails().GetDeviceGroupName()
}

// ChangesDeviceGroup reports whether the change gives the person another device group, or none.
func (p Change) ChangesDeviceGroup() bool {
	before := ""
	if p.Old != nil {
		before = p.Old.Message.GetJobAssignment().GetJobAssignmentDetails().GetDeviceGroupName()
	}
	return before != p.DeviceGroupName()
}

const (
	findDeviceGroups = `
SELECT DISTINCT ON (g.name_key) g.id, g.name FROM device_group g
WHERE g.tenant_id = $1 AND NOT g.deleted AND g.name_key = ANY (ARRAY(SELECT lower(n) FROM unnest($2::text[]) AS n))
ORDER BY g.name_key, g.id DESC`

	lockDeviceGroups = `SELECT id, name FROM device_group WHERE tenant_id = $1 AND id = ANY($2) AND NOT deleted ORDER BY id FOR SHARE`

	leaveDeviceGroups = `DELETE FROM device_group_member WHERE tenant_id = $1 AND person_id = ANY($2)`

	joinDeviceGroups = `
INSERT INTO device_group_member (tenant_id, person_id, device_group_id)
SELECT $1, q.* FROM unnest($2::bigint[], $3::bigint[]) AS q (person_id, device_group_id) WHERE q.device_group_id <> 0`
)

// FindDeviceGroups returns the device groups with the names, in any case, by the names. Unknown
// names are missing.
func FindDeviceGroups(ctx context.Context, db pg.Querier, names []string) (map[string]DeviceGroup, error) {
	found, err := pg.Collect(ctx, db, pgx.RowToStructByPos[DeviceGroup], findDeviceGroups, tenant.Of(ctx), names)
	if err != nil {
		return nil, fmt.Errorf("find device groups: %w", err)
	}
	out := make(map[string]DeviceGroup, len(names))
	for _, name := range names {
		if at := slices.IndexFunc(found, func(g DeviceGroup) bool { return strings.EqualFold(g.Name, name) }); at >= 0 {
			out[name] = found[at]
		}
	}
	return out, nil
}

// keepDeviceGroups keeps the device groups that persons join from being renamed or deleted until the
// transaction ends. A group that has changed since it was found is ErrStale. A renaming locks the
// group before its persons, so this function runs before the persons are locked.
func keepDeviceGroups(ctx context.Context, tx pgx.Tx, persons []Change) error {
	var joined []DeviceGroup
	var ids []int64
	for _, p := range persons {
		if p.DeviceGroup.ID != 0 {
			joined, ids = append(joined, p.DeviceGroup), append(ids, p.DeviceGroup.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	present, err := pg.Collect(ctx, tx, pgx.RowToStructByPos[DeviceGroup], lockDeviceGroups, tenant.Of(ctx), ids)
	if err != nil {
		return fmt.Errorf("lock device groups: %w", err)
	}
	for _, g := range joined {
		if !slices.Contains(present, g) {
			return ErrStale
		}
	}
	return nil
}

// queueDeviceGroups queues the statements that put persons into their device groups.
func queueDeviceGroups(batch *pgx.Batch, tenantID int64, persons []Change) {
	var ids, groups []int64
	for _, p := range persons {
		if p.ChangesDeviceGroup() {
			ids, groups = append(ids, p.ID), append(groups, p.DeviceGroup.ID)
		}
	}
	if len(ids) > 0 {
		batch.Queue(leaveDeviceGroups, tenantID, ids)
		batch.Queue(joinDeviceGroups, tenantID, ids, groups)
	}
}
