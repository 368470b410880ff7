package location

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

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

// MultiReadLocationExternalIds returns the locations that have external ids on a
// date, in the order asked for.
func (h *Handler) MultiReadLocationExternalIds(ctx context.Context, req *commonsv1.MultiReadLocationExternalIdsRequest) (*commonsv1.LocationExternalIdMappings, error) {
	tenantID, err := tenant.Of(ctx)
	if err != nil {
		return nil, err
	}
	if req.GetWhere().GetContext() != "" {
		if err := checkContext("where.context", req.GetWhere().GetContext()); err != nil {
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
	refs, err := byExternalPath(ctx, h.pool, tenantID, asked, day)
	if err != nil {
		return nil, err
	}
	out := &bulk.Outcome[*commonsv1.LocationExternalIdMapping, *commonsv1.LocationExternalIdMapping]{}
	for _, path := range asked {
		mapping := &commonsv1.LocationExternalIdMapping{ExternalPath: path, LocationRef: refs[path]}
		if mapping.LocationRef == nil {
			out.Fail(mapping, fault.Invalid(structure.CodeUnknown, fmt.Sprintf("There is no location with the external path %q on %s.", path, day)))
		} else {
			out.Succeed(mapping, mapping)
		}
	}
	done, failure, err := rpc.Settled(ctx, out)
	return &commonsv1.LocationExternalIdMappings{Mappings: done, Failure: failure}, err
}

// byExternalPath returns locations by their external paths: each ends with the
// external ids of the locations from one above it down to it. When several
// locations have one, the oldest is meant.
func byExternalPath(ctx context.Context, db pg.Querier, tenantID int64, asked []string, day civil.Date) (map[string]*commonv1.Ref, error) {
	// An external id may hold a slash, so that a path may be one external id.
	byEnd := map[string][]string{}
	for _, path := range asked {
		byEnd[path] = append(byEnd[path], path)
		if slash := strings.LastIndexByte(path, '/'); slash >= 0 {
			byEnd[path[slash+1:]] = append(byEnd[path[slash+1:]], path)
		}
	}
	ends := make([]string, 0, len(byEnd))
	for end := range byEnd {
		ends = append(ends, end)
	}
	slices.Sort(ends)
	rows, err := db.Query(ctx, `SELECT v.location_id, v.external_id, p.path,
			(SELECT '/' || string_agg(a.external_id, '/' ORDER BY l.at)
			 FROM unnest(string_to_array(trim(BOTH '.' FROM p.lineage), '.')) WITH ORDINALITY AS l (id, at)
			 JOIN location_version a ON a.tenant_id = $1 AND a.location_id = l.id::bigint
			  AND a.from_date <= $3 AND a.to_date > $3 AND a.external_id IS NOT NULL)
		FROM location_version v
		JOIN location_path p ON p.tenant_id = $1 AND p.location_id = v.location_id AND p.from_date <= $3 AND p.to_date > $3
		WHERE v.tenant_id = $1 AND v.external_id = ANY($2) AND v.external_id IS NOT NULL
		  AND v.from_date <= $3 AND v.to_date > $3 ORDER BY v.location_id DESC`, tenantID, ends, day)
	if err != nil {
		return nil, err
	}
	out := map[string]*commonv1.Ref{}
	var id int64
	var externalID, path, externalPath string
	_, err = pgx.ForEachRow(rows, []any{&id, &externalID, &path, &externalPath}, func() error {
		for _, given := range byEnd[externalID] {
			if strings.HasSuffix(externalPath, "/"+given) {
				out[given] = &commonv1.Ref{Id: new(id), Qualifier: new(path)}
			}
		}
		return nil
	})
	return out, err
}

// MultiReadLocationPersistentIds returns the ids of locations by their
// persistent ids.
func (h *Handler) MultiReadLocationPersistentIds(ctx context.Context, req *commonsv1.MultiReadLocationPersistentIdsRequest) (*commonsv1.PersistentIdMappings, error) {
	if req.GetWhere().GetContext() != "" {
		if err := checkContext("where.context", req.GetWhere().GetContext()); err != nil {
			return nil, err
		}
	}
	return structure.PersistentIDs(ctx, h.pool, "location", req.GetWhere().GetPersistentIds(), structure.CodeUnknown)
}
