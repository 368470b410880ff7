package location

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/locationpath"
	"github.com/rotaloom/rotaloom/services/commons/internal/structure"
)

// ResolveLocations returns the locations that paths and ids name on a day, each with its type
// and its job. It leaves out locations that do not exist on the day.
func (h *Handler) ResolveLocations(ctx context.Context, req *commonsv1.ResolveLocationsRequest) (*commonsv1.ResolveLocationsResponse, error) {
	if req.GetOnlyUnknown() {
		unknown, err := locationpath.Unknown(ctx, h.pool, req.GetPaths())
		return &commonsv1.ResolveLocationsResponse{UnknownPaths: unknown}, err
	}
	day, err := structure.Day("day", req.GetDay())
	if err != nil {
		return nil, err
	}
	var out *commonsv1.ResolveLocationsResponse
	err = pg.InSnapshot(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		byPath, err := idsByPath(ctx, tx, req.GetPaths(), day)
		if err != nil {
			return err
		}
		places, err := resolveLocations(ctx, tx, slices.Concat(req.GetIds(), byPath.ids), day)
		if err != nil {
			return err
		}
		out = &commonsv1.ResolveLocationsResponse{}
		for _, id := range req.GetIds() {
			if found := places[id]; found != nil {
				out.Locations = append(out.Locations, found)
			}
		}
		for i, id := range byPath.ids {
			if found := places[id]; found != nil {
				out.Locations = append(out.Locations, &commonsv1.ResolvedLocation{
					AskedPath: byPath.paths[i], Location: found.GetLocation(), Type: found.GetType(), Job: found.GetJob(),
				})
			}
		}
		return nil
	})
	return out, err
}

// pathIDs holds paths and the ids of their locations.
type pathIDs struct {
	paths []string
	ids   []int64
}

func idsByPath(ctx context.Context, db pg.Querier, paths []string, day civil.Date) (p pathIDs, err error) {
	rows, err := db.Query(ctx, `SELECT asked.path, coalesce(`+locationpath.AtSQL("$1", "asked.path", "$3")+`, 0)
		FROM (SELECT DISTINCT unnest($2::text[]) AS path) AS asked`, tenant.Of(ctx), paths, day)
	if err != nil {
		return p, fmt.Errorf("resolve paths: %w", err)
	}
	var path string
	var id int64
	if _, err = pgx.ForEachRow(rows, []any{&path, &id}, func() error {
		if id != 0 {
			p.paths, p.ids = append(p.paths, path), append(p.ids, id)
		}
		return nil
	}); err != nil {
		err = fmt.Errorf("resolve paths: %w", err)
	}
	return p, err
}

// resolveLocations returns the locations by id, with their properties on a day.
func resolveLocations(ctx context.Context, db pg.Querier, ids []int64, day civil.Date) (map[int64]*commonsv1.ResolvedLocation, error) {
	list, err := find(ctx, db, question{kind: listed, ids: ids, days: civil.Through(day, day)}, nil, page{})
	if err != nil {
		return nil, err
	}
	var typeIDs, jobIDs []int64
	for _, f := range list {
		typeIDs, jobIDs = append(typeIDs, f.GetOrgNodeTypeRef().GetId()), append(jobIDs, f.GetGenericJobRef().GetId())
	}
	types, err := typesByID(ctx, db, typeIDs)
	if err != nil {
		return nil, fmt.Errorf("read types of locations: %w", err)
	}
	jobs, err := jobsByID(ctx, db, jobIDs, day)
	if err != nil {
		return nil, fmt.Errorf("read jobs of locations: %w", err)
	}
	out := make(map[int64]*commonsv1.ResolvedLocation, len(list))
	for _, f := range list {
		out[f.GetNodeId()] = &commonsv1.ResolvedLocation{
			Location: f.Location, Type: types[f.GetOrgNodeTypeRef().GetId()], Job: jobs[f.GetGenericJobRef().GetId()],
		}
	}
	return out, nil
}

func typesByID(ctx context.Context, db pg.Querier, ids []int64) (map[int64]*commonsv1.LocationType, error) {
	out := map[int64]*commonsv1.LocationType{}
	var id int64
	var name string
	var order int32
	err := pg.ForEach(ctx, db, []any{&id, &name, &order}, func() error {
		out[id] = &commonsv1.LocationType{Id: new(id), Name: new(name), DisplayOrder: new(order)}
		return nil
	}, `SELECT id, name, display_order FROM location_type WHERE tenant_id = $1 AND id = ANY($2)`, tenant.Of(ctx), ids)
	return out, err
}

func jobsByID(ctx context.Context, db pg.Querier, ids []int64, day civil.Date) (map[int64]*commonsv1.Job, error) {
	out := map[int64]*commonsv1.Job{}
	var id int64
	var name, color, order string
	err := pg.ForEach(ctx, db, []any{&id, &name, &color, &order}, func() error {
		out[id] = &commonsv1.Job{Id: new(id), Name: new(name), Color: new(color), DisplayOrder: new(order)}
		return nil
	}, `SELECT job_id, name, color, display_order FROM job_version
		WHERE tenant_id = $1 AND job_id = ANY($2) AND from_date <= $3 AND to_date > $3`, tenant.Of(ctx), ids, day)
	return out, err
}
