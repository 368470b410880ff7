package replica

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	replicationv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/replication/v1"
)

// Tenants is a statement for [Topic.Tenants]: the tenants with a known version. Each tenant costs one index
// search, however many rows it has.
const Tenants = `
WITH RECURSIVE t AS (
    (SELECT tenant_id FROM replica_head ORDER BY tenant_id LIMIT 1)
    UNION ALL
    SELECT (SELECT h.tenant_id FROM replica_head h WHERE h.tenant_id > t.tenant_id ORDER BY h.tenant_id LIMIT 1) FROM t WHERE t.tenant_id IS NOT NULL
) SELECT tenant_id FROM t WHERE tenant_id IS NOT NULL`

// TenantsQuery returns [Tenants] for another table. The role for work across all tenants needs
// permission to read the table.
func TenantsQuery(table string) string { return strings.ReplaceAll(Tenants, "replica_head", table) }

// digest is a comparison value of many keys at once.
type digest struct {
	count, digest int64
	// last is the largest key that was counted.
	last int64
}

// The digest does not depend on the order of rows. PostgreSQL promises its hash
// functions to stay as they are, because partitions depend on them.
const (
	digestKeys = `SELECT count(*), coalesce(bit_xor(hashint8extended(key, mark)), 0), coalesce(max(key), 0)
FROM (SELECT key, mark FROM (%s) AS marks%s) AS page`
	firstKeys = ` ORDER BY key LIMIT %d`
	listKeys  = `SELECT key, mark FROM (%s) AS marks ORDER BY key LIMIT $4`
	someKeys  = `SELECT key, mark FROM (%s) AS marks WHERE key = ANY($4) ORDER BY key`
)

// readDigest returns the digest of the keys above after, up to through: of the first limit keys, or
// of all if limit is 0.
func readDigest(ctx context.Context, pool *pg.Pool, fingerprints string, after, through int64, limit int) (d digest, err error) {
	first := ""
	if limit > 0 {
		first = fmt.Sprintf(firstKeys, limit)
	}
	err = pool.QueryRow(ctx, fmt.Sprintf(digestKeys, fingerprints, first), tenant.Of(ctx), after, through).Scan(&d.count, &d.digest, &d.last)
	if err != nil {
		return d, fmt.Errorf("replica: compare: %w", err)
	}
	return d, nil
}

// listFingerprints returns the first keys above after, up to through, with their fingerprints.
func listFingerprints(ctx context.Context, pool *pg.Pool, fingerprints string, after, through int64, limit int) ([]*replicationv1.Head, error) {
	return readFingerprints(pool.Query(ctx, fmt.Sprintf(listKeys, fingerprints), tenant.Of(ctx), after, through, limit))
}

// lookUpFingerprints returns the fingerprints of the keys that exist.
func lookUpFingerprints(ctx context.Context, pool *pg.Pool, fingerprints string, keys []int64) (map[int64]int64, error) {
	list, err := readFingerprints(pool.Query(ctx, fmt.Sprintf(someKeys, fingerprints), tenant.Of(ctx), keys[0]-1, keys[len(keys)-1], keys))
	out := make(map[int64]int64, len(list))
	for _, h := range list {
		out[h.GetKey()] = h.GetMark()
	}
	return out, err
}

func readFingerprints(rows pgx.Rows, err error) ([]*replicationv1.Head, error) {
	if err != nil {
		return nil, fmt.Errorf("replica: read fingerprints: %w", err)
	}
	fingerprints, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*replicationv1.Head, error) {
		h := &replicationv1.Head{}
		return h, row.Scan(&h.Key, &h.Mark)
	})
	if err != nil {
		return nil, fmt.Errorf("replica: read fingerprints: %w", err)
	}
	return fingerprints, nil
}

func collectInt64(ctx context.Context, pool *pg.Pool, sql string, args ...any) ([]int64, error) {
	rows, err := pool.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("replica: read: %w", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("replica: read: %w", err)
	}
	return found, nil
}
