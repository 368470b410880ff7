package replica

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	replicationv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/replication/v1"
)

// wholeTopic is the key of a gap that asks for a comparison.
const wholeTopic = 0

const (
	// Gaps are due again within an hour: a later time was written while the clock was ahead.
	gapIsDue = `(due_at <= clock_timestamp() OR due_at > clock_timestamp() + interval '1 hour')`

	gapTenants = `SELECT DISTINCT tenant_id FROM replica_gap WHERE topic = $1 AND ` + gapIsDue

	// Taking gaps means asking for them. A gap that stays open is due again after a growing time,
	// at most an hour. The array keeps the subquery from running once for each row.
	takeGaps = `
UPDATE replica_gap g SET asked = least(asked + 1, 20),
    due_at = clock_timestamp() + least(interval '1 hour', interval '15 seconds' * (2 ^ least(asked, 10)))
WHERE g.tenant_id = $1 AND g.topic = $2 AND g.key = ANY(ARRAY(
    SELECT key FROM replica_gap WHERE tenant_id = $1 AND topic = $2 AND ` + gapIsDue + `
    ORDER BY key LIMIT $3 FOR UPDATE SKIP LOCKED))
RETURNING g.key, coalesce((SELECT h.version FROM replica_head h WHERE h.tenant_id = $1 AND h.topic = $2 AND h.key = g.key), 0)`

	// If the owner does not respond, it is asked again soon, even if an older state has closed the
	// gap since. If it refuses, it is asked again when the gap is due.
	returnGaps = `
INSERT INTO replica_gap AS g (tenant_id, topic, key) SELECT $1, $2, unnest($3::bigint[])
ON CONFLICT (tenant_id, topic, key) DO UPDATE SET due_at = clock_timestamp(), asked = greatest(g.asked - 1, 0)`

	requestComparison = `
INSERT INTO replica_gap (tenant_id, topic, key) VALUES ($1, $2, 0)
ON CONFLICT (tenant_id, topic, key) DO UPDATE SET due_at = clock_timestamp(), asked = 0`

	requestAllKeys = `
INSERT INTO replica_gap (tenant_id, topic, key)
SELECT tenant_id, topic, key FROM replica_head WHERE tenant_id = $1 AND topic = $2 AND key <> 0
ON CONFLICT (tenant_id, topic, key) DO UPDATE SET due_at = clock_timestamp(), asked = 0`
)

// gapsAtOnce is the number of keys in one request.
const gapsAtOnce = maxGaps

// Check requests a comparison of a topic with its owner. A running replica of the service does it
// soon. Call it when something is missing.
func Check(ctx context.Context, db pg.Querier, topic string) error {
	if _, err := db.Exec(ctx, requestComparison, tenant.Of(ctx), topic); err != nil {
		return fmt.Errorf("replica: ask for a comparison of %s: %w", topic, err)
	}
	return nil
}

// Backfill requests that the owner publishes all states of a topic again: those that the copy has
// and those that it lacks. A running replica of the service does it soon.
func Backfill(ctx context.Context, pool *pg.Pool, topic string) error {
	return pg.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error { return requestBackfill(ctx, tx, topic) })
}

func requestBackfill(ctx context.Context, tx pgx.Tx, topic string) error {
	if _, err := tx.Exec(ctx, requestAllKeys, tenant.Of(ctx), topic); err != nil {
		return fmt.Errorf("replica: ask for a backfill of %s: %w", topic, err)
	}
	return Check(ctx, tx, topic)
}

var errRefused = errors.New("replica: the owner refused a backfill")

// repair asks the owner for some of the missing states of every tenant, and reports whether there
// may be more. It calls check for tenants with a requested comparison.
func (r *Replica) repair(ctx context.Context, conn *nats.Conn, check func(ctx context.Context) error) (more bool, err error) {
	tenants, err := collectInt64(tenant.All(ctx), r.pool, gapTenants, r.contract.Topic)
	if err != nil {
		return false, err
	}
	var errs []error
	for _, tenantID := range tenants {
		again, err := r.repairTenant(tenant.With(ctx, tenantID), conn, check)
		more = more || again
		errs = append(errs, err)
	}
	return more, errors.Join(errs...)
}

func (r *Replica) repairTenant(ctx context.Context, conn *nats.Conn, check func(context.Context) error) (bool, error) {
	keys, request, err := r.takeGaps(ctx)
	if err != nil || len(keys) == 0 {
		return false, err
	}
	if keys[0] == wholeTopic {
		if err := check(ctx); err != nil {
			return false, errors.Join(err, r.returnGaps(ctx, keys))
		}
		if err := r.deleteGap(ctx, wholeTopic); err != nil {
			return false, err
		}
	}
	if len(request.GetGaps()) > 0 {
		reply := &replicationv1.BackfillResponse{}
		if err := r.request(ctx, conn, opBackfill, request, reply); err != nil {
			return false, errors.Join(err, r.returnGaps(ctx, keys))
		}
		if text := reply.GetError(); text != "" {
			return false, errors.Join(fmt.Errorf("%w of %s: %s", errRefused, r.contract.Topic, text), r.keepGaps(ctx, keys))
		}
	}
	return len(keys) == gapsAtOnce || keys[0] == wholeTopic, nil
}

// takeGaps returns the keys of the gaps that are due, in ascending order, and the request for them.
func (r *Replica) takeGaps(ctx context.Context) ([]int64, *replicationv1.BackfillRequest, error) {
	tenantID := tenant.Of(ctx)
	rows, err := unauditedGaps.Query(ctx, r.pool, takeGaps, tenantID, r.contract.Topic, gapsAtOnce)
	if err != nil {
		return nil, nil, fmt.Errorf("replica: read gaps: %w", err)
	}
	var keys []int64
	request := &replicationv1.BackfillRequest{TenantId: tenantID}
	var key, version int64
	if _, err := pgx.ForEachRow(rows, []any{&key, &version}, func() error {
		keys = append(keys, key)
		if key != wholeTopic {
			request.Gaps = append(request.Gaps, &replicationv1.Gap{Key: key, Version: version})
		}
		return nil
	}); err != nil {
		return nil, nil, fmt.Errorf("replica: read gaps: %w", err)
	}
	slices.Sort(keys)
	slices.SortFunc(request.Gaps, func(a, b *replicationv1.Gap) int { return int(a.GetKey() - b.GetKey()) })
	return keys, request, nil
}

const unauditedGaps pg.Unaudited = "gaps are bookkeeping of the replication, not changes by a user"

func (r *Replica) returnGaps(ctx context.Context, keys []int64) error {
	if _, err := unauditedGaps.Exec(ctx, r.pool, returnGaps, tenant.Of(ctx), r.contract.Topic, keys); err != nil {
		return fmt.Errorf("replica: return gaps: %w", err)
	}
	return nil
}

func (r *Replica) keepGaps(ctx context.Context, keys []int64) error {
	keys = slices.DeleteFunc(keys, func(key int64) bool { return key == wholeTopic })
	if _, err := unauditedGaps.Exec(ctx, r.pool, openGaps, tenant.Of(ctx), r.contract.Topic, keys); err != nil {
		return fmt.Errorf("replica: keep gaps: %w", err)
	}
	return nil
}

func (r *Replica) deleteGap(ctx context.Context, key int64) error {
	if _, err := unauditedGaps.Exec(ctx, r.pool, closeGaps, tenant.Of(ctx), r.contract.Topic, []int64{key}); err != nil {
		return fmt.Errorf("replica: close gap: %w", err)
	}
	return nil
}

// gaps returns the number of gaps of all tenants.
func (r *Replica) gaps(ctx context.Context) (n int64, oldest time.Duration, err error) {
	var seconds float64
	err = r.pool.QueryRow(tenant.All(ctx), `SELECT count(*), coalesce(extract(epoch FROM clock_timestamp() - min(found_at)), 0)::float8
		FROM replica_gap WHERE topic = $1`, r.contract.Topic).Scan(&n, &seconds)
	if err != nil {
		return 0, 0, fmt.Errorf("replica: count gaps: %w", err)
	}
	return n, time.Duration(seconds * float64(time.Second)), nil
}
