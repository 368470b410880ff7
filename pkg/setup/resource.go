package setup

import (
	"cmp"
	"context"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/rpc"
)

// Resource serves the operations of a kind. All functions may be nil. Operations take the
// tenant from the context.
type Resource[T Message] struct {
	Kind *Kind[T]
	Pool *pg.Pool
	// Prepare checks a copy of a resource, whose name is valid, and returns the resource to
	// store. The path is its position in the request.
	Prepare func(path string, resource T) (T, error)
	// Check compares a resource with stored data, in the transaction that stores it. The id is 0
	// for a new resource. References have been resolved.
	Check func(ctx context.Context, tx pgx.Tx, id int64, resource T) error
	// AfterStore stores related data in the same transaction, and may complete the stored
	// resource. The sent resource is as the caller sent it.
	AfterStore func(ctx context.Context, tx pgx.Tx, sent, stored T) error
	// AfterCommit runs after the transaction that stores resources, with all sent resources of a request, some of which
	// may have failed. Resources with GUIDs do not use it.
	AfterCommit func(ctx context.Context, sent ...T) error
	// Show completes resources for callers with data that is stored elsewhere.
	Show func(ctx context.Context, resources ...T) error
	// BeforeDelete asks other services whether they use a resource. It runs before the
	// transaction that deletes the resource.
	BeforeDelete func(ctx context.Context, resource T) error
	// AfterDelete stores related data in the transaction that deletes a resource. The version is the
	// version of the deletion.
	AfterDelete func(ctx context.Context, tx pgx.Tx, deleted T, version int64) error
	// CheckUnused returns an error if other data of this service uses a locked resource, so that it
	// cannot be deleted. References between setup resources are checked separately.
	CheckUnused func(ctx context.Context, tx pgx.Tx, resource T) error
}

// List returns all resources in the order of their names. With an id or a name it returns a list of
// one resource, or an empty list. The id has priority.
func (r *Resource[T]) List(ctx context.Context, id *int64, name *string) (list []T, err error) {
	if id != nil {
		list, err = r.Kind.Find(ctx, r.Pool, []int64{*id}, nil)
	} else {
		list, err = r.Kind.List(ctx, r.Pool, name)
	}
	if err != nil {
		return nil, err
	}
	return list, r.show(ctx, list...)
}

// Get returns the resource with an id, or a fault with the status 404.
func (r *Resource[T]) Get(ctx context.Context, id int64) (T, error) {
	out, version, err := r.Kind.getVersion(ctx, r.Pool, id)
	if err != nil {
		return out, err
	}
	if err := r.show(ctx, out); err != nil {
		return out, err
	}
	return out, r.reportVersion(ctx, version)
}

// show completes resources for callers.
func (r *Resource[T]) show(ctx context.Context, list ...T) error {
	if err := r.Kind.SetNames(ctx, r.Pool, list...); err != nil || r.Show == nil {
		return err
	}
	return r.Show(ctx, list...)
}

// reportVersion tells the edge the version of a resource whose message has no such property.
func (r *Resource[T]) reportVersion(ctx context.Context, version int64) error {
	if r.Kind.version != nil {
		return nil
	}
	return rpc.SetVersion(ctx, version)
}

// Create stores a new resource. An id and a version in it are ignored.
func (r *Resource[T]) Create(ctx context.Context, sent T) (out T, err error) {
	err = pg.InTx(ctx, r.Pool, func(ctx context.Context, tx pgx.Tx) error {
		out, err = r.insert(ctx, tx, r.Kind.Path, sent)
		return err
	})
	if err != nil {
		return out, err
	}
	if err := r.afterCommit(ctx, sent); err != nil {
		return out, err
	}
	return out, r.reportVersion(ctx, firstVersion)
}

// Update replaces the resource with an id. An id in the body must be equal, and a version in the body
// must be the stored one.
func (r *Resource[T]) Update(ctx context.Context, id int64, sent T) (out T, err error) {
	var version int64
	err = pg.InTx(ctx, r.Pool, func(ctx context.Context, tx pgx.Tx) error {
		if inBody := sentID(sent); inBody != 0 {
			if err := r.Kind.CheckID(id, &inBody); err != nil {
				return err
			}
		}
		out, version, err = r.replace(ctx, tx, r.Kind.Path, id, sent)
		return err
	})
	if err != nil {
		return out, err
	}
	if err := r.afterCommit(ctx, sent); err != nil {
		return out, err
	}
	return out, r.reportVersion(ctx, version)
}

// Delete removes the resource with an id, or returns a fault with the status 404. With a version,
// the stored resource must have it.
func (r *Resource[T]) Delete(ctx context.Context, id int64, version *int64) (*emptypb.Empty, error) {
	if err := r.askBeforeDelete(ctx, id); err != nil {
		return nil, err
	}
	err := pg.InTx(ctx, r.Pool, func(ctx context.Context, tx pgx.Tx) error {
		return r.delete(ctx, tx, id, version)
	})
	return &emptypb.Empty{}, err
}

func (r *Resource[T]) askBeforeDelete(ctx context.Context, id int64) error {
	if r.BeforeDelete == nil {
		return nil
	}
	resource, err := r.Kind.Get(ctx, r.Pool, id)
	if err != nil {
		return err
	}
	return r.BeforeDelete(ctx, resource)
}

func (r *Resource[T]) delete(ctx context.Context, tx pgx.Tx, id int64, version *int64) error {
	resource, err := r.Kind.GetForUpdate(ctx, tx, id)
	if err != nil {
		return err
	}
	if r.CheckUnused != nil {
		if err := r.CheckUnused(ctx, tx, resource); err != nil {
			return err
		}
	}
	now, err := r.Kind.delete(ctx, tx, id, resource, version)
	if err != nil || r.AfterDelete == nil {
		return err
	}
	return r.AfterDelete(ctx, tx, resource, now)
}

// insert stores a new resource within a transaction.
func (r *Resource[T]) insert(ctx context.Context, tx pgx.Tx, path string, sent T) (out T, err error) {
	resource, err := r.prepare(ctx, tx, path, 0, sent)
	if err != nil {
		return out, err
	}
	if out, err = r.Kind.Insert(ctx, tx, resource); err != nil {
		return out, err
	}
	return out, r.afterStore(ctx, tx, sent, out)
}

// replace stores a resource in place of the one with the id, within a transaction.
func (r *Resource[T]) replace(ctx context.Context, tx pgx.Tx, path string, id int64, sent T) (out T, version int64, err error) {
	read, err := r.Kind.sentVersion(path, sent)
	if err != nil {
		return out, 0, err
	}
	resource, err := r.prepare(ctx, tx, path, id, sent)
	if err != nil {
		return out, 0, err
	}
	if out, version, err = r.Kind.Replace(ctx, tx, id, resource, read); err != nil {
		return out, 0, err
	}
	return out, version, r.afterStore(ctx, tx, sent, out)
}

// Validate checks a resource without regard to stored data, and returns a copy with the defaults of
// omitted properties. The path is its position in the request.
func (r *Resource[T]) Validate(path string, sent T) (T, error) {
	resource := r.Kind.newMessage()
	if sent.ProtoReflect().IsValid() {
		resource = proto.CloneOf(sent)
	}
	err := r.Kind.checkName(path, resource)
	if r.Prepare != nil {
		var invalid error
		resource, invalid = r.Prepare(path, resource)
		err = fault.Join(err, invalid)
	}
	if path == r.Kind.Path { // The resource is the whole body.
		err = fault.MovePaths(err, path+".", "")
	}
	return resource, err
}

// prepare checks a resource and returns its stored form.
func (r *Resource[T]) prepare(ctx context.Context, tx pgx.Tx, path string, id int64, sent T) (resource T, err error) {
	if resource, err = r.Validate(path, sent); err != nil {
		return resource, err
	}
	if path == r.Kind.Path { // The only resource of its request.
		path = ""
	}
	if err := r.Kind.resolveReferences(ctx, tx, path, resource); err != nil {
		return resource, err
	}
	if r.Check != nil {
		err = r.Check(ctx, tx, id, resource)
	}
	return resource, err
}

// checkName checks the name of a resource. If the message has a qualifier, the qualifier may supply
// the name, and must not differ from it.
func (k *Kind[T]) checkName(path string, resource T) error {
	if k.qualifier == nil {
		return k.CheckName(path, resource.GetName())
	}
	m := resource.ProtoReflect()
	qualifier := m.Get(k.qualifier).String()
	name := cmp.Or(resource.GetName(), qualifier)
	if err := k.CheckName(path, name); err != nil {
		return err
	}
	if qualifier != "" && qualifier != name {
		return fault.Invalid(k.Invalid, "qualifier must be the same as name.")
	}
	m.Set(k.name, protoreflect.ValueOfString(name))
	return nil
}

func (r *Resource[T]) afterStore(ctx context.Context, tx pgx.Tx, sent, stored T) error {
	if r.AfterStore == nil {
		return nil
	}
	return r.AfterStore(ctx, tx, sent, stored)
}

func (r *Resource[T]) afterCommit(ctx context.Context, sent ...T) error {
	if r.AfterCommit == nil {
		return nil
	}
	return r.AfterCommit(ctx, sent...)
}
