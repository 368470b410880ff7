package setup

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

// CreateMany stores new resources. With partial it stores the valid ones; otherwise it stores all
// or none. It returns the results of [rpc.BulkResult].
func (r *Resource[T]) CreateMany(ctx context.Context, list []T, partial bool) ([]T, *commonv1.ErrorBody, error) {
	return r.runMany(ctx, list, partial, func() storeItem[T] { return r.insert })
}

// UpdateMany replaces resources, which it finds by their ids, or without an id by their names. With
// partial it stores the valid ones; otherwise it stores all or none. It returns the same results as
// CreateMany. Two items of one request cannot replace the same resource: the second one is an
// error.
func (r *Resource[T]) UpdateMany(ctx context.Context, list []T, partial bool) ([]T, *commonv1.ErrorBody, error) {
	return r.runMany(ctx, list, partial, func() storeItem[T] {
		replaced := map[int64]bool{}
		return func(ctx context.Context, tx pgx.Tx, path string, sent T) (T, error) {
			id, err := r.Kind.find(ctx, tx, sent)
			switch {
			case err != nil:
				return sent, err
			case id == 0:
				return sent, r.Kind.unknownItem(path, sent)
			case replaced[id]:
				return sent, fault.Invalid(r.Kind.Invalid, fmt.Sprintf("%s: the %s %d is replaced already by an earlier one.", path, r.Kind.What, id))
			}
			out, _, err := r.replace(ctx, tx, path, id, sent)
			replaced[id] = replaced[id] || err == nil
			return out, err
		}
	})
}

// UpsertMany replaces the resources that it finds by their ids, or without an id by their names,
// and creates the ones whose names are new. With partial it stores the valid ones; otherwise it
// stores all or none. It returns the same results as CreateMany.
func (r *Resource[T]) UpsertMany(ctx context.Context, list []T, partial bool) ([]T, *commonv1.ErrorBody, error) {
	return r.runMany(ctx, list, partial, func() storeItem[T] { return r.upsert })
}

func (r *Resource[T]) upsert(ctx context.Context, tx pgx.Tx, path string, sent T) (T, error) {
	// A concurrent creation of the same name ends before Insert returns nameTaken; the second
	// attempt then replaces it.
	for attempt := 0; ; attempt++ {
		id, err := r.Kind.find(ctx, tx, sent)
		if err != nil {
			return sent, err
		}
		switch {
		case id != 0:
			out, _, err := r.replace(ctx, tx, path, id, sent)
			return out, err
		case sentID(sent) != 0:
			return sent, r.Kind.unknownItem(path, sent)
		}
		out, err := r.insert(ctx, tx, path, sent)
		if taken := (nameTaken{}); attempt > 0 || !errors.As(err, &taken) {
			return out, err
		}
	}
}

// DeleteMany removes either all resources of references or none. The path is the position of the
// references in the request.
func (r *Resource[T]) DeleteMany(ctx context.Context, path string, refs []*commonv1.Ref) (*emptypb.Empty, error) {
	if len(refs) == 0 {
		return &emptypb.Empty{}, nil
	}
	list, err := r.Kind.Read(ctx, r.Pool, path, refs)
	if err != nil {
		return nil, err
	}
	if r.BeforeDelete != nil {
		for _, resource := range list {
			if err := r.BeforeDelete(ctx, resource); err != nil {
				return nil, err
			}
		}
	}
	err = pg.InTx(ctx, r.Pool, func(ctx context.Context, tx pgx.Tx) error {
		deleted := map[int64]bool{}
		for _, resource := range list {
			if deleted[sentID(resource)] {
				continue
			}
			deleted[sentID(resource)] = true
			if err := r.delete(ctx, tx, sentID(resource), nil); err != nil {
				return err
			}
		}
		return nil
	})
	return &emptypb.Empty{}, err
}

// Read returns the resources of references in the order of the references, or all resources if
// there are no references.
func (r *Resource[T]) Read(ctx context.Context, path string, refs []*commonv1.Ref) ([]T, error) {
	list, err := r.Kind.Read(ctx, r.Pool, path, refs)
	if err != nil {
		return nil, err
	}
	return list, r.show(ctx, list...)
}

// ReadUnique returns the resources whose unique property has the values, in the order of the values. The
// path is the position of the values in the request.
func (r *Resource[T]) ReadUnique(ctx context.Context, path, property string, values []string) ([]T, error) {
	found, err := r.Kind.FindUnique(ctx, r.Pool, property, values)
	if err != nil {
		return nil, err
	}
	field := r.Kind.newMessage().ProtoReflect().Descriptor().Fields().ByName(protoreflect.Name(property))
	byValue := make(map[string]T, len(found))
	for _, resource := range found {
		byValue[resource.ProtoReflect().Get(field).String()] = resource
	}
	out := make([]T, len(values))
	for i, value := range values {
		resource, ok := byValue[value]
		if !ok {
			return nil, fault.Invalid(r.Kind.Unknown, fmt.Sprintf("The %s with the %s %.100q (%s[%d]) does not exist.", r.Kind.What, field.JSONName(), value, path, i))
		}
		out[i] = resource
	}
	return out, r.show(ctx, out...)
}

// storeItem stores the item at a path of a request.
type storeItem[T Message] func(ctx context.Context, tx pgx.Tx, path string, sent T) (T, error)

// runMany stores the items of a request in one transaction. With partial each item has a
// savepoint. The transaction may run several times, each time with a new storeItem.
func (r *Resource[T]) runMany(ctx context.Context, list []T, partial bool, newStore func() storeItem[T]) ([]T, *commonv1.ErrorBody, error) {
	if !partial { // An invalid item fails the request before anything is stored.
		if err := r.validateMany(list); err != nil {
			return nil, nil, err
		}
	}
	var outcome *bulk.Outcome[T, T]
	err := pg.InTx(ctx, r.Pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		store := newStore()
		outcome, err = bulk.Run(list, partial, func(i int, sent T) (out T, err error) {
			if !partial {
				return store(ctx, tx, r.itemPath(i), sent)
			}
			err = pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error {
				out, err = store(ctx, tx, r.itemPath(i), sent)
				return err
			})
			return out, err
		})
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if err := r.afterCommit(ctx, list...); err != nil {
		return nil, nil, err
	}
	return rpc.BulkResult(ctx, outcome)
}

// validateMany returns the faults of all items, as far as they need no stored data.
func (r *Resource[T]) validateMany(list []T) error {
	var errs []error
	for i, sent := range list {
		if _, err := r.Validate(r.itemPath(i), sent); err != nil {
			errs = append(errs, err)
		}
		if len(errs) == fault.MaxViolations {
			break
		}
	}
	return fault.Join(errs...)
}

// itemPath returns the position of an item in a bulk request.
func (r *Resource[T]) itemPath(i int) string { return fmt.Sprintf("%ss[%d]", r.Kind.Path, i) }

// find returns the id of the stored resource that an item matches, or 0 if there is none.
func (k *Kind[T]) find(ctx context.Context, tx pgx.Tx, sent T) (int64, error) {
	var ids []int64
	names := []string{sent.GetName()}
	if id := sentID(sent); id != 0 {
		ids, names = []int64{id}, nil
	}
	list, err := k.Find(ctx, tx, ids, names)
	if err != nil || len(list) == 0 {
		return 0, err
	}
	return sentID(list[0]), nil
}

// unknownItem returns the error for an item that no stored resource matches.
func (k *Kind[T]) unknownItem(path string, sent T) error {
	id := sentID(sent)
	switch {
	case id != 0:
		return k.unknownRefError(path, &id, "")
	case strings.TrimSpace(sent.GetName()) == "":
		return fault.Invalid(k.Missing, path+" needs an id or a name.")
	}
	return k.unknownRefError(path, nil, sent.GetName())
}
