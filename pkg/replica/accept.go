package replica

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// knownFingerprints selects the fingerprints that the events carried.
const knownFingerprints = `SELECT key, mark FROM replica_head WHERE tenant_id = $1 AND topic = '%s' AND key > $2 AND key <= $3 AND NOT deleted`

// anyVersion selects the known versions of an ascending list of keys; see condition.AnyOf.
const anyVersion = "h.key = ANY($3) AND h.key BETWEEN ($3::bigint[])[1] AND ($3::bigint[])[cardinality($3::bigint[])]"

const (
	// The rows of known versions lock their keys: of two transactions that bring states of the same keys, each sees
	// what the other one stored. If they wait for each other in a circle, the database ends one of
	// them, and that one is repeated. A state with a known version is accepted again if the owner
	// was asked for it.
	//
	// Most rows exist already: updating one logs half of what an upsert would. The keys ascend,
	// and each row finds its values by binary search. A join would compare every pair of rows for
	// as long as the database has no statistics of the table.
	updateOlderVersions = `
UPDATE replica_head h SET version = ($4::bigint[])[width_bucket(h.key, $3::bigint[])],
    mark = ($5::bigint[])[width_bucket(h.key, $3::bigint[])], deleted = ($6::bool[])[width_bucket(h.key, $3::bigint[])]
WHERE h.tenant_id = $1 AND h.topic = $2 AND ` + anyVersion + ` AND (h.version < ($4::bigint[])[width_bucket(h.key, $3::bigint[])]
    OR h.version = ($4::bigint[])[width_bucket(h.key, $3::bigint[])]
        AND EXISTS (SELECT FROM replica_gap g WHERE g.tenant_id = h.tenant_id AND g.topic = h.topic AND g.key = h.key AND g.asked > 0))
RETURNING h.key`

	// Another transaction may have stored a row since the update looked for it.
	upsertVersions = `
INSERT INTO replica_head AS h (tenant_id, topic, key, version, mark, deleted)
SELECT $1, $2, u.* FROM unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::bool[]) AS u (key, version, mark, deleted)
ON CONFLICT (tenant_id, topic, key) DO UPDATE SET version = excluded.version, mark = excluded.mark, deleted = excluded.deleted
WHERE excluded.version > h.version OR excluded.version = h.version
    AND EXISTS (SELECT FROM replica_gap g WHERE g.tenant_id = h.tenant_id AND g.topic = h.topic AND g.key = h.key)
RETURNING key`

	// A state that arrived before the owner was asked may be a repetition of the known state: it
	// closes no gap.
	closeGaps = `DELETE FROM replica_gap WHERE tenant_id = $1 AND topic = $2 AND key = ANY($3) AND asked > 0`

	// Unknown keys get a row with version 0, so that they can be locked.
	insertVersions = `
INSERT INTO replica_head (tenant_id, topic, key, version, mark, deleted)
SELECT $1, $2, key, 0, 0, true FROM unnest($3::bigint[]) AS key ORDER BY key ON CONFLICT DO NOTHING`

	lockVersions = `
SELECT h.key, h.version, g.key IS NOT NULL FROM replica_head h
LEFT JOIN replica_gap g ON g.tenant_id = $1 AND g.topic = $2 AND g.key = h.key AND g.asked > 0
WHERE h.tenant_id = $1 AND h.topic = $2 AND ` + anyVersion + ` ORDER BY h.key FOR UPDATE OF h`

	updateVersions = `
UPDATE replica_head h SET version = ($4::bigint[])[width_bucket(h.key, $3::bigint[])],
    mark = ($5::bigint[])[width_bucket(h.key, $3::bigint[])], deleted = ($6::bool[])[width_bucket(h.key, $3::bigint[])]
WHERE h.tenant_id = $1 AND h.topic = $2 AND ` + anyVersion

	openGaps = `
INSERT INTO replica_gap (tenant_id, topic, key) SELECT $1, $2, unnest($3::bigint[]) ON CONFLICT DO NOTHING`
)

// acceptStates locks the known versions of the keys, stores the states that are newer than the known ones, and
// returns them by ascending key and version.
func (r *Replica) acceptStates(ctx context.Context, tx pgx.Tx, states []state) ([]state, error) {
	if len(states) == 0 {
		return nil, nil
	}
	if r.contract.steps() {
		return r.acceptSteps(ctx, tx, states)
	}
	newest := slices.Clone(states)
	slices.SortStableFunc(newest, func(a, b state) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(b.version, a.version))
	})
	newest = slices.CompactFunc(newest, func(a, b state) bool { return a.key == b.key })
	keys, err := r.storeVersions(ctx, tx, updateOlderVersions, newest)
	if err != nil {
		return nil, err
	}
	if rest := without(newest, keys); len(rest) > 0 {
		added, err := r.storeVersions(ctx, tx, upsertVersions, rest)
		if err != nil {
			return nil, err
		}
		keys = append(keys, added...)
		slices.Sort(keys)
	}
	newest = slices.DeleteFunc(newest, func(s state) bool { return !contains(keys, s.key) })
	return newest, r.closeGaps(ctx, tx, keys)
}

// without returns the states whose key is not in keys, which ascend.
func without(states []state, keys []int64) []state {
	if len(states) == len(keys) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(states), func(s state) bool { return contains(keys, s.key) })
}

func contains(ascending []int64, key int64) bool {
	_, found := slices.BinarySearch(ascending, key)
	return found
}

// storeVersions runs a statement that stores the versions of states, whose keys ascend. It returns the
// stored keys, ascending.
func (r *Replica) storeVersions(ctx context.Context, tx pgx.Tx, statement string, states []state) ([]int64, error) {
	rows, err := tx.Query(ctx, statement, append(planFor(len(states)), r.versionArgs(tenant.Of(ctx), states)...)...)
	if err != nil {
		return nil, fmt.Errorf("replica: store versions of %s: %w", r.contract.Topic, err)
	}
	keys, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("replica: store versions of %s: %w", r.contract.Topic, err)
	}
	slices.Sort(keys)
	return keys, nil
}

// planFor returns the query options for a statement with lists of that many keys, or nil for the
// default. A cached plan assumes short lists and scans the whole of a long one for each row.
func planFor(keys int) []any {
	const few = 100
	if keys <= few {
		return nil
	}
	return []any{pgx.QueryExecModeCacheDescribe}
}

func (r *Replica) versionArgs(tenantID int64, states []state) []any {
	n := len(states)
	keys, versions, fingerprints, deleted := make([]int64, n), make([]int64, n), make([]int64, n), make([]bool, n)
	for i, s := range states {
		keys[i], versions[i], fingerprints[i], deleted[i] = s.key, s.version, s.fingerprint, s.deleted
	}
	return []any{tenantID, r.contract.Topic, keys, versions, fingerprints, deleted}
}

func (r *Replica) closeGaps(ctx context.Context, tx pgx.Tx, keys []int64) error {
	if len(keys) == 0 {
		return nil
	}
	if _, err := tx.Exec(ctx, closeGaps, tenant.Of(ctx), r.contract.Topic, keys); err != nil {
		return fmt.Errorf("replica: close gaps of %s: %w", r.contract.Topic, err)
	}
	return nil
}

// knownVersion is the known version of a key, and whether the owner was asked for missing states.
type knownVersion struct {
	version int64
	asked   bool
}

// acceptSteps is accept for contracts with steps. A step that does not follow the known version
// opens a gap.
func (r *Replica) acceptSteps(ctx context.Context, tx pgx.Tx, states []state) ([]state, error) {
	sorted := slices.Clone(states)
	// Of two states with the same version, the whole state comes first.
	slices.SortStableFunc(sorted, func(a, b state) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.version, b.version), cmp.Compare(rank(a), rank(b)))
	})
	known, err := lockKeys(ctx, tx, r.contract.Topic, stateKeys(states))
	if err != nil {
		return nil, err
	}
	var accepted, newest []state
	var gaps, closed []int64
	for _, s := range sorted {
		h := known[s.key]
		switch {
		case s.version < h.version || s.version == h.version && !(s.whole && h.asked):
			continue // The version is known already.
		case !s.whole && s.version != h.version+1:
			if last(gaps) != s.key {
				gaps = append(gaps, s.key)
			}
			continue
		}
		if s.whole {
			closed, h.asked = append(closed, s.key), false
			if last(gaps) == s.key {
				gaps = gaps[:len(gaps)-1]
			}
		}
		accepted, h.version = append(accepted, s), s.version
		if n := len(newest); n > 0 && newest[n-1].key == s.key {
			newest[n-1] = s
		} else {
			newest = append(newest, s)
		}
	}
	if len(newest) > 0 {
		if _, err := tx.Exec(ctx, updateVersions, append(planFor(len(newest)), r.versionArgs(tenant.Of(ctx), newest)...)...); err != nil {
			return nil, fmt.Errorf("replica: store versions of %s: %w", r.contract.Topic, err)
		}
	}
	// Close gaps first: a gap that opened after a whole state must stay open.
	if err := r.closeGaps(ctx, tx, slices.Compact(closed)); err != nil {
		return nil, err
	}
	return accepted, r.openGaps(ctx, tx, gaps)
}

// last returns the last key, or 0 if there is none.
func last(keys []int64) int64 {
	if len(keys) == 0 {
		return 0
	}
	return keys[len(keys)-1]
}

// stateKeys returns the distinct keys of states, ascending.
func stateKeys(states []state) []int64 {
	keys := make([]int64, len(states))
	for i, s := range states {
		keys[i] = s.key
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

func rank(s state) int {
	if s.whole {
		return 0
	}
	return 1
}

// lockKeys locks the known versions of keys, which ascend, and returns them.
func lockKeys(ctx context.Context, tx pgx.Tx, topic string, keys []int64) (map[int64]*knownVersion, error) {
	tenantID := tenant.Of(ctx)
	known := make(map[int64]*knownVersion, len(keys))
	batch := &pgx.Batch{}
	batch.Queue(insertVersions, tenantID, topic, keys)
	batch.Queue(lockVersions, tenantID, topic, keys).Query(func(rows pgx.Rows) error {
		var key int64
		var h knownVersion
		_, err := pgx.ForEachRow(rows, []any{&key, &h.version, &h.asked}, func() error {
			known[key] = &knownVersion{h.version, h.asked}
			return nil
		})
		return err
	})
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return nil, fmt.Errorf("replica: lock %s: %w", topic, err)
	}
	return known, nil
}

// openGaps records gaps for the keys.
func (r *Replica) openGaps(ctx context.Context, tx pgx.Tx, keys []int64) error {
	if len(keys) == 0 {
		return nil
	}
	if _, err := tx.Exec(ctx, openGaps, tenant.Of(ctx), r.contract.Topic, keys); err != nil {
		return fmt.Errorf("replica: record gaps of %s: %w", r.contract.Topic, err)
	}
	select {
	case r.missing <- struct{}{}:
	default: // A look for gaps is due already.
	}
	return nil
}

// Lock locks the known versions of keys of a topic until the transaction ends, including keys that are
// unknown. Use it before passing on the content of a copy.
func Lock(ctx context.Context, tx pgx.Tx, topic string, keys []int64) error {
	_, err := lockKeys(ctx, tx, topic, slices.Compact(slices.Sorted(slices.Values(keys))))
	return err
}
