package person

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
)

const (
	// maxCached is the maximum number of rendered persons in the cache, and maxCachedBytes the
	// maximum size of one of them.
	maxCached      = 4096
	maxCachedBytes = 16 << 10
)

// stamp identifies the state of a person. The version increases with every change of the
// person's row and lists. Terms and sign-offs belong to timekeeping and the name of the supervisor to
// another person, so the stamp contains them.
type stamp struct {
	version, updated            int64
	supervisor, terms, requests string
	signedOff                   string
}

// An array in index order costs half as much as an aggregate that sorts.
const readStamp = `SELECT p.version, p.updated_at, coalesce(` + store.SupervisorName + `, ''),
    array_to_string(ARRAY(SELECT ROW(m.*, t.id, t.name)::text
        FROM membership m JOIN employment_term t ON t.tenant_id = $1 AND t.id = m.employment_term_id
        WHERE m.tenant_id = $1 AND m.person_id = $2 ORDER BY m.from_date), ','),
    array_to_string(ARRAY(SELECT ROW(r.*, t.id, t.name)::text
        FROM term_request r LEFT JOIN employment_term t ON t.tenant_id = $1 AND t.id = r.employment_term_id
        WHERE r.tenant_id = $1 AND r.person_id = $2 ORDER BY r.number, r.position), ','),
    coalesce((SELECT through::text FROM timecard_signoff WHERE tenant_id = $1 AND person_id = $2), '')
FROM person p WHERE p.tenant_id = $1 AND p.id = $2`

func scanStamp(row pgx.CollectableRow) (s stamp, err error) {
	var updated time.Time
	err = row.Scan(&s.version, &updated, &s.supervisor, &s.terms, &s.requests, &s.signedOff)
	s.updated = updated.UnixMicro()
	return s, err
}

// cacheKey identifies a person of a tenant as shown on a day.
type cacheKey struct {
	tenant, person int64
	day            civil.Date
}

// cached is a person in the form of responses.
type cached struct {
	stamp stamp
	// wire is the encoded message. It is never modified.
	wire []byte
}

// cachedPerson returns a person as callers see them today, with the version of the record, or
// nil if the person does not exist. One statement checks whether the cached person is still
// current. Reading the person takes one statement for each list.
func (h *Handler) cachedPerson(ctx context.Context, id int64) (person *commonsv1.Person, version int64, err error) {
	tenantID := tenant.Of(ctx)
	rows, err := h.pool.Query(ctx, readStamp, tenantID, id)
	if err != nil {
		return nil, 0, fmt.Errorf("read person: %w", err)
	}
	now, err := pgx.CollectExactlyOneRow(rows, scanStamp)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read person: %w", err)
	}
	key := cacheKey{tenant: tenantID, person: id, day: h.reader.Today(ctx)}
	if before, ok := h.cache.Get(key); ok && before.stamp == now {
		out := &commonsv1.Person{}
		out.ProtoReflect().SetUnknown(before.wire)
		return out, now.version, nil
	}
	// Read the stamp in the same snapshot, because the person may have changed since.
	var read stamp
	persons, err := store.Load(ctx, h.pool, []int64{id}, func(s *pg.Snapshot) {
		s.Queue(func(rows pgx.Rows) (err error) {
			read, err = pgx.CollectExactlyOneRow(rows, scanStamp)
			if errors.Is(err, pgx.ErrNoRows) {
				err = nil // The person was deleted in the meantime.
			}
			return err
		}, readStamp, tenantID, id)
	})
	p := persons[id]
	if err != nil || p == nil {
		return nil, 0, err
	}
	out := p.Render(p.ID, key.day)
	wire, err := proto.Marshal(out)
	if err != nil {
		return nil, 0, fmt.Errorf("encode person %d: %w", id, err)
	}
	if len(wire) <= maxCachedBytes {
		h.cache.Put(key, cached{stamp: read, wire: wire}, time.Time{})
	}
	return out, p.Version, nil
}
