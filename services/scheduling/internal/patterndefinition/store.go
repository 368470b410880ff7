package patterndefinition

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleevent"
)

// putPatterns stores new patterns, and returns the ids of all. A pattern that another transaction
// stores concurrently is missing from the result. The patterns are ordered by digest, so that two
// transactions with the same new patterns cannot deadlock.
const putPatterns = `
WITH given AS (
    SELECT * FROM unnest($2::bytea[], $3::int[], $4::bytea[]) AS g (digest, day_count, body)
), known AS (
    SELECT p.id, p.digest
    FROM schedule_pattern p JOIN given USING (digest)
    WHERE p.tenant_id = $1
), added AS (
    INSERT INTO schedule_pattern (tenant_id, digest, day_count, body)
    SELECT $1, digest, day_count, body FROM given
    WHERE digest NOT IN (SELECT digest FROM known)
    ON CONFLICT (tenant_id, digest) DO NOTHING
    RETURNING id, digest
)
SELECT id, digest, false FROM known UNION ALL SELECT id, digest, true FROM added`

// putRounds limits the attempts of Put. The second round sees patterns that another transaction
// stored during the first one.
const putRounds = 3

// Put stores definitions, equal ones only once, and returns the pattern id of each, in order. The
// ids are valid after the transaction has committed. New patterns are published to services that
// keep a copy.
func (d *Definitions) Put(ctx context.Context, tx pgx.Tx, definitions []*Definition) ([]int64, error) {
	ids := make(map[[sha256.Size]byte]int64, len(definitions))
	for range putRounds {
		missing := withoutID(definitions, ids)
		if len(missing) == 0 {
			break
		}
		if err := storeDefinitions(ctx, tx, missing, ids); err != nil {
			return nil, fmt.Errorf("patterndefinition: store patterns: %w", err)
		}
	}
	out := make([]int64, len(definitions))
	for i, definition := range definitions {
		id, ok := ids[definition.digest]
		if !ok {
			return nil, fmt.Errorf("patterndefinition: pattern %x was not stored", definition.digest)
		}
		out[i] = id
	}
	return out, nil
}

// withoutID returns the distinct definitions without an id, in the order of their digests.
func withoutID(definitions []*Definition, ids map[[sha256.Size]byte]int64) []*Definition {
	var missing []*Definition
	for _, definition := range definitions {
		if _, ok := ids[definition.digest]; !ok {
			missing = append(missing, definition)
		}
	}
	slices.SortFunc(missing, func(a, b *Definition) int { return slices.Compare(a.digest[:], b.digest[:]) })
	return slices.CompactFunc(missing, func(a, b *Definition) bool { return a.digest == b.digest })
}

func storeDefinitions(ctx context.Context, tx pgx.Tx, definitions []*Definition, ids map[[sha256.Size]byte]int64) error {
	digests, bodies := make([][]byte, len(definitions)), make([][]byte, len(definitions))
	dayCounts := make([]int32, len(definitions))
	for i, definition := range definitions {
		digests[i], dayCounts[i], bodies[i] = definition.digest[:], definition.DayCount, definition.body
	}
	var id int64
	var digest []byte
	var added bool
	var events []proto.Message
	if err := pg.ForEach(ctx, tx, []any{&id, &digest, &added}, func() error {
		ids[[sha256.Size]byte(digest)] = id
		if !added {
			return nil
		}
		i := slices.IndexFunc(definitions, func(d *Definition) bool { return slices.Equal(d.digest[:], digest) })
		published, err := scheduleevent.Pattern(id, scheduleevent.Digest(digest), 0, definitions[i].Pattern)
		events = append(events, published...)
		return err
	}, putPatterns, tenant.Of(ctx), digests, dayCounts, bodies); err != nil {
		return err
	}
	return outbox.Append(ctx, tx, events...)
}

const findPatterns = `SELECT id, digest FROM schedule_pattern WHERE tenant_id = $1 AND digest = ANY($2)`

// Find returns the pattern id of each definition. It stores nothing: a definition that is not
// stored has a negative number, and equal ones have the same.
func (d *Definitions) Find(ctx context.Context, db pg.Querier, definitions []*Definition) (map[*Definition]int64, error) {
	out := make(map[*Definition]int64, len(definitions))
	if len(definitions) == 0 {
		return out, nil
	}
	digests := make([][]byte, len(definitions))
	for i, definition := range definitions {
		digests[i] = definition.digest[:]
	}
	known := make(map[[sha256.Size]byte]int64, len(definitions))
	var id int64
	var digest []byte
	err := pg.ForEach(ctx, db, []any{&id, &digest}, func() error {
		known[[sha256.Size]byte(digest)] = id
		return nil
	}, findPatterns, tenant.Of(ctx), digests)
	if err != nil {
		return nil, fmt.Errorf("patterndefinition: find patterns: %w", err)
	}
	next := int64(0)
	for _, definition := range definitions {
		if _, found := known[definition.digest]; !found {
			next--
			known[definition.digest] = next
		}
		out[definition] = known[definition.digest]
	}
	return out, nil
}

const loadPatterns = `SELECT id, body FROM schedule_pattern WHERE tenant_id = $1 AND id = ANY($2)`

// Patterns returns stored patterns by id. They contain all templates. An unknown id is an error,
// because patterns are never deleted.
func (d *Definitions) Patterns(ctx context.Context, db pg.Querier, ids []int64) (map[int64]*schedulingv1.SchedulePattern, error) {
	out := make(map[int64]*schedulingv1.SchedulePattern, len(ids))
	var id int64
	var body []byte
	err := pg.ForEach(ctx, db, []any{&id, &body}, func() error {
		pattern := &schedulingv1.SchedulePattern{}
		out[id] = pattern
		return proto.Unmarshal(body, pattern)
	}, loadPatterns, tenant.Of(ctx), ids)
	if err != nil {
		return nil, fmt.Errorf("patterndefinition: read patterns: %w", err)
	}
	for _, id := range ids {
		if out[id] == nil {
			return nil, fmt.Errorf("patterndefinition: pattern %d is not stored", id)
		}
	}
	return out, nil
}
