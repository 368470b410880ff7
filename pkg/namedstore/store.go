package namedstore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/advisory"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/precondition"
)

// MaxListed bounds the resources of a kind that a tenant has, and so a list of all of
// them. It is far above what planners can oversee.
const MaxListed = 10_000

// Store keeps the resources of one kind. It has no state of its own.
type Store[T Named] struct {
	kind Kind[T]
	// id and version are fields of the message; version is nil when it has no such number.
	id, version                               protoreflect.FieldDescriptor
	get, find, all, insert, replace, deletion string
	lockMany, replaceAll, deleteAll, count    string
}

// NewStore returns the store of a kind.
func NewStore[T Named](kind Kind[T]) *Store[T] {
	sql := func(text string) string { return strings.ReplaceAll(text, "{table}", kind.Table) }
	var none T
	fields := none.ProtoReflect().Descriptor().Fields()
	version := fields.ByName("version")
	if version != nil && version.Kind() != protoreflect.Int64Kind {
		version = nil
	}
	return &Store[T]{
		kind: kind, id: fields.ByName("id"), version: version,
		get: sql(`
SELECT id, version, body FROM {table} WHERE tenant_id = $1 AND id = $2`),
		find: sql(`
SELECT id, version, body FROM {table}
WHERE tenant_id = $1
  AND (id = ANY($2) OR lower(name) = ANY (ARRAY(SELECT lower(n) FROM unnest($3::text[]) AS n)))`),
		all: sql(`
SELECT id, version, body FROM {table} WHERE tenant_id = $1 ORDER BY lower(name) LIMIT $2`),
		insert: sql(`
INSERT INTO {table} (tenant_id, name, body)
SELECT $1, name, body FROM unnest($2::text[], $3::bytea[]) AS given (name, body)
ON CONFLICT (tenant_id, lower(name)) DO NOTHING
RETURNING name, id`),
		replace: sql(`
UPDATE {table} SET name = $3, body = $4, version = version + 1, updated_at = now()
WHERE tenant_id = $1 AND id = $2 AND ($5::bigint[] IS NULL OR version = ANY ($5))
RETURNING version`),
		deletion: sql(`
DELETE FROM {table} WHERE tenant_id = $1 AND id = $2 AND ($3::bigint[] IS NULL OR version = ANY ($3))
RETURNING version + 1`),
		lockMany: sql(`
SELECT id, version, name FROM {table}
WHERE tenant_id = $1
  AND (id = ANY($2) OR lower(name) = ANY (ARRAY(SELECT lower(n) FROM unnest($3::text[]) AS n)))
ORDER BY id FOR UPDATE`),
		replaceAll: sql(`
UPDATE {table} AS t SET name = given.name, body = given.body, version = t.version + 1, updated_at = now()
FROM unnest($2::bigint[], $3::text[], $4::bytea[]) AS given (id, name, body)
WHERE t.tenant_id = $1 AND t.id = given.id
RETURNING t.id, t.version`),
		deleteAll: sql(`
DELETE FROM {table} WHERE tenant_id = $1 AND id = ANY($2)`),
		count: sql(`
SELECT count(*) FROM (SELECT FROM {table} WHERE tenant_id = $1 LIMIT $2) AS there`),
	}
}

// Find returns the resources with these ids, and those with these names, in no
// order. What does not exist is left out.
func (s *Store[T]) Find(ctx context.Context, db pg.Querier, tenantID int64, ids []int64, names []string) ([]T, error) {
	rows, err := db.Query(ctx, s.find, tenantID, ids, storable(names))
	if err != nil {
		return nil, fmt.Errorf("%s: find: %w", s.kind.Table, err)
	}
	return s.collect(rows)
}

// All returns all resources of the tenant by name. It fails with 413 when there
// are more than MaxListed.
func (s *Store[T]) All(ctx context.Context, db pg.Querier, tenantID int64) ([]T, error) {
	rows, err := db.Query(ctx, s.all, tenantID, MaxListed+1)
	return s.list(rows, err)
}

func (s *Store[T]) list(rows pgx.Rows, err error) ([]T, error) {
	if err != nil {
		return nil, fmt.Errorf("%s: list: %w", s.kind.Table, err)
	}
	list, err := s.collect(rows)
	if err == nil && len(list) > MaxListed {
		err = fault.TooLarge(fault.CodeItemLimit,
			fmt.Sprintf("There are more than %d %ss. Name those you need.", MaxListed, s.kind.What))
	}
	return list, err
}

// Get returns the resource with an id, or a 404.
func (s *Store[T]) Get(ctx context.Context, db pg.Querier, tenantID, id int64) (T, error) {
	resource, _, err := s.GetWithVersion(ctx, db, tenantID, id)
	return resource, err
}

// GetWithVersion is Get for resources that do not show their version.
func (s *Store[T]) GetWithVersion(ctx context.Context, db pg.Querier, tenantID, id int64) (resource T, version int64, err error) {
	rows, err := db.Query(ctx, s.get, tenantID, id)
	if err != nil {
		return resource, 0, fmt.Errorf("%s: get: %w", s.kind.Table, err)
	}
	list, versions, err := s.collectVersions(rows)
	if err != nil {
		return resource, 0, err
	}
	if len(list) == 0 {
		return resource, 0, s.kind.notFound(id)
	}
	return list[0], versions[0], nil
}

// GetForUpdate returns what Get does, and keeps others from changing it, and from
// referring to it by a key share lock, until the transaction ends.
func (s *Store[T]) GetForUpdate(ctx context.Context, tx pgx.Tx, tenantID, id int64) (T, error) {
	if _, err := tx.Exec(ctx, s.get+` FOR UPDATE`, tenantID, id); err != nil {
		var none T
		return none, fmt.Errorf("%s: lock: %w", s.kind.Table, err)
	}
	return s.Get(ctx, tx, tenantID, id)
}

// Insert stores resources and returns, in order, what was stored or why it was
// not: the name is taken, perhaps by an earlier one of the same list, or there are
// MaxListed already.
func (s *Store[T]) Insert(ctx context.Context, tx pgx.Tx, tenantID int64, resources []T) ([]T, []error, error) {
	room, err := s.remaining(ctx, tx, tenantID, len(resources))
	if err != nil {
		return nil, nil, err
	}
	fitting := resources[:min(room, len(resources))]
	names, bodies := make([]string, len(fitting)), make([][]byte, len(fitting))
	for i, resource := range fitting {
		body, err := s.encode(resource)
		if err != nil {
			return nil, nil, err
		}
		names[i], bodies[i] = resource.GetName(), body
	}
	ids := make(map[string]int64, len(fitting))
	rows, err := tx.Query(ctx, s.insert, tenantID, names, bodies)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: insert: %w", s.kind.Table, err)
	}
	var name string
	var id int64
	_, err = pgx.ForEachRow(rows, []any{&name, &id}, func() error {
		ids[name] = id
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("%s: insert: %w", s.kind.Table, err)
	}
	stored, errs := make([]T, len(resources)), make([]error, len(resources))
	for i, resource := range resources {
		if i >= room {
			errs[i] = s.kind.full()
			continue
		}
		id, ok := ids[resource.GetName()]
		if !ok {
			errs[i] = s.kind.taken(resource.GetName())
			continue
		}
		// Of two with the very same name the first is the one that is stored.
		delete(ids, resource.GetName())
		stored[i] = s.filled(resource, id, FirstVersion)
	}
	return stored, errs, nil
}

// creation has who creates resources of a tenant while there is little room left.
const creation advisory.Lock = "creation of named things"

// scarce is how much room must be left, beside what is to be stored, for nobody to wait:
// far more than is created at the same time.
const scarce = MaxListed / 2

// room returns how many more resources the tenant may have. Where it is scarce, whoever else
// creates some is waited for.
func (s *Store[T]) remaining(ctx context.Context, tx pgx.Tx, tenantID int64, wanted int) (room int, err error) {
	count := func() error {
		var there int
		if err := tx.QueryRow(ctx, s.count, tenantID, MaxListed).Scan(&there); err != nil {
			return fmt.Errorf("%s: count: %w", s.kind.Table, err)
		}
		room = MaxListed - there
		return nil
	}
	if err := count(); err != nil || room >= wanted+scarce {
		return room, err
	}
	if err := creation.Wait(ctx, tx, tenantID); err != nil {
		return 0, err
	}
	return room, count()
}

// AllForUpdate returns what All does, and keeps others from changing it until
// the transaction ends.
func (s *Store[T]) AllForUpdate(ctx context.Context, tx pgx.Tx, tenantID int64) ([]T, error) {
	rows, err := tx.Query(ctx, s.all+` FOR NO KEY UPDATE`, tenantID, MaxListed+1)
	return s.list(rows, err)
}

// Replace stores a resource in the place of the one with the id. With a version, the one
// that is replaced must still have it; without, it may have any. The If-Match of the request
// goes before both.
func (s *Store[T]) Replace(ctx context.Context, pool *pg.Pool, tenantID, id int64, resource T, version *int64) (T, error) {
	out, _, err := s.ReplaceWithVersion(ctx, pool, tenantID, id, resource, version)
	return out, err
}

// ReplaceWithVersion is Replace for resources that do not show their version. It returns the
// new one.
func (s *Store[T]) ReplaceWithVersion(ctx context.Context, pool *pg.Pool, tenantID, id int64, resource T, version *int64) (out T, now int64, err error) {
	err = pg.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		out, now, err = s.replaceIn(ctx, tx, tenantID, id, resource, version)
		return err
	})
	return out, now, err
}

// ReplaceIn is Replace within a transaction.
func (s *Store[T]) ReplaceIn(ctx context.Context, tx pgx.Tx, tenantID, id int64, resource T, version *int64) (T, error) {
	out, _, err := s.replaceIn(ctx, tx, tenantID, id, resource, version)
	return out, err
}

func (s *Store[T]) replaceIn(ctx context.Context, tx pgx.Tx, tenantID, id int64, resource T, version *int64) (out T, now int64, err error) {
	body, err := s.encode(resource)
	if err != nil {
		return out, 0, err
	}
	err = tx.QueryRow(ctx, s.replace, tenantID, id, resource.GetName(), body, precondition.Versions(ctx, version)).Scan(&now)
	switch {
	case err == nil:
		return s.filled(resource, id, now), now, nil
	case pgerr.IsUnique(err, s.kind.Table+"_name"):
		return out, 0, s.kind.taken(resource.GetName())
	case errors.Is(err, pgx.ErrNoRows):
		return out, 0, s.writeConflict(ctx, tx, tenantID, id)
	}
	return out, 0, fmt.Errorf("%s: replace: %w", s.kind.Table, err)
}

// writeConflict is why nothing was written in the place of the resource with the id: it is
// not there, or has another version.
func (s *Store[T]) writeConflict(ctx context.Context, db pg.Querier, tenantID, id int64) error {
	if _, err := s.Get(ctx, db, tenantID, id); err != nil {
		return err
	}
	return s.kind.stale(ctx, id)
}

// Delete removes the resource with the id, or returns 404. With a version, the
// resource must still have it. The If-Match of the request goes before that.
func (s *Store[T]) Delete(ctx context.Context, pool *pg.Pool, tenantID, id int64, version *int64) error {
	return pg.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
		_, err := s.DeleteIn(ctx, tx, tenantID, id, version)
		return err
	})
}

// DeleteIn is Delete within a transaction. It returns the version that the
// deletion has.
func (s *Store[T]) DeleteIn(ctx context.Context, tx pgx.Tx, tenantID, id int64, version *int64) (now int64, err error) {
	err = tx.QueryRow(ctx, s.deletion, tenantID, id, precondition.Versions(ctx, version)).Scan(&now)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, s.writeConflict(ctx, tx, tenantID, id)
	}
	if err != nil {
		return 0, fmt.Errorf("%s: delete: %w", s.kind.Table, err)
	}
	return now, nil
}

func (s *Store[T]) encode(resource T) ([]byte, error) {
	bare := proto.CloneOf(resource)
	s.strip(bare)
	body, err := proto.Marshal(bare)
	if err != nil {
		return nil, fmt.Errorf("%s: encode: %w", s.kind.Table, err)
	}
	return body, nil
}

// filled is the resource as it is read back.
func (s *Store[T]) filled(resource T, id, version int64) T {
	out := proto.CloneOf(resource)
	s.strip(out)
	s.fill(out, id, version)
	return out
}

// newResource makes an empty one.
func newResource[T Named]() T {
	var none T
	return none.ProtoReflect().New().Interface().(T)
}

func (s *Store[T]) strip(resource T) {
	m := resource.ProtoReflect()
	m.Clear(s.id)
	if s.version != nil {
		m.Clear(s.version)
	}
	if s.kind.Strip != nil {
		s.kind.Strip(resource)
	}
}

func (s *Store[T]) fill(resource T, id, version int64) {
	m := resource.ProtoReflect()
	m.Set(s.id, protoreflect.ValueOfInt64(id))
	if s.version != nil {
		m.Set(s.version, protoreflect.ValueOfInt64(version))
	}
	if s.kind.Fill != nil {
		s.kind.Fill(resource, version)
	}
}

func (s *Store[T]) collect(rows pgx.Rows) ([]T, error) {
	list, _, err := s.collectVersions(rows)
	return list, err
}

func (s *Store[T]) collectVersions(rows pgx.Rows) (list []T, versions []int64, err error) {
	var id, version int64
	var body []byte
	_, err = pgx.ForEachRow(rows, []any{&id, &version, &body}, func() error {
		resource := newResource[T]()
		if err := proto.Unmarshal(body, resource); err != nil {
			return err
		}
		s.fill(resource, id, version)
		list, versions = append(list, resource), append(versions, version)
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("%s: read: %w", s.kind.Table, err)
	}
	return list, versions, nil
}

// storable leaves out names that the database cannot even compare. Nothing
// has such a name.
func storable(names []string) []string {
	out := make([]string, 0, len(names))
	for _, name := range names {
		if !strings.ContainsRune(name, 0) {
			out = append(out, name)
		}
	}
	return out
}
