package locationtype

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/locationpath"
	"github.com/rotaloom/rotaloom/services/commons/internal/structure"
)

// ReadTypeOfLocation returns the type of a location on a day, or an empty response if it has
// no type.
func (h *Handler) ReadTypeOfLocation(ctx context.Context, req *commonsv1.ReadTypeOfLocationRequest) (*commonsv1.ReadTypeOfLocationResponse, error) {
	day, err := structure.Day("forLocation.date", req.GetForLocation().GetDate())
	if err != nil {
		return nil, err
	}
	ref := req.GetForLocation().GetLocationRef()
	if err := structure.CheckRef("forLocation.locationRef", ref); err != nil {
		return nil, err
	}
	out := &commonsv1.ReadTypeOfLocationResponse{}
	err = pg.InSnapshot(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		tenantID := tenant.Of(ctx)
		ids, err := locationpath.Resolve(ctx, tx, []*commonv1.Ref{ref}, day)
		if err != nil {
			return err
		}
		var typeID *int64
		err = tx.QueryRow(ctx, `SELECT type_id FROM location_version
			WHERE tenant_id = $1 AND location_id = $2 AND from_date <= $3 AND to_date > $3`, tenantID, ids[0], day).Scan(&typeID)
		if errors.Is(err, pgx.ErrNoRows) {
			return fault.Invalid(structure.CodeNotOnDate, fmt.Sprintf("The location with %s does not exist on %s.", structure.Text(ref), day))
		}
		if err != nil || typeID == nil {
			return err
		}
		rows, err := tx.Query(ctx, `SELECT `+columns+` FROM location_type WHERE tenant_id = $1 AND id = $2`, tenantID, *typeID)
		if err != nil {
			return err
		}
		out.LocationType, err = exactlyOne(rows, scan, *typeID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
