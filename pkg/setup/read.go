package setup

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

// Find returns the resources with the ids and the resources with the names, in no order. It
// omits unknown ids and names.
func (k *Kind[T]) Find(ctx context.Context, db pg.Querier, ids []int64, names []string) ([]T, error) {
	return k.query(ctx, db, k.sql.find, tenant.Of(ctx), ids, storable(names))
}

// All returns all resources in the order of their names. It fails with 413 if there
// are more than MaxListed.
func (k *Kind[T]) All(ctx context.Context, db pg.Querier) ([]T, error) {
	return k.list(ctx, db, k.sql.all)
}

func (k *Kind[T]) list(ctx context.Context, db pg.Querier, sql string) ([]T, error) {
	list, err := k.query(ctx, db, sql, tenant.Of(ctx), MaxListed+1)
	if err == nil && len(list) > MaxListed {
		err = fault.TooLarge(fault.CodeItemLimit, fmt.Sprintf("There are more than %d %ss. Name the ones that you need.", MaxListed, k.What))
	}
	return list, err
}

// List returns all resources in the order of their names. With a name it returns a list of one
// resource, or an empty list.
func (k *Kind[T]) List(ctx context.Context, db pg.Querier, name *string) ([]T, error) {
	if name == nil {
		return k.All(ctx, db)
	}
	return k.Find(ctx, db, nil, []string{*name})
}

// FindUnique returns the resources whose unique property has one of the values, in no order.
func (k *Kind[T]) FindUnique(ctx context.Context, db pg.Querier, property string, values []string) ([]T, error) {
	return k.query(ctx, db, k.sql.byUnique, tenant.Of(ctx), property, storable(values))
}

// Get returns the resource with an id, or a fault with the status 404.
func (k *Kind[T]) Get(ctx context.Context, db pg.Querier, id int64) (T, error) {
	resource, _, err := k.getVersion(ctx, db, id)
	return resource, err
}

func (k *Kind[T]) getVersion(ctx context.Context, db pg.Querier, id int64) (resource T, version int64, err error) {
	list, stored, err := k.queryIdentities(ctx, db, k.sql.get, tenant.Of(ctx), id)
	if err != nil {
		return resource, 0, err
	}
	if len(list) == 0 {
		return resource, 0, k.notFound(id)
	}
	return list[0], stored[0].version, nil
}

// GetForUpdate returns the resource with an id, and locks it until the transaction ends: no other
// transaction can change it or store a reference to it.
func (k *Kind[T]) GetForUpdate(ctx context.Context, tx pgx.Tx, id int64) (T, error) {
	if _, err := tx.Exec(ctx, k.sql.lock, tenant.Of(ctx), id); err != nil {
		var zero T
		return zero, fmt.Errorf("%s: lock: %w", k.Table, err)
	}
	return k.Get(ctx, tx, id)
}

// AllForUpdate returns all resources in the order of their names, and locks them until the transaction
// ends.
func (k *Kind[T]) AllForUpdate(ctx context.Context, tx pgx.Tx) ([]T, error) {
	return k.list(ctx, tx, k.sql.all+` FOR NO KEY UPDATE`)
}

// Read returns the resources of references in the order of the references, or all resources if
// there are no references. The id of a reference has priority over its qualifier. The path is the
// position of the references in the request.
func (k *Kind[T]) Read(ctx context.Context, db pg.Querier, path string, refs []*commonv1.Ref) ([]T, error) {
	if len(refs) == 0 {
		return k.All(ctx, db)
	}
	placed := make([]placedRef, len(refs))
	for i, ref := range refs {
		placed[i] = placedRef{path: fmt.Sprintf("%s[%d]", path, i), message: ref.ProtoReflect()}
	}
	ids, names, err := k.split(placed)
	if err != nil {
		return nil, err
	}
	list, err := k.Find(ctx, db, ids, names)
	if err != nil {
		return nil, err
	}
	return k.inOrder(placed, list)
}

// split returns the ids and the names in references. The id of a reference has priority over its
// name.
func (k *Kind[T]) split(refs []placedRef) (ids []int64, names []string, err error) {
	for _, ref := range refs {
		id, name := ref.idAndName()
		switch {
		case id != nil:
			ids = append(ids, *id)
		case name != "":
			names = append(names, name)
		default:
			return nil, nil, fault.Invalid(k.Missing, ref.path+".id is missing.")
		}
	}
	return ids, names, nil
}

// inOrder returns the resource of each reference, or the error for the first unknown one.
func (k *Kind[T]) inOrder(refs []placedRef, list []T) ([]T, error) {
	byID, byName := make(map[int64]T, len(list)), make(map[string]T, len(list))
	for _, resource := range list {
		byID[sentID(resource)] = resource
		byName[strings.ToLower(resource.GetName())] = resource
	}
	out := make([]T, len(refs))
	for i, ref := range refs {
		id, name := ref.idAndName()
		resource, ok := byName[strings.ToLower(name)]
		if id != nil {
			resource, ok = byID[*id]
		}
		if !ok {
			return nil, k.unknownRefError(ref.path, id, name)
		}
		out[i] = resource
	}
	return out, nil
}

func (k *Kind[T]) query(ctx context.Context, db pg.Querier, sql string, args ...any) ([]T, error) {
	list, _, err := k.queryIdentities(ctx, db, sql, args...)
	return list, err
}

func (k *Kind[T]) queryIdentities(ctx context.Context, db pg.Querier, sql string, args ...any) (list []T, identities []identity, err error) {
	rows, err := db.Query(ctx, sql, args...)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: read: %w", k.Table, err)
	}
	var stored identity
	var body []byte
	_, err = pgx.ForEachRow(rows, append(stored.columns(k.guids), &body), func() error {
		resource := k.newMessage()
		if err := proto.Unmarshal(body, resource); err != nil {
			return err
		}
		k.fill(resource, stored)
		list, identities = append(list, resource), append(identities, stored)
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("%s: read: %w", k.Table, err)
	}
	return list, identities, nil
}

// storable omits names with a zero byte: PostgreSQL cannot compare them, and no resource has one.
func storable(names []string) []string {
	out := make([]string, 0, len(names))
	for _, name := range names {
		if !strings.ContainsRune(name, 0) {
			out = append(out, name)
		}
	}
	return out
}
