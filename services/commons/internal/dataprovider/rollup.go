package dataprovider

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/locationpath"
)

// maxRolledUp limits the response of RollUpDataRows. It is larger than the limit of
// information access, so that the error can report the excess.
const maxRolledUp = 10_000

// readTypes finds location types by id, persistent id or name.
const readTypes = `SELECT t.id, asked.name FROM unnest($2::text[]) AS asked (name)
JOIN location_type t ON t.tenant_id = $1 AND (t.id::text = asked.name OR t.persistent_id = asked.name OR t.name = asked.name)`

// rollUp returns, for each location, the nearest location of the types: itself or an
// ancestor, or else its descendants. A path contains its ancestors and the range of its
// descendants. OFFSET 0 makes each step an index lookup.
const rollUp = `
SELECT found.id, has.path, asked.first
FROM unnest($2::bigint[]) WITH ORDINALITY AS asked (id, first)
CROSS JOIN LATERAL (SELECT lineage, lineage_end FROM location_path
    WHERE tenant_id = $1 AND location_id = asked.id AND from_date <= $4 AND to_date > $4 OFFSET 0) AS top
LEFT JOIN LATERAL (
    SELECT step.id FROM unnest(string_to_array(trim(BOTH '.' FROM top.lineage), '.')::bigint[]) WITH ORDINALITY AS step (id, depth)
    CROSS JOIN LATERAL (SELECT type_id FROM location_version
        WHERE tenant_id = $1 AND location_id = step.id AND from_date <= $4 AND to_date > $4 OFFSET 0) AS v
    WHERE v.type_id = ANY($3) ORDER BY step.depth DESC LIMIT 1) AS up ON true
CROSS JOIN LATERAL (
    SELECT up.id WHERE up.id IS NOT NULL
    UNION ALL
    SELECT below.location_id FROM (SELECT location_id FROM location_path
        WHERE up.id IS NULL AND tenant_id = $1 AND lineage >= top.lineage AND lineage < top.lineage_end
          AND from_date <= $4 AND to_date > $4 OFFSET 0) AS below
    CROSS JOIN LATERAL (SELECT type_id FROM location_version
        WHERE tenant_id = $1 AND location_id = below.location_id AND from_date <= $4 AND to_date > $4 OFFSET 0) AS v
    WHERE v.type_id = ANY($3)) AS found
CROSS JOIN LATERAL (SELECT path FROM location_path
    WHERE tenant_id = $1 AND location_id = found.id AND from_date <= $4 AND to_date > $4 OFFSET 0) AS has
ORDER BY asked.first, found.id LIMIT $5`

// RollUpDataRows finds the locations of the given types that represent the given locations.
// An unknown type is a fault with the status 400.
func (f *Finder) RollUpDataRows(ctx context.Context, req *datav1.RollUpDataRowsRequest) (*datav1.FindDataRowsResponse, error) {
	day, err := civil.ParseDate(req.GetDay())
	if err != nil {
		return nil, fault.Invalid(fault.CodeDate, "day: "+err.Error()+".")
	}
	types, err := f.types(ctx, req.GetTypes())
	if err != nil {
		return nil, err
	}
	out := &datav1.FindDataRowsResponse{}
	seen := map[int64]bool{}
	var id, first int64
	var path string
	if err := pg.ForEach(ctx, f.pool, []any{&id, &path, &first}, func() error {
		if !seen[id] {
			seen[id] = true
			out.Rows = append(out.Rows, &datav1.DataRow{Id: id, Qualifier: path})
		}
		return nil
	}, rollUp, tenant.Of(ctx), req.GetLocationIds(), types, day, maxRolledUp); err != nil {
		return nil, fmt.Errorf("roll locations up: %w", err)
	}
	return out, nil
}

func (f *Finder) types(ctx context.Context, names []string) ([]int64, error) {
	var ids []int64
	known := map[string]bool{}
	var id int64
	var name string
	if err := pg.ForEach(ctx, f.pool, []any{&id, &name}, func() error {
		ids, known[name] = append(ids, id), true
		return nil
	}, readTypes, tenant.Of(ctx), names); err != nil {
		return nil, fmt.Errorf("look for location types: %w", err)
	}
	for _, name := range names {
		if !known[name] {
			return nil, fault.Invalid(fault.CodeBadRequest, fmt.Sprintf("There is no location type %.100q.", name))
		}
	}
	return ids, nil
}

// scope returns the day and the visible employees of a request.
func (f *Finder) scope(ctx context.Context, text string) (day civil.Date, visible rowvisibility.Set, err error) {
	if day, err = civil.ParseDate(text); err != nil {
		return 0, visible, fault.Invalid(fault.CodeDate, "day: "+err.Error()+".")
	}
	visible, err = f.rules.Visible(ctx)
	return day, visible, err
}

// workplaces returns SQL for the locations of persons' primary jobs.
func workplaces() string {
	return `SELECT DISTINCT place.id, coalesce(` + locationpath.PathSQL("$1", "place.id", "$3::date") + `, '')
		FROM (SELECT ` + locationpath.AtSQL("$1", "a.organization_path", "$3::date") + ` AS id FROM unnest($2::bigint[]) AS asked (id)
			JOIN primary_labor_account a ON a.tenant_id = $1 AND a.person_id = asked.id AND a.from_date <= $3 AND a.to_date > $3) AS place
		WHERE place.id IS NOT NULL ORDER BY 1 LIMIT $4`
}

// FindEmployeeLocations returns the locations of employees' primary jobs. It skips employees
// whom the caller may not see, and paths without a location.
func (f *Finder) FindEmployeeLocations(ctx context.Context, req *datav1.FindEmployeeLocationsRequest) (*datav1.FindDataRowsResponse, error) {
	day, visible, err := f.scope(ctx, req.GetDay())
	if err != nil {
		return nil, err
	}
	seen := slices.DeleteFunc(slices.Clone(req.GetEmployeeIds()), func(id int64) bool { return !visible.Has(id) })
	found, err := f.pool.Query(ctx, workplaces(), tenant.Of(ctx), seen, day, maxRolledUp)
	if err != nil {
		return nil, fmt.Errorf("find the locations of employees: %w", err)
	}
	out := &datav1.FindDataRowsResponse{}
	var id int64
	var path string
	if _, err := pgx.ForEachRow(found, []any{&id, &path}, func() error {
		out.Rows = append(out.Rows, &datav1.DataRow{Id: id, Qualifier: path})
		return nil
	}); err != nil {
		return nil, fmt.Errorf("find the locations of employees: %w", err)
	}
	return out, nil
}

// listEmployees returns SQL for the persons whose primary job a is, on a day on_day.day, at the locations or
// below, with one more condition or "".
// As in countHeads, the array makes the planner look up the paths in the index.
func listEmployees(condition string) string {
	return `SELECT asked.place, on_day.day, who.id FROM unnest($2::bigint[]) WITH ORDINALITY AS asked (id, place)
		CROSS JOIN unnest($3::date[]) AS on_day (day)
		CROSS JOIN LATERAL (SELECT DISTINCT a.person_id AS id FROM primary_labor_account a
			WHERE a.tenant_id = $1 AND a.from_date <= on_day.day AND a.to_date > on_day.day
			  AND a.organization_path = ANY(ARRAY(SELECT path FROM ` + locationpath.PathsBelowSQL("$1", "ARRAY[asked.id]", "on_day.day") + ` AS names))` + condition + `) AS who
		ORDER BY 1, 2, 3`
}

// maxListed limits the response of ListLocationEmployees.
const maxListed = 100_000

// ListLocationEmployees returns the ids of the visible persons whose primary job is at the
// locations or below, in ascending order. Callers compute sums from it, but a sum over one
// person reveals that person's value.
func (f *Finder) ListLocationEmployees(ctx context.Context, req *datav1.ListLocationEmployeesRequest) (*datav1.ListLocationEmployeesResponse, error) {
	day, visible, err := f.scope(ctx, req.GetDay())
	if err != nil {
		return nil, err
	}
	found, err := f.pool.Query(ctx, listEmployees(""), tenant.Of(ctx), req.GetLocationIds(), []civil.Date{day})
	if err != nil {
		return nil, fmt.Errorf("list the employees of locations: %w", err)
	}
	out := &datav1.ListLocationEmployeesResponse{}
	for range req.GetLocationIds() {
		out.Locations = append(out.Locations, &datav1.LocationEmployees{})
	}
	limit := min(req.GetMost(), maxListed)
	var place, id int64
	if _, err := pgx.ForEachRow(found, []any{&place, &day, &id}, func() error {
		if !visible.Has(id) {
			return nil
		}
		if out.Total++; out.Total <= limit {
			at := out.Locations[place-1]
			at.EmployeeIds = append(at.EmployeeIds, id)
		}
		return nil
	}); err != nil {
		return nil, fmt.Errorf("list the employees of locations: %w", err)
	}
	if out.Total > limit {
		out.Locations = nil
	}
	return out, nil
}
