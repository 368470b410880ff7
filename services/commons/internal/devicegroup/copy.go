// Package devicegroup keeps a copy of the device groups of timekeeping, and the persons of each
// group. Persons name their group by its name, which must exist when they get it.
package devicegroup

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	udmv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/udm/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
)

// NewCopy returns the copy of the device groups in the database of the pool.
func NewCopy(pool *pg.Pool) *replica.Replica {
	return replica.New(pool, replica.Copy[*udmv1.DeviceGroupChanged]{
		Service: "commons", Event: &udmv1.DeviceGroupChanged{}, Apply: apply,
	})
}

const (
	// The groups are locked before their persons, as in Lock.
	upsertGroups = `
INSERT INTO device_group (tenant_id, id, name, deleted)
SELECT $1, q.* FROM unnest($2::bigint[], $3::text[], $4::bool[]) AS q
ON CONFLICT (tenant_id, id) DO UPDATE SET name = excluded.name, deleted = excluded.deleted`

	// Persons that were stored before device groups were checked may name a group that comes later.
	adoptPersons = `
INSERT INTO device_group_member (tenant_id, person_id, device_group_id)
SELECT $1, p.id, g.id FROM device_group g JOIN person p ON p.tenant_id = $1 AND p.device_group_name = g.name
WHERE g.tenant_id = $1 AND g.id = ANY($2) AND NOT g.deleted
ON CONFLICT (tenant_id, person_id) DO NOTHING`

	renamePersons = `
UPDATE person p SET device_group_name = g.name, version = p.version + 1, updated_at = now()
FROM device_group g JOIN device_group_member m ON m.tenant_id = $1 AND m.device_group_id = g.id
WHERE g.tenant_id = $1 AND g.id = ANY($2) AND NOT g.deleted
  AND p.tenant_id = $1 AND p.id = m.person_id AND p.device_group_name <> g.name
RETURNING p.id`
)

// personsPerEvent is the maximum number of persons in an event.
const personsPerEvent = 100

// apply stores groups, renames their persons, and publishes the persons.
func apply(ctx context.Context, tx pgx.Tx, changes []replica.Change[*udmv1.DeviceGroupChanged]) error {
	tenantID := tenant.Of(ctx)
	var ids []int64
	var names []string
	var deleted []bool
	for _, c := range changes {
		ids, names, deleted = append(ids, c.Key), append(names, c.State.GetName()), append(deleted, c.Deleted)
	}
	for _, q := range []struct {
		sql  string
		args []any
	}{{upsertGroups, []any{tenantID, ids, names, deleted}}, {adoptPersons, []any{tenantID, ids}}} {
		if _, err := tx.Exec(ctx, q.sql, q.args...); err != nil {
			return fmt.Errorf("store device groups: %w", err)
		}
	}
	renamed, err := pg.Collect(ctx, tx, pgx.RowTo[int64], renamePersons, tenantID, ids)
	if err != nil {
		return fmt.Errorf("rename the device groups of persons: %w", err)
	}
	for part := range slices.Chunk(renamed, personsPerEvent) {
		states, err := store.ReadStates(ctx, tx, part)
		if err != nil {
			return err
		}
		if err := outbox.Append(ctx, tx, &commonsv1.PersonsChanged{Persons: states}); err != nil {
			return err
		}
	}
	return nil
}
