package namedstore

import (
	"context"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// Versioned is a resource whose message carries the version that its sender read.
type Versioned interface {
	Named
	GetVersion() int64
}

// Resource serves the operations that all resources of setup have: list, read,
// create, replace and delete. The tenant is the one of the context.
type Resource[T Versioned] struct {
	Store *Store[T]
	Pool  *pg.Pool
	// Prepare checks a copy of what was sent, an empty one when nothing was, and returns it
	// as it is stored.
	Prepare func(resource T) (T, error)
	// Show completes resources as callers read them, with what is stored elsewhere. It may be
	// nil.
	Show func(ctx context.Context, resources ...T) error
	// Within checks a resource against others, in the transaction that stores it; id
	// is 0 for a new one. It may be nil.
	Within func(ctx context.Context, tx pgx.Tx, tenantID, id int64, resource T) error
	// Stored stores what else belongs to a resource, in the same transaction, under the
	// id that it has. It may be nil.
	Stored func(ctx context.Context, tx pgx.Tx, tenantID int64, given, stored T) error
	// Unused returns an error when something refers to the resource that is to be
	// deleted, which is locked. It may be nil.
	Unused func(ctx context.Context, tx pgx.Tx, tenantID int64, resource T) error
}

// List returns all resources by name, or the one with an id or a name, if there is
// such a one. The id wins.
func (r *Resource[T]) List(ctx context.Context, id *int64, name *string) ([]T, error) {
	tenantID := tenant.Of(ctx)
	var list []T
	var err error
	if id != nil {
		list, err = r.Store.Find(ctx, r.Pool, tenantID, []int64{*id}, nil)
	} else {
		list, err = r.Store.List(ctx, r.Pool, tenantID, name)
	}
	if err == nil && r.Show != nil {
		err = r.Show(ctx, list...)
	}
	return list, err
}

// Get returns the resource with an id, or 404.
func (r *Resource[T]) Get(ctx context.Context, id int64) (T, error) {
	out, err := r.Store.Get(ctx, r.Pool, tenant.Of(ctx), id)
	if err == nil && r.Show != nil {
		err = r.Show(ctx, out)
	}
	return out, err
}

func (r *Resource[T]) prepare(given T) (T, error) {
	if !given.ProtoReflect().IsValid() {
		return r.Prepare(newResource[T]())
	}
	return r.Prepare(proto.CloneOf(given))
}

// Create stores a new resource. An id and a version in it are ignored.
func (r *Resource[T]) Create(ctx context.Context, given T) (T, error) {
	var out T
	tenantID := tenant.Of(ctx)
	err := pg.InTx(ctx, r.Pool, func(ctx context.Context, tx pgx.Tx) error {
		var taken, err error
		if out, taken, err = r.insertIn(ctx, tx, tenantID, given); err != nil {
			return err
		}
		return taken
	})
	return out, err
}

// insertIn stores a new resource within a transaction. Taken says that its name is that
// of another one.
func (r *Resource[T]) insertIn(ctx context.Context, tx pgx.Tx, tenantID int64, given T) (out T, taken, err error) {
	resource, err := r.prepare(given)
	if err != nil {
		return out, nil, err
	}
	if err := r.within(ctx, tx, tenantID, 0, resource); err != nil {
		return out, nil, err
	}
	stored, errs, err := r.Store.Insert(ctx, tx, tenantID, []T{resource})
	if err != nil {
		return out, nil, err
	}
	if errs[0] != nil {
		return out, errs[0], nil
	}
	return stored[0], nil, r.stored(ctx, tx, tenantID, given, stored[0])
}

// Update replaces the resource with an id. An id in the body must be the same one; a
// version must be the one that is stored.
func (r *Resource[T]) Update(ctx context.Context, id int64, given T) (T, error) {
	var out T
	tenantID := tenant.Of(ctx)
	err := pg.InTx(ctx, r.Pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		out, err = r.updateIn(ctx, tx, tenantID, id, given)
		return err
	})
	return out, err
}

// updateIn is Update within a transaction.
func (r *Resource[T]) updateIn(ctx context.Context, tx pgx.Tx, tenantID, id int64, given T) (out T, err error) {
	resource, err := r.prepare(given)
	if err != nil {
		return out, err
	}
	if inBody := given.GetId(); inBody != 0 {
		if err := r.Store.kind.CheckID(id, &inBody); err != nil {
			return out, err
		}
	}
	var version *int64
	if v := given.GetVersion(); v != 0 {
		version = &v
	}
	if err := r.within(ctx, tx, tenantID, id, resource); err != nil {
		return out, err
	}
	if out, err = r.Store.ReplaceIn(ctx, tx, tenantID, id, resource, version); err != nil {
		return out, err
	}
	return out, r.stored(ctx, tx, tenantID, given, out)
}

func (r *Resource[T]) within(ctx context.Context, tx pgx.Tx, tenantID, id int64, resource T) error {
	if r.Within == nil {
		return nil
	}
	return r.Within(ctx, tx, tenantID, id, resource)
}

func (r *Resource[T]) stored(ctx context.Context, tx pgx.Tx, tenantID int64, given, stored T) error {
	if r.Stored == nil {
		return nil
	}
	return r.Stored(ctx, tx, tenantID, given, stored)
}

// Delete removes the resource with an id, or returns 404. With a version, the resource
// must still have it.
func (r *Resource[T]) Delete(ctx context.Context, id int64, version *int64) (*emptypb.Empty, error) {
	tenantID := tenant.Of(ctx)
	err := pg.InTx(ctx, r.Pool, func(ctx context.Context, tx pgx.Tx) error {
		if r.Unused != nil {
			resource, err := r.Store.GetForUpdate(ctx, tx, tenantID, id)
			if err != nil {
				return err
			}
			if err := r.Unused(ctx, tx, tenantID, resource); err != nil {
				return err
			}
		}
		_, err := r.Store.DeleteIn(ctx, tx, tenantID, id, version)
		return err
	})
	return &emptypb.Empty{}, err
}
