package dataprovider

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/locationpath"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/record"
)

// Bits for the data that elements of LOCATION need.
const (
	needChildren uint64 = 1 << iota
	needHeads
)

// maxLocationDays is the limit of LOCATION. It equals the limit of information access.
var maxLocationDays = int64(policy.Max[*platformv1.DataFrom]("locations") * (policy.Max[*platformv1.DataFrom]("days") + 1))

// location is a location with the data that was loaded for it.
type location struct {
	id           int64
	persistentID string
	versions     []version
	// children and heads are counts by day, for the last day of each period.
	children map[civil.Date]int64
	heads    map[civil.Date]int64
}

// version holds the properties and the place of a location for a range of days.
type version struct {
	days                         civil.Range
	name, externalID, kind, job  string
	path, parentName, parentPath string
	parentID                     *int64
	depth                        int32
	since, until                 civil.Date
	body                         *commonsv1.Location
}

func (l *location) on(day civil.Date) *version {
	i := slices.IndexFunc(l.versions, func(v version) bool { return v.days.Contains(day) })
	if i < 0 {
		return nil
	}
	return &l.versions[i]
}

func newLocations(pool *pg.Pool, rules *rowvisibility.Rules) *dataelement.Table[location] {
	return &dataelement.Table[location]{
		Name: "LOCATION", Permission: "commons.location.read", Kind: datav1.RowKind_ROW_KIND_LOCATION,
		MaxRowDays: maxLocationDays, LoadPeriods: locationLoader{pool, rules}.load, Entries: locationElements(),
	}
}

// readVersions reads the versions of locations, split where the path changes.
const readVersions = `
SELECT v.location_id, l.persistent_id, greatest(v.from_date, p.from_date), least(v.to_date, p.to_date),
       v.name, coalesce(v.external_id, ''), coalesce(t.name, ''), coalesce(j.name, ''), p.path, coalesce(above.name, ''),
       left(p.path, greatest(0, length(p.path) - length(v.name) - 1)), v.parent_id, p.depth,
       v.from_date, v.to_date, v.body
FROM location_version v
JOIN location l ON l.tenant_id = v.tenant_id AND l.id = v.location_id
JOIN location_path p ON p.tenant_id = v.tenant_id AND p.location_id = v.location_id
     AND p.from_date < least(v.to_date, $4) AND p.to_date > greatest(v.from_date, $3)
LEFT JOIN location_type t ON t.tenant_id = v.tenant_id AND t.id = v.type_id
LEFT JOIN LATERAL (SELECT name FROM job_version WHERE tenant_id = $1 AND job_id = v.job_id ORDER BY from_date DESC LIMIT 1) j ON true
LEFT JOIN LATERAL (SELECT name FROM location_version WHERE tenant_id = $1 AND location_id = v.parent_id
     AND from_date < least(v.to_date, p.to_date) ORDER BY from_date DESC LIMIT 1) above ON true
WHERE v.tenant_id = $1 AND v.location_id = ANY($2) AND v.from_date < $4 AND v.to_date > $3
ORDER BY v.location_id, 3`

// countChildren counts the direct children of locations on days.
const countChildren = `
SELECT v.parent_id, asked.day, count(*) FROM unnest($3::date[]) AS asked (day)
JOIN location_version v ON v.tenant_id = $1 AND v.parent_id = ANY($2) AND v.from_date <= asked.day AND v.to_date > asked.day
GROUP BY 1, 2`

// employedCondition returns the condition that the employment of the person of a primary job a is not terminated
// on a day.
func employedCondition(day string) string {
	return `
		  AND NOT EXISTS (SELECT FROM employment_status e WHERE e.tenant_id = $1 AND e.person_id = a.person_id
			AND e.status = '` + record.StatusTerminated + `' AND e.from_date <= ` + day + ` AND e.to_date > ` + day + `)`
}

// countHeads returns SQL that counts, for each location and day, the employed persons whose primary job is
// there or below. Because of the array, the planner looks up the paths in the index,
// regardless of its estimate of their number. Without the array, it reads all jobs for each
// location.
func countHeads() string {
	return `SELECT asked.id, on_day.day, (SELECT count(DISTINCT a.person_id) FROM primary_labor_account a
		WHERE a.tenant_id = $1 AND a.from_date <= on_day.day AND a.to_date > on_day.day
		  AND a.organization_path = ANY(ARRAY(SELECT path FROM ` + locationpath.PathsBelowSQL("$1", "ARRAY[asked.id]", "on_day.day") + ` AS names))` + employedCondition("on_day.day") + `)
		FROM unnest($2::bigint[]) AS asked (id) CROSS JOIN unnest($3::date[]) AS on_day (day)`
}

// locationLoader reads any number of locations from one snapshot, in one round trip.
type locationLoader struct {
	pool  *pg.Pool
	rules *rowvisibility.Rules
}

// load reads locations on adjacent periods. Counts belong to the last day of each period.
func (l locationLoader) load(ctx context.Context, ids []int64, periods []civil.Range, needs uint64) ([]*location, error) {
	tenantID := tenant.Of(ctx)
	days := civil.Range{From: periods[0].From, To: periods[len(periods)-1].To}
	lasts := make([]civil.Date, len(periods))
	for i, p := range periods {
		lasts[i] = p.To - 1
	}
	found := make(map[int64]*location, len(ids))
	var snapshot pg.Snapshot
	snapshot.Queue(func(read pgx.Rows) error { return scanVersions(read, found) },
		readVersions, tenantID, ids, days.From, days.To)
	if needs&needChildren != 0 {
		snapshot.Queue(counts(found, func(l *location) map[civil.Date]int64 { return l.children }), countChildren, tenantID, ids, lasts)
	}
	if needs&needHeads != 0 {
		visible, err := l.rules.Visible(ctx)
		if err != nil {
			return nil, err
		}
		queueHeads(&snapshot, tenantID, ids, lasts, visible, found)
	}
	if err := snapshot.Read(ctx, l.pool); err != nil {
		return nil, fmt.Errorf("read locations: %w", err)
	}
	out := make([]*location, len(ids))
	for i, id := range ids {
		out[i] = found[id]
	}
	return out, nil
}

// queueHeads queues the query that counts the persons at each location. It does not count
// persons whom the caller may not see: a count of one would reveal them.
func queueHeads(snapshot *pg.Snapshot, tenantID int64, ids []int64, days []civil.Date, visible rowvisibility.Set, found map[int64]*location) {
	if visible.All() {
		snapshot.Queue(counts(found, func(l *location) map[civil.Date]int64 { return l.heads }), countHeads(), tenantID, ids, days)
		return
	}
	snapshot.Queue(func(read pgx.Rows) error {
		var place, person int64
		var day civil.Date
		_, err := pgx.ForEachRow(read, []any{&place, &day, &person}, func() error {
			if l := found[ids[place-1]]; l != nil && visible.Has(person) {
				l.heads[day]++
			}
			return nil
		})
		return err
	}, listEmployees(employedCondition("on_day.day")), tenantID, ids, days)
}

func scanVersions(rows pgx.Rows, found map[int64]*location) error {
	for rows.Next() {
		var id int64
		var persistentID string
		var body []byte
		v := version{body: &commonsv1.Location{}}
		if err := rows.Scan(&id, &persistentID, &v.days.From, &v.days.To, &v.name, &v.externalID, &v.kind, &v.job,
			&v.path, &v.parentName, &v.parentPath, &v.parentID, &v.depth,
			&v.since, &v.until, &body); err != nil {
			return err
		}
		if err := proto.Unmarshal(body, v.body); err != nil {
			return fmt.Errorf("location %d: %w", id, err)
		}
		l := found[id]
		if l == nil {
			l = &location{id: id, persistentID: persistentID, children: map[civil.Date]int64{}, heads: map[civil.Date]int64{}}
			found[id] = l
		}
		l.versions = append(l.versions, v)
	}
	return rows.Err()
}

func counts(found map[int64]*location, place func(*location) map[civil.Date]int64) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		var id, n int64
		var day civil.Date
		_, err := pgx.ForEachRow(rows, []any{&id, &day, &n}, func() error {
			if l := found[id]; l != nil {
				place(l)[day] = n
			}
			return nil
		})
		return err
	}
}
