package location

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/cursor"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/structure"
)

// maxLocations limits the locations of a response, or of a page.
var maxLocations = policy.RangeMax[*commonsv1.MultiReadLocationsRequest]("count")

// page is a part of a response. The zero page stands for the whole response.
type page struct {
	index, count int64
	// cursor is the page by cursor, or nil for a page by index.
	cursor *cursor.Query[position]
}

// position is the place of a location in the order of pages by cursor.
type position struct {
	ID int64
	// From is the first day of the version.
	From civil.Date
}

// parsePage reads the page of a request.
func parsePage(req *commonsv1.MultiReadLocationsRequest, q question) (p page, err error) {
	p = page{index: req.GetIndex(), count: req.GetCount()}
	if p.cursor, err = cursor.Read[position](req, "index"); err != nil {
		return p, err
	}
	if p.cursor != nil && p.count == 0 {
		p.count = int64(maxLocations)
	}
	if req.Count == nil && p.index != 0 {
		return p, fault.Invalid(fault.CodeValue, "index needs count, the number of locations in a page.")
	}
	return p, fault.AtMostOne(fault.CodeValue, "The request", "count or after and stopTraversal", p.count > 0, q.stop != nil)
}

// rest returns the condition for the locations after the previous page, and its arguments.
func (p page) rest(args []any) (string, []any) {
	if p.cursor == nil || p.cursor.After == nil {
		return "", args
	}
	return fmt.Sprintf(" AND (p.location_id, v.from_date) > ($%d, $%d)", len(args)+1, len(args)+2), append(args, p.cursor.After.ID, p.cursor.After.From.Clamp())
}

// cut cuts off the location that belongs to the next page, and returns the cursor of that page.
func (p page) cut(list []found, q question) ([]found, string) {
	if p.cursor == nil {
		return list, ""
	}
	return cursor.Cut(p.cursor, list, int(p.count), func(f found) position {
		if q.days.Days() > 1 {
			return position{f.GetNodeId(), f.from}
		}
		// On one day, a location has one version, and a change may give it another first day.
		return position{f.GetNodeId(), civil.Forever}
	})
}

// MultiReadLocations returns locations by exactly one criterion, ordered by path and then by
// date. A criterion for a span returns every version that applies on one of its days, with
// the last path that the version has within the span.
func (h *Handler) MultiReadLocations(ctx context.Context, req *commonsv1.MultiReadLocationsRequest) (*commonsv1.LocationList, error) {
	q, err := h.read(ctx, req.GetWhere())
	if err != nil {
		return nil, err
	}
	since, err := structure.Since(req.GetMultiReadOptions())
	if err != nil {
		return nil, err
	}
	part, err := parsePage(req, q)
	if err != nil {
		return nil, err
	}
	var list []found
	err = pg.InSnapshot(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		q := q // selectAncestors changes q.
		list, err = find(ctx, tx, q, since, part)
		return err
	})
	if err != nil {
		return nil, err
	}
	list, next := part.cut(list, q)
	if part.cursor != nil {
		if err := rpc.SetNextPage(ctx, next); err != nil {
			return nil, err
		}
	}
	out := &commonsv1.LocationList{Locations: make([]*commonsv1.Location, 0, len(list))}
	for _, f := range list {
		if req.GetMultiReadOptions().GetIncludeOrgPathDetails() {
			f.OrgPathHierarchy = hierarchy(f)
		}
		out.Locations = append(out.Locations, f.Location)
	}
	return out, nil
}

// onlyLast keeps only the last place of each version in the range, so that pages contain each
// version once.
const onlyLast = ` AND NOT EXISTS (SELECT FROM location_path later WHERE later.tenant_id = $1 AND later.location_id = p.location_id
	AND later.from_date > p.from_date AND later.from_date < least(v.to_date, $3))`

// find returns the locations that match q, or a page of them. It returns 413 if they exceed
// the limit of a response.
func find(ctx context.Context, db pg.Querier, q question, since *time.Time, part page) ([]found, error) {
	if q.kind == ancestors || q.kind == parent {
		if err := q.selectAncestors(ctx, db); err != nil {
			return nil, err
		}
	}
	where, args := q.sql(tenant.Of(ctx), since)
	distinct, order, limit, skipped := "", "p.path, v.from_date, p.from_date", int64(maxLocations+1), int64(0)
	if part.count > 0 {
		// DISTINCT returns each location once, even if subtrees overlap.
		distinct, where, limit, skipped = "DISTINCT ", where+onlyLast, part.count, part.index*part.count
	}
	if part.cursor != nil {
		var rest string
		rest, args = part.rest(args)
		// l.id is p.location_id. DISTINCT orders by returned columns only.
		where, order, limit = where+rest, "l.id, v.from_date", part.count+1
	}
	list, err := pg.Collect(ctx, db, scan, fmt.Sprintf(`SELECT %s%s%s ORDER BY %s LIMIT %d OFFSET %d`, distinct, columns, where, order, limit, skipped), args...)
	if err != nil {
		return nil, fmt.Errorf("read locations: %w", err)
	}
	if part.count == 0 && len(list) > maxLocations {
		var actual int
		if err := db.QueryRow(ctx, `SELECT count(*)`+where, args...).Scan(&actual); err != nil {
			return nil, err
		}
		return nil, fault.OverLimit(structure.CodeTooMany, http.StatusRequestEntityTooLarge, "locations in the response", actual, maxLocations, "Ask for pages, by after and count.")
	}
	return q.withoutStopped(lastPaths(list)), nil
}

// selectAncestors turns a question for the ancestors of locations into a question for those
// ancestors by id.
func (q *question) selectAncestors(ctx context.Context, db pg.Querier) error {
	lineages, err := pg.Collect(ctx, db, pgx.RowTo[string], `SELECT lineage FROM location_path
		WHERE tenant_id = $1 AND location_id = ANY($2) AND from_date < $4 AND to_date > $3`,
		tenant.Of(ctx), q.ids, q.days.From, q.days.To)
	if err != nil {
		return err
	}
	if len(lineages) == 0 {
		return errNotOnDate(q.ids[0], q.days.From)
	}
	above := ids(lineages[0])
	above = above[:len(above)-1]
	if q.kind == parent && len(above) > 1 {
		above = above[len(above)-1:]
	}
	q.kind, q.ids = listed, above
	return nil
}

// sql returns the FROM and WHERE of a question and its arguments.
func (q *question) sql(tenantID int64, since *time.Time) (string, []any) {
	types := q.types
	if q.stop != nil {
		types = nil // Stop locations need not be of the returned types.
	}
	args := []any{tenantID, q.days.From, q.days.To, types, since}
	from, condition, arg := q.source()
	if arg != nil {
		args = append(args, arg)
	}
	return from + joins + ` WHERE p.tenant_id = $1 AND p.from_date < $3 AND p.to_date > $2
		AND v.from_date < $3 AND v.to_date > $2 AND ($4::bigint[] IS NULL OR v.type_id = ANY($4))
		AND ($5::timestamptz IS NULL OR v.updated_at >= $5) AND ` + condition, args
}

// source returns the FROM clause for the places p of a question, their condition, and its
// argument $6.
func (q *question) source() (from, condition string, arg any) {
	const places = ` FROM location_path p`
	const subtrees = ` FROM location_path above JOIN location_path p ON p.tenant_id = $1 AND p.lineage < above.lineage_end`
	const same = ` AND above.tenant_id = $1 AND above.from_date < $3 AND above.to_date > $2
		AND p.from_date < above.to_date AND p.to_date > above.from_date`
	switch q.kind {
	case byName:
		return places, `v.name_key >= lower($6) AND v.name_key < lower($6) || U&'\+10FFFF'`, q.text
	case byPath:
		return places, `p.path = $6`, q.text
	case top:
		return places, `v.parent_id IS NULL`, nil
	case every:
		return places, "TRUE", nil
	case descendants:
		return subtrees, `p.lineage > above.lineage AND above.location_id = ANY($6)` + same, q.ids
	case children:
		return places, `v.parent_id = ANY($6)`, q.ids
	case ofSet:
		return places, `p.location_id IN (SELECT location_id FROM location_set_location WHERE tenant_id = $1 AND set_id = ANY($6))`, q.ids
	case belowSet:
		return subtrees, `p.lineage >= above.lineage AND above.location_id IN
			(SELECT location_id FROM location_set_location WHERE tenant_id = $1 AND set_id = ANY($6))` + same, q.ids
	default:
		return places, `p.location_id = ANY($6)`, q.ids
	}
}

// lastPaths keeps only one row of each version, with its last path.
func lastPaths(list []found) []found {
	type key struct {
		id   int64
		from string
	}
	at := make(map[key]int, len(list))
	out := list[:0]
	for _, f := range list {
		k := key{f.GetNodeId(), f.EffectiveDate}
		if i, ok := at[k]; ok {
			if out[i].pathFrom.Before(f.pathFrom) {
				out[i] = f
			}
			continue
		}
		at[k] = len(out)
		out = append(out, f)
	}
	return out
}

// withoutStopped removes the descendants of locations of the stop types, and locations that are not
// of the requested types.
func (q *question) withoutStopped(list []found) []found {
	if q.stop == nil {
		return list
	}
	stops := map[int64]bool{}
	for _, f := range list {
		if slices.Contains(q.stop, f.GetOrgNodeTypeRef().GetId()) {
			stops[f.GetNodeId()] = true
		}
	}
	return slices.DeleteFunc(list, func(f found) bool {
		line := ids(f.lineage)
		below := slices.ContainsFunc(line[:len(line)-1], func(id int64) bool { return stops[id] })
		return below || q.types != nil && !slices.Contains(q.types, f.GetOrgNodeTypeRef().GetId())
	})
}

// ids returns the ids in a lineage, from the top down.
func ids(lineage string) []int64 {
	var out []int64
	for _, text := range strings.Split(strings.Trim(lineage, "."), ".") {
		if id, err := strconv.ParseInt(text, 10, 64); err == nil {
			out = append(out, id)
		}
	}
	return out
}

// hierarchy returns the locations of a lineage, with the names in the path.
func hierarchy(f found) []*commonv1.Ref {
	var out []*commonv1.Ref
	end := 0
	for _, id := range ids(f.lineage) {
		if next := strings.IndexByte(f.OrgPath[end:], '/'); next >= 0 {
			end += next
		} else {
			end = len(f.OrgPath)
		}
		path := f.OrgPath[:end]
		out = append(out, newRef(&id, &path))
		end = min(end+1, len(f.OrgPath))
	}
	return out
}

// setID returns the id of the set that a reference names. If several sets have the same name,
// it returns the oldest.
func setID(ctx context.Context, db pg.Querier, ref *commonv1.Ref) (id int64, err error) {
	tenantID := tenant.Of(ctx)
	if ref.Id != nil {
		err = db.QueryRow(ctx, `SELECT id FROM location_set WHERE tenant_id = $1 AND id = $2`, tenantID, ref.GetId()).Scan(&id)
	} else {
		err = db.QueryRow(ctx, `SELECT id FROM location_set WHERE tenant_id = $1 AND name = $2 ORDER BY id LIMIT 1`,
			tenantID, ref.GetQualifier()).Scan(&id)
	}
	if errors.Is(err, pgx.ErrNoRows) {
		err = fault.Invalid(structure.CodeUnknown, fmt.Sprintf("There is no location set with %s.", structure.Text(ref)))
	}
	return id, err
}
