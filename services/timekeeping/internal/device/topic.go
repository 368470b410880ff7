package device

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	udmv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/udm/v1"
)

// Topic describes the device groups for services that keep copies.
func Topic() replica.Topic {
	return replica.Topic{
		Event: &udmv1.DeviceGroupChanged{}, Tenants: replica.TenantsQuery("device_group"),
		Fingerprints: `SELECT id AS key, version AS mark FROM device_group WHERE tenant_id = $1 AND id > $2 AND id <= $3`,
		States:       states,
	}
}

func publishStored(ctx context.Context, tx pgx.Tx, _, stored *udmv1.DeviceGroup) error {
	return outbox.Append(ctx, tx, newChange(stored.GetId(), stored.GetName(), stored.GetVersion()))
}

func publishDeleted(ctx context.Context, tx pgx.Tx, deleted *udmv1.DeviceGroup, version int64) error {
	return outbox.Append(ctx, tx, &udmv1.DeviceGroupChanged{Id: deleted.GetId(), Version: version, Deleted: true})
}

func newChange(id int64, name string, version int64) *udmv1.DeviceGroupChanged {
	return &udmv1.DeviceGroupChanged{Id: id, Name: name, Version: version}
}

const (
	// The lock prevents changes of the version before it is raised.
	readForUpdate = `SELECT id, name, version FROM device_group WHERE tenant_id = $1 AND id = ANY($2) ORDER BY id FOR NO KEY UPDATE`

	raiseVersion = `UPDATE device_group SET version = $3 WHERE tenant_id = $1 AND id = $2`
)

func states(ctx context.Context, tx pgx.Tx, gaps []replica.Gap) ([]proto.Message, error) {
	rows, err := tx.Query(ctx, readForUpdate, tenant.Of(ctx), replica.Keys(gaps))
	if err != nil {
		return nil, fmt.Errorf("read device groups: %w", err)
	}
	stored := map[int64]*udmv1.DeviceGroupChanged{}
	var id, version int64
	var name string
	if _, err := pgx.ForEachRow(rows, []any{&id, &name, &version}, func() error {
		stored[id] = newChange(id, name, version)
		return nil
	}); err != nil {
		return nil, fmt.Errorf("read device groups: %w", err)
	}
	events := make([]proto.Message, len(gaps))
	for i, w := range gaps {
		group, exists := stored[w.Key]
		if !exists {
			events[i] = &udmv1.DeviceGroupChanged{Id: w.Key, Version: w.Version + 1, Deleted: true}
			continue
		}
		if raised := w.NextVersion(group.GetVersion()); raised != group.GetVersion() {
			group.Version = raised
			if _, err := tx.Exec(ctx, raiseVersion, tenant.Of(ctx), w.Key, raised); err != nil {
				return nil, fmt.Errorf("raise the version of device group %d: %w", w.Key, err)
			}
		}
		events[i] = group
	}
	return events, nil
}
