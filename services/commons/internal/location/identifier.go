package location

import (
	"context"
	"fmt"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/structure"
)

// MultiReadLocationExternalIds returns the locations that have external ids on a date, in the
// order of the request.
func (h *Handler) MultiReadLocationExternalIds(ctx context.Context, req *commonsv1.MultiReadLocationExternalIdsRequest) (*commonsv1.LocationExternalIdMappings, error) {
	if req.GetWhere().GetContext() != "" {
		if err := structure.CheckContext("where.context", req.GetWhere().GetContext()); err != nil {
			return nil, err
		}
	}
	day, err := structure.Day("where.date", req.GetWhere().GetDate())
	if err != nil {
		return nil, err
	}
	asked := req.GetWhere().GetExternalPaths()
	if len(asked) == 0 {
		return nil, structure.Missing("where.externalPaths")
	}
	for i, path := range asked {
		if path.GetExternalId() == "" {
			return nil, structure.Missing(fmt.Sprintf("where.externalPaths[%d].externalId", i))
		}
	}
	refs, err := byExternalPath(ctx, h.pool, asked, day)
	if err != nil {
		return nil, err
	}
	out := &bulk.Outcome[*commonsv1.LocationExternalIdMapping, *commonsv1.LocationExternalIdMapping]{}
	for i, path := range asked {
		mapping := &commonsv1.LocationExternalIdMapping{ExternalId: path.GetExternalId(), LocalPath: path.GetLocalPath(), LocationRef: refs[i]}
		if mapping.LocationRef == nil {
			below := ""
			if path.GetLocalPath() != "" {
				below = fmt.Sprintf(" with %.200q below it", path.GetLocalPath())
			}
			out.Fail(mapping, fault.Invalid(structure.CodeUnknown, fmt.Sprintf("There is no location with the external id %.200q%s on %s.", path.GetExternalId(), below, day)))
		} else {
			out.Succeed(mapping, mapping)
		}
	}
	done, failure, err := rpc.BulkResult(ctx, out)
	return &commonsv1.LocationExternalIdMappings{Mappings: done, Failure: failure}, err
}

// byExternalPath returns the locations of external paths, with nil for a path without a
// location.
func byExternalPath(ctx context.Context, db pg.Querier, asked []*commonsv1.LocationExternalPath, day civil.Date) ([]*commonv1.Ref, error) {
	externalIDs, below := make([]string, len(asked)), make([]string, len(asked))
	for i, path := range asked {
		externalIDs[i] = path.GetExternalId()
		if local := strings.Trim(path.GetLocalPath(), "/"); local != "" {
			below[i] = "/" + local
		}
	}
	// The oldest comes last, so it overwrites the others.
	out := make([]*commonv1.Ref, len(asked))
	var at int
	var id int64
	var path string
	err := pg.ForEach(ctx, db, []any{&at, &id, &path}, func() error {
		out[at] = &commonv1.Ref{Id: new(id), Qualifier: new(path)}
		return nil
	}, `SELECT (q.at - 1)::int, d.location_id, d.path
		FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS q (external_id, below, at)
		JOIN location_version v ON v.tenant_id = $1 AND v.external_id = q.external_id AND v.external_id IS NOT NULL
		 AND v.from_date <= $4 AND v.to_date > $4
		JOIN location_path p ON p.tenant_id = $1 AND p.location_id = v.location_id AND p.from_date <= $4 AND p.to_date > $4
		JOIN location_path d ON d.tenant_id = $1 AND d.path = p.path || q.below AND d.from_date <= $4 AND d.to_date > $4
		ORDER BY v.location_id DESC`, tenant.Of(ctx), externalIDs, below, day)
	return out, err
}

// MultiReadLocationPersistentIds returns the ids of locations by their
// persistent ids.
func (h *Handler) MultiReadLocationPersistentIds(ctx context.Context, req *commonsv1.MultiReadLocationPersistentIdsRequest) (*commonsv1.PersistentIdMappings, error) {
	if req.GetWhere().GetContext() != "" {
		if err := structure.CheckContext("where.context", req.GetWhere().GetContext()); err != nil {
			return nil, err
		}
	}
	return structure.PersistentIDs(ctx, h.pool, "location", req.GetWhere().GetPersistentIds(), structure.CodeUnknown)
}
