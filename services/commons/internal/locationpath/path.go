// Package locationpath resolves paths to locations on a day.
package locationpath

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/structure"
)

// A path names the location that has it on the day, or the location that had it last before.
// After a location is moved or renamed, its old path keeps naming it until another location
// gets that path. If a change took the path from a location on all days, the path still names
// it on the days before another location gets it. Persons store paths that follow their
// locations, so that they hold the paths of the day; schedules and timecards keep paths as they
// were entered. A path that no location ever had is only a text, and becomes a name when a
// location gets it.

// AtSQL returns SQL for the id of the location that a path names on a day, or NULL if it
// names none. The arguments are SQL expressions for the tenant, a text and a date. The query
// reads one index entry, or two for a former path.
func AtSQL(tenant, path, day string) string {
	return fmt.Sprintf(`coalesce((SELECT at.location_id FROM location_path at
		WHERE at.tenant_id = %[1]s AND at.path = %[2]s AND at.from_date <= %[3]s
		ORDER BY at.from_date DESC LIMIT 1),
		(SELECT former.location_id FROM former_location_path former WHERE former.tenant_id = %[1]s AND former.path = %[2]s))`, tenant, path, day)
}

// NamesSQL returns SQL for a table of the paths that name a location, each with its first day
// and the day after its last, if these days begin before a day. A path names the location up to
// the day on which another location gets the path. The arguments are SQL expressions for the
// tenant, an id and a date. OFFSET makes the planner look up each location, regardless of its
// estimate of their number.
func NamesSQL(tenant, location, before string) string {
	return fmt.Sprintf(`(SELECT had.path, had.from_date, (SELECT coalesce(min(later.from_date), 'infinity') FROM location_path later
			WHERE later.tenant_id = %[1]s AND later.path = had.path AND later.from_date > had.from_date) AS to_date
		FROM location_path had WHERE had.tenant_id = %[1]s AND had.location_id = %[2]s AND had.from_date < %[3]s
		UNION ALL
		SELECT former.path, '-infinity', (SELECT coalesce(min(later.from_date), 'infinity') FROM location_path later
			WHERE later.tenant_id = %[1]s AND later.path = former.path)
		FROM former_location_path former WHERE former.tenant_id = %[1]s AND former.location_id = %[2]s OFFSET 0)`, tenant, location, before)
}

// HoldersSQL returns SQL for a table of the locations that a path names, each with the first day and the
// day after the last one, if these days begin before a day. The arguments are SQL expressions for the
// tenant, a text and a date.
func HoldersSQL(tenant, path, before string) string {
	return fmt.Sprintf(`(SELECT has.location_id, has.from_date, (SELECT coalesce(min(later.from_date), 'infinity') FROM location_path later
			WHERE later.tenant_id = %[1]s AND later.path = %[2]s AND later.from_date > has.from_date) AS to_date
		FROM location_path has WHERE has.tenant_id = %[1]s AND has.path = %[2]s AND has.from_date < %[3]s
		UNION ALL
		SELECT former.location_id, '-infinity', (SELECT coalesce(min(later.from_date), 'infinity') FROM location_path later
			WHERE later.tenant_id = %[1]s AND later.path = %[2]s)
		FROM former_location_path former WHERE former.tenant_id = %[1]s AND former.path = %[2]s OFFSET 0)`, tenant, path, before)
}

// PathSQL returns SQL for the path of a location on a day, or NULL if the location does not
// exist on the day. The arguments are SQL expressions for the tenant, an id and a date.
func PathSQL(tenant, id, day string) string {
	return fmt.Sprintf(`(SELECT has.path FROM location_path has
		WHERE has.tenant_id = %s AND has.location_id = %s AND has.from_date <= %[3]s AND has.to_date > %[3]s)`, tenant, id, day)
}

// PathsBelowSQL returns SQL for a table with the column path: every path that names, on a
// day, one of the given locations or a descendant on that day. The arguments are SQL
// expressions for the tenant, an array of ids and a date. The query reads the range of each
// subtree and then, for each place in it, the index entries of its paths. OFFSET 0 fixes this order:
// without statistics, the planner joins all places with all paths. The planner cannot
// know the size of a subtree, and estimates it as a ninth of the tree. A statement that looks
// for few paths should pass them as an argument: the planner then knows their number and uses
// an index.
//
// The employees whose primary job is at locations $2 or below on the date $3:
//
//	SELECT a.person_id FROM primary_labor_account a
//	WHERE a.tenant_id = $1 AND a.from_date <= $3 AND a.to_date > $3
//	  AND a.organization_path IN (SELECT path FROM <PathsBelowSQL("$1", "$2", "$3")> AS names)
func PathsBelowSQL(tenant, ids, day string) string {
	return fmt.Sprintf(`(SELECT DISTINCT name.path
		FROM (SELECT lineage, lineage_end FROM location_path AS top
		      WHERE tenant_id = %[1]s AND location_id = ANY(%[2]s) AND from_date <= %[3]s AND to_date > %[3]s OFFSET 0) AS subtree
		CROSS JOIN LATERAL (SELECT location_id FROM location_path
		      WHERE tenant_id = %[1]s AND lineage >= subtree.lineage AND lineage < subtree.lineage_end AND from_date <= %[3]s AND to_date > %[3]s OFFSET 0) AS below
		CROSS JOIN LATERAL (SELECT path, from_date, to_date, location_id FROM location_path
		      WHERE tenant_id = %[1]s AND location_id = below.location_id AND from_date <= %[3]s OFFSET 0) AS name
		WHERE name.to_date > %[3]s OR NOT EXISTS (
		       SELECT FROM location_path later WHERE later.tenant_id = %[1]s AND later.path = name.path
		         AND later.from_date > name.from_date AND later.from_date <= %[3]s AND later.location_id <> name.location_id))`,
		tenant, ids, day)
}

// Resolve returns the ids of the locations that references name on a day, in the order of the
// references. A qualifier is a path. An id takes precedence over it, and may be the id of a
// location that exists on other days only. An unknown location is a fault with the status
// 400.
func Resolve(ctx context.Context, db pg.Querier, refs []*commonv1.Ref, day civil.Date) ([]int64, error) {
	return structure.Resolve(refs, func(ids []int64, paths []string) (pgx.Rows, error) {
		return db.Query(ctx, `SELECT id, NULL FROM location WHERE tenant_id = $1 AND id = ANY($2)
			UNION ALL SELECT `+AtSQL("$1", "asked.path", "$4")+`, asked.path
			FROM (SELECT DISTINCT unnest($3::text[]) AS path) AS asked`, tenant.Of(ctx), ids, paths, day)
	}, func(ref *commonv1.Ref) error {
		return fault.Invalid(structure.CodeUnknown, fmt.Sprintf("There is no location with %s on %s.", structure.Text(ref), day))
	})
}

// Unknown returns the paths that no location has or had on any day, in order. It returns nothing for a
// tenant without locations, whose paths are only texts.
func Unknown(ctx context.Context, db pg.Querier, paths []string) ([]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	rows, err := db.Query(ctx, `SELECT asked.path FROM (SELECT DISTINCT unnest($2::text[]) AS path) AS asked
		WHERE EXISTS (SELECT FROM location WHERE tenant_id = $1)
		  AND NOT EXISTS (SELECT FROM location_path has WHERE has.tenant_id = $1 AND has.path = asked.path)
		  AND NOT EXISTS (SELECT FROM former_location_path former WHERE former.tenant_id = $1 AND former.path = asked.path)
		ORDER BY asked.path`, tenant.Of(ctx), paths)
	if err != nil {
		return nil, fmt.Errorf("find unknown paths: %w", err)
	}
	unknown, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("find unknown paths: %w", err)
	}
	return unknown, nil
}
