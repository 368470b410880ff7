package setupname

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// object is an object of a kind, as its event describes it.
type object struct {
	ID      int64
	Name    string
	Version int64
	deleted bool
	former  []*timekeepingv1.FormerSetupName
}

// events make the events of the kinds that schedules refer to.
var events = map[Kind]func(object) proto.Message{
	PayCode: func(o object) proto.Message {
		return &timekeepingv1.PayCodeChanged{Id: o.ID, Name: o.Name, Version: o.Version, Deleted: o.deleted, FormerNames: o.former}
	},
	WorkRule: func(o object) proto.Message {
		return &timekeepingv1.WorkRuleChanged{Id: o.ID, Name: o.Name, Version: o.Version, Deleted: o.deleted, FormerNames: o.former}
	},
}

// Topics describe the names of pay codes and work rules for services that keep copies.
func Topics() []replica.Topic {
	return []replica.Topic{newTopic(PayCode), newTopic(WorkRule)}
}

func newTopic(kind Kind) replica.Topic {
	return replica.Topic{
		Event: events[kind](object{}), Tenants: replica.TenantsQuery(string(kind)),
		Fingerprints: fmt.Sprintf(`SELECT id AS key, version AS mark FROM %s WHERE tenant_id = $1 AND id > $2 AND id <= $3`, kind),
		States: func(ctx context.Context, tx pgx.Tx, gaps []replica.Gap) ([]proto.Message, error) {
			return states(ctx, tx, kind, gaps)
		},
	}
}

// publishStored publishes the names of a stored object.
func (r *Resource[T]) publishStored(ctx context.Context, tx pgx.Tx, id int64) error {
	if events[r.kind] == nil {
		return nil
	}
	found, err := readObjects(ctx, tx, r.kind, []int64{id})
	if err != nil {
		return err
	}
	return outbox.Append(ctx, tx, events[r.kind](found[id]))
}

// publishDeleted publishes the deletion of an object.
func (r *Resource[T]) publishDeleted(ctx context.Context, tx pgx.Tx, id, version int64) error {
	if events[r.kind] == nil {
		return nil
	}
	return outbox.Append(ctx, tx, events[r.kind](object{ID: id, Version: version, deleted: true}))
}

const (
	// The lock prevents changes of the version before it is raised.
	readForUpdate = `SELECT id, name, version FROM %s WHERE tenant_id = $1 AND id = ANY($2) ORDER BY id FOR NO KEY UPDATE`

	readFormer = `
SELECT resource_id, name, (extract(epoch FROM changed_at) * 1000000)::bigint FROM setup_former_name
WHERE tenant_id = $1 AND kind = $2 AND resource_id = ANY($3) ORDER BY resource_id, name_key`

	raiseVersion = `UPDATE %s SET version = $3 WHERE tenant_id = $1 AND id = $2`
)

// readObjects locks and returns the objects with the ids, with their former names, by id.
func readObjects(ctx context.Context, tx pgx.Tx, kind Kind, ids []int64) (map[int64]object, error) {
	list, err := pg.Collect(ctx, tx, func(row pgx.CollectableRow) (o object, err error) {
		return o, row.Scan(&o.ID, &o.Name, &o.Version)
	}, fmt.Sprintf(readForUpdate, kind), tenant.Of(ctx), ids)
	if err != nil {
		return nil, fmt.Errorf("read the names of %s: %w", kind, err)
	}
	out := make(map[int64]object, len(list))
	for _, o := range list {
		out[o.ID] = o
	}
	var id, changedAt int64
	var name string
	if err := pg.ForEach(ctx, tx, []any{&id, &name, &changedAt}, func() error {
		if o, exists := out[id]; exists {
			o.former = append(o.former, &timekeepingv1.FormerSetupName{Name: name, ChangedAt: changedAt})
			out[id] = o
		}
		return nil
	}, readFormer, tenant.Of(ctx), kind, ids); err != nil {
		return nil, fmt.Errorf("read the former names of %s: %w", kind, err)
	}
	return out, nil
}

// states returns the events of the objects of gaps.
func states(ctx context.Context, tx pgx.Tx, kind Kind, gaps []replica.Gap) ([]proto.Message, error) {
	found, err := readObjects(ctx, tx, kind, replica.Keys(gaps))
	if err != nil {
		return nil, err
	}
	out := make([]proto.Message, len(gaps))
	for i, gap := range gaps {
		o, exists := found[gap.Key]
		if !exists {
			out[i] = events[kind](object{ID: gap.Key, Version: gap.Version + 1, deleted: true})
			continue
		}
		if raised := gap.NextVersion(o.Version); raised != o.Version {
			o.Version = raised
			if _, err := tx.Exec(ctx, fmt.Sprintf(raiseVersion, kind), tenant.Of(ctx), o.ID, raised); err != nil {
				return nil, fmt.Errorf("raise the version of %s %d: %w", kind, o.ID, err)
			}
		}
		out[i] = events[kind](o)
	}
	return out, nil
}
