// Package locationtype stores the types of locations.
package locationtype

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/precondition"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/structure"
)

// maxTypes limits the types of a tenant, and so the list of them.
const maxTypes = 1000

// Handler serves LocationTypeService.
type Handler struct {
	commonsv1.UnsafeLocationTypeServiceServer

	pool *pg.Pool
}

// New returns a Handler.
func New(pool *pg.Pool) *Handler { return &Handler{pool: pool} }

const (
	columns = `id, name, nullif(description, ''), display_order, persistent_id, from_date, to_date, map_context, hierarchy_order, updated_at`
	inOrder = ` ORDER BY hierarchy_order, display_order, name`
)

// mapContexts are the contexts of a type, indexed by id: both, or one of them.
var mapContexts = []string{"", "ORG", "FORECAST"}

// sentMapContext returns the context in a sent type, or nil if it has none.
func sentMapContext(given *commonsv1.LocationType) (*string, error) {
	ref := given.GetMapContextType()
	at := slices.Index(mapContexts, ref.GetQualifier())
	switch {
	case ref == nil:
		return nil, nil
	case ref.Id != nil:
		at = int(min(uint64(ref.GetId()), uint64(len(mapContexts))))
	}
	if at < 0 || at >= len(mapContexts) {
		return nil, structure.Invalid("mapContextType", "must be ORG or FORECAST")
	}
	return &mapContexts[at], nil
}

func scan(row pgx.CollectableRow) (*commonsv1.LocationType, error) { return scanBeside(row) }

// scanVersion returns a scanner of types that also reads the version, which is the last
// column.
func scanVersion(version *int64) pgx.RowToFunc[*commonsv1.LocationType] {
	return func(row pgx.CollectableRow) (*commonsv1.LocationType, error) { return scanBeside(row, version) }
}

func scanBeside(row pgx.CollectableRow, more ...any) (*commonsv1.LocationType, error) {
	t := &commonsv1.LocationType{
		Id: new(int64), Name: new(string), DisplayOrder: new(int32), HierarchyOrder: new(int32),
		FirstRevision: new(true), LastRevision: new(true), GoldData: new(false),
	}
	var from, to civil.Date
	var mapContext string
	var updated time.Time
	err := row.Scan(append([]any{t.Id, t.Name, &t.Description, t.DisplayOrder, &t.PersistentId, &from, &to, &mapContext, t.HierarchyOrder, &updated}, more...)...)
	t.MapContextType = &commonv1.Ref{Id: new(int64(slices.Index(mapContexts, mapContext))), Qualifier: &mapContext}
	t.UpdatedDateTime = updated.UTC().Format("2006-01-02T15:04:05")
	t.EffectiveDate, t.ExpirationDate = from.String(), to.String()
	return t, err
}

// isInEffect reports whether a type is in effect on one of the days.
func isInEffect(t *commonsv1.LocationType, days civil.Range) bool {
	// Dates in the same format compare as text.
	return t.GetEffectiveDate() < days.To.String() && t.GetExpirationDate() > days.From.String()
}

// ListLocationTypes returns types, filtered by context, by name and by the day on which they
// are in effect. They are ordered by level, and then by display order.
func (h *Handler) ListLocationTypes(ctx context.Context, req *commonsv1.ListLocationTypesRequest) (*commonsv1.LocationTypeList, error) {
	tenantID := tenant.Of(ctx)
	switch req.GetContext() {
	case "", "ORG", "FORECAST":
	default:
		return nil, structure.Invalid("context", "must be ORG or FORECAST")
	}
	days, err := onDay(req.GetDate())
	if err != nil {
		return nil, err
	}
	if err := addJobType(ctx, h.pool); err != nil {
		return nil, err
	}
	list, err := pg.Collect(ctx, h.pool, scan, `SELECT `+columns+` FROM location_type WHERE tenant_id = $1 AND ($3 = '' OR name = $3)
		  AND ($4 = '' OR map_context IN ('', $4)) AND from_date < $6 AND to_date > $5`+inOrder+` LIMIT $2`,
		tenantID, maxTypes, req.GetName(), req.GetContext(), days.From, days.To)
	return &commonsv1.LocationTypeList{LocationTypes: list}, err
}

// onDay reads a day. It returns all days for an empty text.
func onDay(text string) (civil.Range, error) {
	if text == "" {
		return civil.Range{From: civil.Beginning, To: civil.Forever}, nil
	}
	day, err := structure.Day("date", text)
	return civil.Through(day, day), err
}

// GetLocationType returns one type, or 404. If the request has a day and the type is not in
// effect on it, it returns 400.
func (h *Handler) GetLocationType(ctx context.Context, req *commonsv1.GetLocationTypeRequest) (*commonsv1.LocationType, error) {
	tenantID := tenant.Of(ctx)
	rows, err := h.pool.Query(ctx, `SELECT `+columns+`, version FROM location_type WHERE tenant_id = $1 AND id = $2`,
		tenantID, req.GetId())
	if err != nil {
		return nil, err
	}
	var version int64
	t, err := exactlyOne(rows, scanVersion(&version), req.GetId())
	if err == nil {
		err = rpc.SetVersion(ctx, version)
	}
	if err != nil {
		return nil, err
	}
	days, err := onDay(req.GetDate())
	if err == nil && !isInEffect(t, days) {
		err = fault.Invalid(structure.CodeNotOnDate, fmt.Sprintf("The location type with the id %d is not in effect on %s.", req.GetId(), days.From))
	}
	return t, err
}

func exactlyOne(rows pgx.Rows, scan pgx.RowToFunc[*commonsv1.LocationType], id int64) (*commonsv1.LocationType, error) {
	t, err := pgx.CollectExactlyOneRow(rows, scan)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, notFound(id)
	}
	return t, err
}

func notFound(id int64) *fault.Error {
	return fault.NotFound(structure.CodeUnknown, fmt.Sprintf("There is no location type with the id %d.", id))
}

// CreateLocationType stores a new type.
func (h *Handler) CreateLocationType(ctx context.Context, given *commonsv1.LocationType) (*commonsv1.LocationType, error) {
	tenantID := tenant.Of(ctx)
	if given.Id != nil {
		return nil, fault.Invalid(structure.CodeIDGiven, "id must not be sent with a new location type.")
	}
	if given.Name == nil {
		return nil, structure.Missing("name")
	}
	if err := check(given); err != nil {
		return nil, err
	}
	days, err := structure.Days(given.GetEffectiveDate(), given.GetExpirationDate())
	if err != nil {
		return nil, err
	}
	mapContext, err := sentMapContext(given)
	if err != nil {
		return nil, err
	}
	if mapContext == nil {
		mapContext = &mapContexts[0]
	}
	var version int64
	t, err := pg.WriteRow(ctx, h.pool, scanVersion(&version), `INSERT INTO location_type
			(tenant_id, name, description, display_order, persistent_id, from_date, to_date, map_context, hierarchy_order)
		SELECT $1, $2, $3, $4, $5, $7, $8, $9, $10 WHERE (SELECT count(*) FROM location_type WHERE tenant_id = $1) < $6 RETURNING `+columns+`, version`,
		tenantID, given.GetName(), given.GetDescription(), given.GetDisplayOrder(),
		cmp.Or(given.GetPersistentId(), structure.NewPersistentID()), maxTypes, days.From, days.To, mapContext, given.GetHierarchyOrder())
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fault.TooLarge(structure.CodeTooMany, fmt.Sprintf("There are %d location types already, and no more may be.", maxTypes))
	}
	if err != nil {
		return nil, nameTakenError(err, given)
	}
	return t, rpc.SetVersion(ctx, version)
}

// UpdateLocationType changes the sent properties of a type.
func (h *Handler) UpdateLocationType(ctx context.Context, req *commonsv1.UpdateLocationTypeRequest) (*commonsv1.LocationType, error) {
	given := req.GetLocationType()
	if given == nil {
		given = &commonsv1.LocationType{}
	}
	if err := structure.CheckID(req.GetId(), given.Id); err != nil {
		return nil, err
	}
	if err := check(given); err != nil {
		return nil, err
	}
	from, to, err := daysSent(given)
	if err != nil {
		return nil, err
	}
	mapContext, err := sentMapContext(given)
	if err != nil {
		return nil, err
	}
	var version int64
	var t *commonsv1.LocationType
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := checkVersion(ctx, tx, req.GetId()); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `UPDATE location_type SET name = coalesce($3, name), description = coalesce($4, description),
			display_order = coalesce($5, display_order), from_date = coalesce($6, from_date), to_date = coalesce($7, to_date),
			map_context = coalesce($8, map_context), hierarchy_order = coalesce($9, hierarchy_order),
			version = version + 1, updated_at = now()
			WHERE tenant_id = $1 AND id = $2 RETURNING `+columns+`, version`,
			tenant.Of(ctx), req.GetId(), given.Name, given.Description, given.DisplayOrder, from, to, mapContext, given.HierarchyOrder)
		if err == nil {
			t, err = pgx.CollectExactlyOneRow(rows, scanVersion(&version))
		}
		return err
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, notFound(req.GetId())
	case pgerr.IsCheck(err, "location_type_days"):
		return nil, fault.Invalid(structure.CodeExpiry, "expirationDate must be after effectiveDate.")
	case err != nil:
		return nil, nameTakenError(err, given)
	}
	return t, rpc.SetVersion(ctx, version)
}

// checkVersion locks a type, and compares its version with the If-Match header of the
// request.
func checkVersion(ctx context.Context, tx pgx.Tx, id int64) error {
	return precondition.CheckRow(ctx, tx, fmt.Sprintf("location type %d", id), notFound(id),
		`SELECT version FROM location_type WHERE tenant_id = $1 AND id = $2 FOR UPDATE`, tenant.Of(ctx), id)
}

// daysSent returns the dates in the request, each nil if it is missing.
func daysSent(given *commonsv1.LocationType) (from, to *civil.Date, err error) {
	for _, d := range []struct {
		path, text string
		into       **civil.Date
	}{{"effectiveDate", given.GetEffectiveDate(), &from}, {"expirationDate", given.GetExpirationDate(), &to}} {
		if d.text == "" {
			continue
		}
		day, err := structure.Day(d.path, d.text)
		if err != nil {
			return nil, nil, err
		}
		*d.into = &day
	}
	return from, to, nil
}

// DeleteLocationType deletes a type. It returns 404 if the type does not exist, and 400 if a
// location has it on any day.
func (h *Handler) DeleteLocationType(ctx context.Context, req *commonsv1.DeleteLocationTypeRequest) (*emptypb.Empty, error) {
	err := pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := checkVersion(ctx, tx, req.GetId()); err != nil {
			return err
		}
		if err := checkNotJobType(ctx, tx, req.GetId()); err != nil {
			return err
		}
		done, err := tx.Exec(ctx, `DELETE FROM location_type WHERE tenant_id = $1 AND id = $2`, tenant.Of(ctx), req.GetId())
		if err == nil && done.RowsAffected() == 0 {
			err = pgx.ErrNoRows
		}
		return err
	})
	switch {
	case pgerr.IsForeignKey(err, ""):
		return nil, fault.Invalid(structure.CodeInUse, "Locations have this type. Give them another one first.")
	case errors.Is(err, pgx.ErrNoRows):
		return nil, notFound(req.GetId())
	}
	return &emptypb.Empty{}, err
}

func check(given *commonsv1.LocationType) error {
	if given.Name != nil {
		if err := structure.CheckName("name", given.GetName()); err != nil {
			return err
		}
	}
	return nil
}

func nameTakenError(err error, given *commonsv1.LocationType) error {
	if pgerr.IsUnique(err, "location_type_name") {
		return fault.Invalid(structure.CodeTaken, fmt.Sprintf("There is a location type with the name %q already.", given.GetName()))
	}
	if pgerr.IsUnique(err, "location_type_persistent_id") {
		return fault.Invalid(structure.CodeTaken, fmt.Sprintf("Another location type has the persistentId %q.", given.GetPersistentId()))
	}
	return err
}

func unknownTypeError(ref *commonv1.Ref) *fault.Error {
	return fault.Invalid(structure.CodeUnknown, fmt.Sprintf("There is no location type with %s.", structure.Text(ref)))
}

// Resolve returns the ids of the types that references name, in the order of the references.
// An unknown type is a fault with the status 400.
func Resolve(ctx context.Context, db pg.Querier, refs []*commonv1.Ref) ([]int64, error) {
	find, err := typeFinder(ctx, db, refs)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(refs))
	for i, ref := range refs {
		t := find(ref)
		if t == nil {
			return nil, unknownTypeError(ref)
		}
		ids[i] = t.GetId()
	}
	return ids, nil
}

// ResolveOn returns the id of the type that a reference names. A type that is unknown or not
// in effect on the day is a fault with the status 400.
func ResolveOn(ctx context.Context, db pg.Querier, ref *commonv1.Ref, day civil.Date) (int64, error) {
	find, err := typeFinder(ctx, db, []*commonv1.Ref{ref})
	if err != nil {
		return 0, err
	}
	t := find(ref)
	switch {
	case t == nil:
		return 0, unknownTypeError(ref)
	case !isInEffect(t, civil.Through(day, day)):
		return 0, fault.Invalid(structure.CodeNotOnDate, fmt.Sprintf("The location type with %s is not in effect on %s.", structure.Text(ref), day))
	}
	return t.GetId(), nil
}

// typeFinder returns a function that returns the type of one of the references, or nil if it
// does not exist.
func typeFinder(ctx context.Context, db pg.Querier, refs []*commonv1.Ref) (func(*commonv1.Ref) *commonsv1.LocationType, error) {
	ids, names := structure.Split(refs)
	if slices.Contains(names, jobType) {
		if err := addJobType(ctx, db); err != nil {
			return nil, err
		}
	}
	list, err := pg.Collect(ctx, db, scan, `SELECT `+columns+` FROM location_type WHERE tenant_id = $1 AND (id = ANY($2) OR name = ANY($3))`,
		tenant.Of(ctx), ids, names)
	if err != nil {
		return nil, fmt.Errorf("look for location types: %w", err)
	}
	byID, byName := map[int64]*commonsv1.LocationType{}, map[string]*commonsv1.LocationType{}
	for _, t := range list {
		byID[t.GetId()], byName[t.GetName()] = t, t
	}
	return func(ref *commonv1.Ref) *commonsv1.LocationType {
		if ref.Id != nil {
			return byID[ref.GetId()]
		}
		return byName[ref.GetQualifier()]
	}, nil
}
