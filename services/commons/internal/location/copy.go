package location

import (
	"cmp"
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/structure"
	"github.com/rotaloom/rotaloom/services/commons/internal/timeline"
)

// copied limits the locations that one request copies.
var copied = policy.FindLimit[*commonsv1.LocationCopy]("locations, with those below them")

// CopyLocations copies locations with their subtrees below another parent. All copies succeed
// or none. The copies have the properties of the originals on the start date. They get new
// ids, and no external ids, because other systems know the originals by them.
func (h *Handler) CopyLocations(ctx context.Context, req *commonsv1.CopyLocationsRequest) (*commonsv1.LocationList, error) {
	where, do := req.GetCopy().GetWhere(), req.GetCopy().GetDo()
	refs, err := structure.OneOrMore("copy.where.source", where.GetSourceRef(), where.GetSourceRefs())
	if err != nil {
		return nil, err
	}
	days, err := structure.Span("copy.do", do.GetStartDate(), cmp.Or(do.GetEndDate(), civil.Forever.String()))
	if err != nil {
		return nil, err
	}
	days = days.Clamp()
	if do.Name != nil {
		if len(refs) > 1 {
			return nil, structure.Invalid("copy.do.name", "belongs to a copy of one location")
		}
		if err := check(&commonsv1.Location{Name: do.Name}); err != nil {
			return nil, err
		}
	}
	out := &commonsv1.LocationList{}
	err = h.inTree(ctx, "copy.do.destinationRef", do.GetDestinationRef(), refs, days.From, func(ctx context.Context, tx pgx.Tx, ids []int64, parent *int64) error {
		out.Locations = nil
		// Read all subtrees before the first write, because a copy may go below its original.
		trees, err := subtrees(ctx, tx, ids, days.From)
		if err != nil {
			return err
		}
		for _, tree := range trees {
			copied, err := insertSubtree(ctx, tx, tree, parent, do.Name, days)
			if err != nil {
				return err
			}
			out.Locations = append(out.Locations, copied)
		}
		return nil
	})
	return out, err
}

// original is a location to copy, with its properties on a day.
type original struct {
	id int64
	version
}

// subtrees returns each location with its descendants on a day, parents first.
func subtrees(ctx context.Context, tx pgx.Tx, ids []int64, day civil.Date) ([][]original, error) {
	tenantID := tenant.Of(ctx)
	var out [][]original
	total := 0
	for _, id := range ids {
		tree, err := pg.Collect(ctx, tx, func(row pgx.CollectableRow) (original, error) {
			o := original{version: version{body: &commonsv1.Location{}}}
			var body []byte
			err := row.Scan(&o.id, &o.parentID, &o.typeID, &o.jobID, &o.name, &body)
			if err == nil {
				err = proto.Unmarshal(body, o.body)
			}
			return o, err
		}, `SELECT p.location_id, v.parent_id, v.type_id, v.job_id, v.name, v.body
			FROM location_path above
			JOIN location_path p ON p.tenant_id = $1 AND p.lineage >= above.lineage AND p.lineage < above.lineage_end
			  AND p.from_date <= $3 AND p.to_date > $3
			JOIN location_version v ON v.tenant_id = $1 AND v.location_id = p.location_id AND v.from_date <= $3 AND v.to_date > $3
			WHERE above.tenant_id = $1 AND above.location_id = $2 AND above.from_date <= $3 AND above.to_date > $3
			ORDER BY p.depth, p.lineage LIMIT $4`, tenantID, id, day, copied.Max()-total+1)
		if err != nil {
			return nil, fmt.Errorf("read locations to copy: %w", err)
		}
		if len(tree) == 0 {
			return nil, errNotOnDate(id, day)
		}
		total += len(tree)
		if err := copied.Check(total); err != nil {
			return nil, err
		}
		out = append(out, tree)
	}
	return out, nil
}

// insertSubtree stores copies of a subtree below a parent for some days. It returns the copy
// of the root, which can get another name.
func insertSubtree(ctx context.Context, tx pgx.Tx, tree []original, parent *int64, name *string, days civil.Range) (*commonsv1.Location, error) {
	copies := make(map[int64]*int64, len(tree))
	for i, o := range tree {
		id, err := insert(ctx, tx, "")
		if err != nil {
			return nil, err
		}
		copies[o.id] = &id
		if i > 0 {
			parent = copies[*o.parentID]
		} else if name != nil {
			o.name = *name
		}
		o.parentID = parent
		if err := replace(ctx, tx, id, []timeline.Interval[version]{{Days: days, Value: o.version}}); err != nil {
			return nil, err
		}
		if err := updatePaths(ctx, tx, id, days); err != nil {
			return nil, err
		}
	}
	return on(ctx, tx, *copies[tree[0].id], days.From)
}
