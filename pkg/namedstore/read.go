package namedstore

import (
	"context"
	"fmt"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

// List returns all resources, or, with a name, the one that has it: a list of one,
// or of none.
func (s *Store[T]) List(ctx context.Context, db pg.Querier, tenantID int64, name *string) ([]T, error) {
	if name == nil {
		return s.All(ctx, db, tenantID)
	}
	return s.Find(ctx, db, tenantID, nil, []string{*name})
}

// Read returns the resources that refs point to, in their order; all of them
// without refs. The id of a ref wins over its qualifier. Path is where the refs
// stand in the request.
func (s *Store[T]) Read(ctx context.Context, db pg.Querier, tenantID int64, path string, refs []*commonv1.Ref) ([]T, error) {
	if len(refs) == 0 {
		return s.All(ctx, db, tenantID)
	}
	var ids []int64
	var names []string
	for i, ref := range refs {
		switch {
		case ref.Id != nil:
			ids = append(ids, ref.GetId())
		case ref.GetQualifier() != "":
			names = append(names, ref.GetQualifier())
		default:
			return nil, fault.Invalid(s.kind.Missing, fmt.Sprintf("%s[%d].id is missing.", path, i))
		}
	}
	list, err := s.Find(ctx, db, tenantID, ids, names)
	if err != nil {
		return nil, err
	}
	return s.inOrder(path, refs, list)
}

func (s *Store[T]) inOrder(path string, refs []*commonv1.Ref, list []T) ([]T, error) {
	byID, byName := make(map[int64]T, len(list)), make(map[string]T, len(list))
	for _, resource := range list {
		byID[resource.GetId()] = resource
		byName[strings.ToLower(resource.GetName())] = resource
	}
	out := make([]T, 0, len(refs))
	for i, ref := range refs {
		resource, ok := byID[ref.GetId()]
		if ref.Id == nil {
			resource, ok = byName[strings.ToLower(ref.GetQualifier())]
		}
		if !ok {
			return nil, s.kind.unknown(fmt.Sprintf("%s[%d]", path, i), ref)
		}
		out = append(out, resource)
	}
	return out, nil
}

// SetNames gives refs that were resolved before the names that their resources have now: as
// qualifier, and as name where they carry one. The tenant is that of the context.
func (s *Store[T]) SetNames(ctx context.Context, db pg.Querier, refs ...*commonv1.Ref) error {
	if len(refs) == 0 {
		return nil
	}
	tenantID := tenant.Of(ctx)
	ids := make([]int64, len(refs))
	for i, ref := range refs {
		ids[i] = ref.GetId()
	}
	resources, err := s.Find(ctx, db, tenantID, ids, nil)
	if err != nil {
		return err
	}
	names := make(map[int64]string, len(resources))
	for _, resource := range resources {
		names[resource.GetId()] = resource.GetName()
	}
	for _, ref := range refs {
		name, ok := names[ref.GetId()]
		if !ok {
			continue
		}
		ref.Qualifier = &name
		if ref.Name != nil {
			ref.Name = &name
		}
	}
	return nil
}
