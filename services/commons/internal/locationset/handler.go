// Package locationset stores named groups of locations.
package locationset

import (
	"context"
	"fmt"
	"net/http"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/precondition"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/locationpath"
	"github.com/rotaloom/rotaloom/services/commons/internal/structure"
)

// Handler serves LocationSetService.
type Handler struct {
	commonsv1.UnsafeLocationSetServiceServer

	pool  *pg.Pool
	clock clock.Clock
}

// New returns a Handler.
func New(pool *pg.Pool, clk clock.Clock) *Handler { return &Handler{pool: pool, clock: clk} }

// today returns the default day of requests without a date, in UTC.
func (h *Handler) today(ctx context.Context) civil.Date {
	return civil.FromTime(clock.OfTenant(ctx, h.clock.Now()))
}

// types returns the kinds of sets, by id.
func types() []string {
	return []string{1: "MANAGER_GROUP", 2: "MANAGER_TRANSFER_GROUP", 3: "EMPLOYEE_TRANSFER_GROUP", 4: "EMPLOYEE_MGR_TRANSFER_GROUP"}
}

func checkType(id int32) error {
	if id < 1 || int(id) >= len(types()) {
		return structure.Invalid("typeId", "must be from 1 to %d", len(types())-1)
	}
	return nil
}

// CreateLocationSet stores a new set. The paths of its locations are resolved on a date.
func (h *Handler) CreateLocationSet(ctx context.Context, req *commonsv1.CreateLocationSetRequest) (*commonsv1.LocationSet, error) {
	given := req.GetLocationSet()
	if given.Id != nil {
		return nil, fault.Invalid(structure.CodeIDGiven, "id must not be sent with a new location set.")
	}
	if given.TypeId == nil {
		return nil, structure.Missing("typeId")
	}
	day, err := structure.DayOr("date", req.GetDate(), h.today(ctx))
	if err != nil {
		return nil, err
	}
	var created *commonsv1.LocationSet
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		id, err := insert(ctx, tx, &commonsv1.LocationSetChange{
			Name: given.GetName(), TypeId: given.TypeId, Description: &given.Description, IncludeAllEnabled: given.IncludeAllEnabled,
		}, given.GetPersistentId())
		if err != nil {
			return err
		}
		if err := h.change(ctx, tx, id, given.GetNodeRefs(), nil, day); err != nil {
			return err
		}
		created, err = get(ctx, tx, id, day)
		return err
	})
	if err != nil {
		return nil, err
	}
	return created, rpc.SetVersion(ctx, created.GetVersionCount())
}

// change adds locations to a set and removes others.
func (h *Handler) change(ctx context.Context, tx pgx.Tx, id int64, add, remove []*commonv1.Ref, day civil.Date) error {
	tenantID := tenant.Of(ctx)
	for i, refs := range [][]*commonv1.Ref{remove, add} {
		for k, ref := range refs {
			if err := structure.CheckRef(fmt.Sprintf("location %d of the set", k+1), ref); err != nil {
				return err
			}
		}
		ids, err := locationpath.Resolve(ctx, tx, refs, day)
		if err != nil {
			return err
		}
		sql := `DELETE FROM location_set_location WHERE tenant_id = $1 AND set_id = $2 AND location_id = ANY($3)`
		if i == 1 {
			sql = `INSERT INTO location_set_location (tenant_id, set_id, location_id)
				SELECT $1, $2, unnest($3::bigint[]) ON CONFLICT DO NOTHING`
		}
		if _, err := tx.Exec(ctx, sql, tenantID, id, ids); err != nil {
			return err
		}
	}
	var size int
	if err := tx.QueryRow(ctx, `SELECT count(*) FROM location_set_location WHERE tenant_id = $1 AND set_id = $2`, tenantID, id).Scan(&size); err != nil {
		return err
	}
	if size > maxLocations {
		return fault.TooLarge(structure.CodeTooMany, fmt.Sprintf("The set would have %d locations, but at most %d are allowed.", size, maxLocations)).
			WithLimits(int64(size), maxLocations)
	}
	return nil
}

// DeleteLocationSet deletes a set, or returns 404.
func (h *Handler) DeleteLocationSet(ctx context.Context, req *commonsv1.DeleteLocationSetRequest) (*emptypb.Empty, error) {
	tenantID := tenant.Of(ctx)
	err := pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := precondition.CheckRow(ctx, tx, fmt.Sprintf("location set %d", req.GetId()), notFound(req.GetId()),
			`SELECT version FROM location_set WHERE tenant_id = $1 AND id = $2 FOR UPDATE`, tenantID, req.GetId()); err != nil {
			return err
		}
		done, err := tx.Exec(ctx, `DELETE FROM location_set WHERE tenant_id = $1 AND id = $2`, tenantID, req.GetId())
		if err == nil && done.RowsAffected() == 0 {
			err = notFound(req.GetId())
		}
		return err
	})
	return &emptypb.Empty{}, err
}

// MultiDeleteLocationSets deletes sets. All deletions succeed or none.
func (h *Handler) MultiDeleteLocationSets(ctx context.Context, req *commonsv1.MultiDeleteLocationSetsRequest) (*emptypb.Empty, error) {
	refs, err := structure.Refs("where.locationSets", req.GetWhere().GetLocationSets())
	if err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		tenantID := tenant.Of(ctx)
		for _, ref := range refs {
			tag, err := tx.Exec(ctx, `DELETE FROM location_set WHERE tenant_id = $1
				AND (id = $2 OR $2 IS NULL AND name = $3)`, tenantID, ref.Id, ref.GetQualifier())
			if err != nil {
				return err
			}
			if tag.RowsAffected() == 0 {
				return fault.Invalid(structure.CodeUnknown, fmt.Sprintf("There is no location set with %s.", structure.Text(ref)))
			}
		}
		return nil
	})
}

// UpsertLocationSets creates sets and changes existing ones. Each item succeeds or fails
// separately.
func (h *Handler) UpsertLocationSets(ctx context.Context, req *commonsv1.LocationSetChangeList) (*commonsv1.LocationSetList, error) {
	if len(req.GetChanges()) == 0 {
		return nil, structure.Missing("A location set")
	}
	var outcome *bulk.Outcome[*commonsv1.LocationSetChange, *commonsv1.LocationSet]
	err := pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		var err error
		outcome, err = bulk.Run(req.GetChanges(), true, func(_ int, c *commonsv1.LocationSetChange) (*commonsv1.LocationSet, error) {
			var set *commonsv1.LocationSet
			err := pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) (err error) {
				set, err = h.upsert(ctx, tx, c)
				return err
			})
			return set, err
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	done, failure, err := rpc.BulkResult(ctx, outcome)
	return &commonsv1.LocationSetList{LocationSets: done, Failure: failure}, err
}

func (h *Handler) upsert(ctx context.Context, tx pgx.Tx, c *commonsv1.LocationSetChange) (*commonsv1.LocationSet, error) {
	day, err := structure.DayOr("effectiveOnDate", c.GetEffectiveOnDate(), h.today(ctx))
	if err != nil {
		return nil, err
	}
	if c.TypeId == nil {
		return nil, structure.Missing("typeId")
	}
	// The column type is smaller than the type in the request, so check the value before a query
	// uses it.
	if err := check(c); err != nil {
		return nil, err
	}
	id, err := same(ctx, tx, c)
	if err != nil {
		return nil, err
	}
	switch {
	case id != 0:
		err = replace(ctx, tx, id, c)
	case c.Id != nil:
		err = fault.New(structure.CodeUnknown, http.StatusBadRequest, fmt.Sprintf("There is no location set with the id %d.", c.GetId()))
	case len(c.GetAddNodeRefs()) == 0:
		err = structure.Missing("addNodeRefs")
	default:
		id, err = insert(ctx, tx, c, "")
	}
	if err != nil {
		return nil, err
	}
	if err := h.change(ctx, tx, id, c.GetAddNodeRefs(), c.GetRemoveNodeRefs(), day); err != nil {
		return nil, err
	}
	return get(ctx, tx, id, day)
}
