package setupref

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// NewCopies returns the copies of the names of pay codes and work rules in the database of the pool.
func NewCopies(pool *pg.Pool) []*replica.Replica {
	return []*replica.Replica{
		newCopy[*timekeepingv1.PayCodeChanged](pool, PayCode, &timekeepingv1.PayCodeChanged{}),
		newCopy[*timekeepingv1.WorkRuleChanged](pool, WorkRule, &timekeepingv1.WorkRuleChanged{}),
	}
}

// state is an event with the names of an object.
type state interface {
	proto.Message
	GetName() string
	GetFormerNames() []*timekeepingv1.FormerSetupName
}

func newCopy[S state](pool *pg.Pool, kind Property, event S) *replica.Replica {
	return replica.New(pool, replica.Copy[S]{
		Service: "scheduling", Event: event,
		Apply: func(ctx context.Context, tx pgx.Tx, changes []replica.Change[S]) error {
			return store(ctx, tx, kind, changes)
		},
	})
}

const (
	deleteNames = `DELETE FROM setup_name WHERE tenant_id = $1 AND kind = $2 AND resource_id = ANY($3)`

	deleteFormerNames = `DELETE FROM setup_former_name WHERE tenant_id = $1 AND kind = $2 AND resource_id = ANY($3)`

	// An event may not have the stored name: another object may have got it since.
	keepStored = `
INSERT INTO setup_former_name (tenant_id, kind, resource_id, name_key, present_name, released)
SELECT $1, $2, n.resource_id, lower(n.name), u.name, true
FROM setup_name n JOIN unnest($3::bigint[], $4::text[]) AS u (id, name) ON u.id = n.resource_id
WHERE n.tenant_id = $1 AND n.kind = $2 AND n.name <> u.name
ON CONFLICT (tenant_id, kind, resource_id, name_key) DO NOTHING`

	storeNames = `
INSERT INTO setup_name (tenant_id, kind, resource_id, name) SELECT $1, $2, u.id, u.name FROM unnest($3::bigint[], $4::text[]) AS u (id, name)
ON CONFLICT (tenant_id, kind, resource_id) DO UPDATE SET name = excluded.name`

	// The former names that an event does not have belong to other objects.
	setPresentNames = `
UPDATE setup_former_name f SET present_name = u.name, released = true FROM unnest($3::bigint[], $4::text[]) AS u (id, name)
WHERE f.tenant_id = $1 AND f.kind = $2 AND f.resource_id = u.id`

	storeFormerNames = `
INSERT INTO setup_former_name (tenant_id, kind, resource_id, name_key, present_name, changed_at)
SELECT DISTINCT ON (u.id, lower(u.former)) $1, $2, u.id, lower(u.former), u.present, u.changed_at
FROM unnest($3::bigint[], $4::text[], $5::text[], $6::timestamptz[]) AS u (id, former, present, changed_at)
ORDER BY u.id, lower(u.former), u.changed_at DESC
ON CONFLICT (tenant_id, kind, resource_id, name_key) DO UPDATE SET changed_at = excluded.changed_at, released = false`

	// Events of two objects may arrive in any order.
	releaseTaken = `
UPDATE setup_former_name f SET released = true FROM setup_name n
WHERE f.tenant_id = $1 AND f.kind = $2 AND NOT f.released AND n.tenant_id = $1 AND n.kind = $2 AND lower(n.name) = f.name_key
  AND n.resource_id <> f.resource_id AND (f.resource_id = ANY($3) OR n.resource_id = ANY($3))`

	releaseOlder = `
UPDATE setup_former_name f SET released = true FROM setup_former_name later
WHERE f.tenant_id = $1 AND f.kind = $2 AND NOT f.released AND later.tenant_id = $1 AND later.kind = $2 AND later.name_key = f.name_key
  AND NOT later.released AND later.changed_at > f.changed_at AND later.resource_id <> f.resource_id
  AND (f.resource_id = ANY($3) OR later.resource_id = ANY($3))`
)

// store stores the names of objects. The former names of an object stay until it is deleted, because
// schedules may have them with its id.
func store[S state](ctx context.Context, tx pgx.Tx, kind Property, changes []replica.Change[S]) error {
	type formerRow struct {
		ID              int64
		Former, Present string
		ChangedAt       time.Time
	}
	var deleted, ids []int64
	var names []string
	var former []formerRow
	for _, c := range changes {
		if c.Deleted {
			deleted = append(deleted, c.Key)
			continue
		}
		ids, names = append(ids, c.Key), append(names, c.State.GetName())
		for _, f := range c.State.GetFormerNames() {
			former = append(former, formerRow{c.Key, f.GetName(), c.State.GetName(), time.UnixMicro(f.GetChangedAt())})
		}
	}
	tenantID := tenant.Of(ctx)
	batch := &pgx.Batch{}
	batch.Queue(deleteNames, tenantID, kind, deleted)
	batch.Queue(deleteFormerNames, tenantID, kind, deleted)
	batch.Queue(keepStored, tenantID, kind, ids, names)
	batch.Queue(storeNames, tenantID, kind, ids, names)
	batch.Queue(setPresentNames, tenantID, kind, ids, names)
	batch.Queue(storeFormerNames, pg.Columns(former, tenantID, kind)...)
	batch.Queue(releaseTaken, tenantID, kind, ids)
	batch.Queue(releaseOlder, tenantID, kind, ids)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("store the names of %ss: %w", kind, err)
	}
	return nil
}
