// Package location stores locations: the dated tree of places, and of jobs at places. Clients
// write versions of a location, each with its parent. The package computes and stores the
// position of each location in the tree, so that a subtree on any day is one index range.
package location

import (
	"cmp"
	"context"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/locationpath"
	"github.com/rotaloom/rotaloom/services/commons/internal/structure"
)

// Handler serves LocationService.
type Handler struct {
	commonsv1.UnsafeLocationServiceServer

	pool  *pg.Pool
	clock clock.Clock
}

// New returns a Handler.
func New(pool *pg.Pool, clk clock.Clock) *Handler { return &Handler{pool: pool, clock: clk} }

// today returns the default day of requests without a date, in UTC.
func (h *Handler) today(ctx context.Context) civil.Date {
	return civil.FromTime(clock.OfTenant(ctx, h.clock.Now()))
}

// FindLocation returns the location that has a path on a date, or 404.
func (h *Handler) FindLocation(ctx context.Context, req *commonsv1.FindLocationRequest) (*commonsv1.Location, error) {
	if err := structure.CheckContext("context", req.GetContext()); err != nil {
		return nil, err
	}
	if req.GetPath() == "" {
		return nil, structure.Missing("path")
	}
	day, err := structure.Day("date", req.GetDate())
	if err != nil {
		return nil, err
	}
	ids, err := locationpath.Resolve(ctx, h.pool, []*commonv1.Ref{{Qualifier: &req.Path}}, day)
	if fault.HasCode(err, structure.CodeUnknown) {
		return nil, fault.NotFound(structure.CodeUnknown, fault.FromError(err).Message)
	}
	if err != nil {
		return nil, err
	}
	return on(ctx, h.pool, ids[0], day)
}

// GetLocation returns a location on a date.
func (h *Handler) GetLocation(ctx context.Context, req *commonsv1.GetLocationRequest) (*commonsv1.Location, error) {
	if req.GetContext() != "" {
		if err := structure.CheckContext("context", req.GetContext()); err != nil {
			return nil, err
		}
	}
	day, err := structure.DayOr("date", req.GetDate(), h.today(ctx))
	if err != nil {
		return nil, err
	}
	return on(ctx, h.pool, req.GetId(), day)
}

// CreateLocation stores a new location.
func (h *Handler) CreateLocation(ctx context.Context, given *commonsv1.Location) (*commonsv1.LocationList, error) {
	return h.write(ctx, []*commonsv1.Location{given}, false, create)
}

// MultiCreateLocations stores new locations in the order of the request, so that a location
// can be the parent of a later one. Without partial success, one error fails the whole
// request; with it, the other items are still created.
func (h *Handler) MultiCreateLocations(ctx context.Context, req *commonsv1.WriteLocationsRequest) (*commonsv1.LocationList, error) {
	return h.write(ctx, req.GetBody().GetLocations(), req.GetPartialSuccess(), create)
}

// MultiUpdateLocations changes the sent properties of locations, on some of their days, or on
// all of them if the item has no dates. Without partial success, one error fails the whole
// request; with it, the other items are still changed.
func (h *Handler) MultiUpdateLocations(ctx context.Context, req *commonsv1.WriteLocationsRequest) (*commonsv1.LocationList, error) {
	return h.write(ctx, req.GetBody().GetLocations(), req.GetPartialSuccess(), update)
}

// writer writes the sent properties of a location and returns the location on the first day
// that changed.
type writer func(ctx context.Context, tx pgx.Tx, given *commonsv1.Location) (*commonsv1.Location, error)

func (h *Handler) write(ctx context.Context, given []*commonsv1.Location, partial bool, one writer) (*commonsv1.LocationList, error) {
	if len(given) == 0 {
		return nil, structure.Missing("A location")
	}
	var outcome *bulk.Outcome[*commonsv1.Location, *commonsv1.Location]
	err := pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		err := lock(ctx, tx)
		if err != nil {
			return err
		}
		outcome, err = bulk.Run(given, partial, func(_ int, item *commonsv1.Location) (*commonsv1.Location, error) {
			if !partial {
				return one(ctx, tx, item)
			}
			var written *commonsv1.Location
			err := pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) (err error) {
				written, err = one(ctx, tx, item)
				return err
			})
			return written, err
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	done, failure, err := rpc.BulkResult(ctx, outcome)
	return &commonsv1.LocationList{Locations: done, Failure: failure}, err
}

// MoveLocations moves locations with their subtrees below another parent, from a date on.
// Earlier days stay as they were.
func (h *Handler) MoveLocations(ctx context.Context, req *commonsv1.MoveLocationsRequest) (*commonsv1.LocationList, error) {
	where, do := req.GetMove().GetWhere(), req.GetMove().GetDo()
	refs, err := structure.OneOrMore("move.where.source", where.GetSourceRef(), where.GetSourceRefs())
	if err != nil {
		return nil, err
	}
	days, err := structure.Span("move.do", do.GetStartDate(), cmp.Or(do.GetEndDate(), civil.Forever.String()))
	if err != nil {
		return nil, err
	}
	out := &commonsv1.LocationList{}
	err = h.inTree(ctx, "move.do.destinationRef", do.GetDestinationRef(), refs, days.From, func(ctx context.Context, tx pgx.Tx, ids []int64, parent *int64) error {
		out.Locations = nil
		for _, id := range ids {
			moved, err := change(ctx, tx, id, days, true, func(v version) version {
				v.parentID, v.updatedAt = parent, nil
				return v
			})
			if err != nil {
				return err
			}
			out.Locations = append(out.Locations, moved)
		}
		return nil
	})
	return out, err
}

// inTree runs fn in a transaction that holds the lock of the tree. fn receives the ids of the
// locations and of their new parent, which is nil without a destination. Both are resolved on
// a day.
func (h *Handler) inTree(ctx context.Context, path string, destination *commonv1.Ref, refs []*commonv1.Ref, day civil.Date,
	fn func(ctx context.Context, tx pgx.Tx, ids []int64, parent *int64) error,
) error {
	return pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := lock(ctx, tx); err != nil {
			return err
		}
		parent, err := optional(ctx, tx, path, destination, day)
		if err != nil {
			return err
		}
		ids, err := locationpath.Resolve(ctx, tx, refs, day)
		if err != nil {
			return err
		}
		return fn(ctx, tx, ids, parent)
	})
}

// MultiDeleteLocations ends locations on a date, or deletes them with all their days. All
// deletions succeed or none. The deepest locations go first, so that a request may name a
// location and its descendants.
func (h *Handler) MultiDeleteLocations(ctx context.Context, req *commonsv1.MultiDeleteLocationsRequest) (*emptypb.Empty, error) {
	refs, err := structure.Refs("where.nodes", req.GetWhere().GetNodes())
	if err != nil {
		return nil, err
	}
	day, err := structure.DayOr("where.forDate", req.GetWhere().GetForDate(), civil.Beginning)
	if err != nil {
		return nil, err
	}
	names := day
	if req.GetWhere().GetForDate() == "" {
		names = h.today(ctx)
	}
	return &emptypb.Empty{}, pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := lock(ctx, tx); err != nil {
			return err
		}
		ids, err := locationpath.Resolve(ctx, tx, refs, names)
		if err != nil {
			return err
		}
		if ids, err = pg.Collect(ctx, tx, pgx.RowTo[int64], `SELECT location_id FROM location_path WHERE tenant_id = $1 AND location_id = ANY($2)
			GROUP BY location_id ORDER BY max(depth) DESC, location_id`, tenant.Of(ctx), ids); err != nil {
			return err
		}
		for _, id := range ids {
			if err := end(ctx, tx, id, day); err != nil {
				return err
			}
		}
		return nil
	})
}
