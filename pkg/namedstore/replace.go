package namedstore

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

// Change is a resource that a caller wants stored in the place of another one.
type Change[T Named] struct {
	New[T]
	// Path is where it stands in the request, for error messages.
	Path string
	// Version is the one that the replaced resource must have; nil for any.
	Version *int64
}

// storedRow is what is stored of a resource beside its body.
type storedRow struct {
	id, version int64
}

// ReplaceMany stores resources in the place of those with their ids, or, without an
// id, with their names, and returns the outcome of each. Without partial either
// all are stored or none, and the first error is returned. A name must be free
// before the change: resources do not swap their names.
func (s *Store[T]) ReplaceMany(ctx context.Context, pool *pg.Pool, tenantID int64, list []Change[T], partial bool) (*bulk.Outcome[T, T], error) {
	for i := range list {
		if list[i].Err != nil && !partial {
			return nil, list[i].Err
		}
	}
	var outcome *bulk.Outcome[T, T]
	err := pg.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
		ids, errs, err := s.targets(ctx, tx, tenantID, list)
		if err != nil {
			return err
		}
		for _, err := range errs {
			if err != nil && !partial {
				return err
			}
		}
		versions, err := s.replaceMany(ctx, tx, tenantID, list, ids, errs)
		if err != nil {
			return err
		}
		outcome = &bulk.Outcome[T, T]{}
		for i, c := range list {
			if errs[i] != nil {
				outcome.Fail(c.Input, fault.FromError(errs[i]))
				continue
			}
			outcome.Succeed(c.Input, s.filled(c.Stored, ids[i], versions[ids[i]]))
		}
		return nil
	})
	return outcome, err
}

// targets locks what is to be replaced, and returns the id of each, or why it
// cannot be.
func (s *Store[T]) targets(ctx context.Context, tx pgx.Tx, tenantID int64, list []Change[T]) ([]int64, []error, error) {
	byID, byName, err := s.lock(ctx, tx, tenantID, list)
	if err != nil {
		return nil, nil, err
	}
	ids, errs := make([]int64, len(list)), make([]error, len(list))
	replaced, named := map[int64]bool{}, map[string]bool{}
	for i, c := range list {
		if errs[i] = c.Err; c.Err != nil {
			continue
		}
		name := strings.ToLower(c.Stored.GetName())
		was, ok := byID[c.Input.GetId()]
		if c.Input.GetId() == 0 {
			was, ok = byName[name]
		}
		holder, taken := byName[name]
		switch {
		case !ok:
			errs[i] = s.kind.unknown(c.Path, refTo(c.Input))
		case replaced[was.id]:
			errs[i] = fault.Invalid(s.kind.Invalid, fmt.Sprintf("%s: the %s %d is replaced already by an earlier one.", c.Path, s.kind.What, was.id))
		case taken && holder.id != was.id, named[name]:
			errs[i] = s.kind.taken(c.Stored.GetName())
		case c.Version != nil && *c.Version != was.version:
			errs[i] = s.kind.stale(ctx, was.id)
		default:
			ids[i], replaced[was.id], named[name] = was.id, true, true
		}
	}
	return ids, errs, nil
}

// lock returns the resources with the ids and names in a list, and keeps others from
// changing them until the transaction ends.
func (s *Store[T]) lock(ctx context.Context, tx pgx.Tx, tenantID int64, list []Change[T]) (byID map[int64]storedRow, byName map[string]storedRow, err error) {
	var ids []int64
	var names []string
	for _, c := range list {
		if c.Err == nil {
			ids, names = append(ids, c.Input.GetId()), append(names, c.Stored.GetName())
		}
	}
	rows, err := tx.Query(ctx, s.lockMany, tenantID, ids, storable(names))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: lock: %w", s.kind.Table, err)
	}
	byID, byName = map[int64]storedRow{}, map[string]storedRow{}
	var h storedRow
	var name string
	if _, err := pgx.ForEachRow(rows, []any{&h.id, &h.version, &name}, func() error {
		byID[h.id], byName[strings.ToLower(name)] = h, h
		return nil
	}); err != nil {
		return nil, nil, fmt.Errorf("%s: lock: %w", s.kind.Table, err)
	}
	return byID, byName, nil
}

// replaceMany writes what has no error, and returns the versions that it has now.
func (s *Store[T]) replaceMany(ctx context.Context, tx pgx.Tx, tenantID int64, list []Change[T], targets []int64, errs []error) (map[int64]int64, error) {
	var ids []int64
	var names []string
	var bodies [][]byte
	for i, c := range list {
		if errs[i] != nil {
			continue
		}
		body, err := s.encode(c.Stored)
		if err != nil {
			return nil, err
		}
		ids, names, bodies = append(ids, targets[i]), append(names, c.Stored.GetName()), append(bodies, body)
	}
	versions := make(map[int64]int64, len(ids))
	rows, err := tx.Query(ctx, s.replaceAll, tenantID, ids, names, bodies)
	if err == nil {
		var id, version int64
		_, err = pgx.ForEachRow(rows, []any{&id, &version}, func() error {
			versions[id] = version
			return nil
		})
	}
	switch {
	case pgerr.IsUnique(err, s.kind.Table+"_name"):
		// Somebody took it since the names were looked at.
		return nil, fault.Conflict(fault.CodeStale, fmt.Sprintf("Another %s has one of the names meanwhile. Read them again.", s.kind.What))
	case err != nil:
		return nil, fmt.Errorf("%s: replace: %w", s.kind.Table, err)
	}
	return versions, nil
}

// refTo names a resource as a request does: by its id, or else by its name.
func refTo[T Named](resource T) *commonv1.Ref {
	if id := resource.GetId(); id != 0 {
		return &commonv1.Ref{Id: proto.Int64(id)}
	}
	return &commonv1.Ref{Qualifier: proto.String(resource.GetName())}
}

// DeleteMany removes the resources that refs point to, all or none. Path is where
// the refs stand in the request; without any nothing is removed.
func (s *Store[T]) DeleteMany(ctx context.Context, pool *pg.Pool, tenantID int64, path string, refs []*commonv1.Ref) error {
	if len(refs) == 0 {
		return nil
	}
	return pg.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
		list, err := s.Read(ctx, tx, tenantID, path, refs)
		if err != nil {
			return err
		}
		ids := make([]int64, len(list))
		for i, resource := range list {
			ids[i] = resource.GetId()
		}
		if _, err := tx.Exec(ctx, s.deleteAll, tenantID, ids); err != nil {
			return fmt.Errorf("%s: delete: %w", s.kind.Table, err)
		}
		return nil
	})
}
