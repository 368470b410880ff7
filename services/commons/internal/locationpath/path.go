// Package locationpath knows which location a path names on a day.
package locationpath

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/structure"
)

// A path names the location that has it on the day, or had it last before: a
// path keeps naming a location that was moved or renamed, until another
// location takes it. Persons say where they work by paths, and nobody has to
// rewrite persons when a location moves. A path that no location ever had
// names none: it is a text, and becomes a name when a location gets it.

// AtSQL is SQL for the id of the location that a path names on a day, NULL when
// it names none. Its arguments are SQL expressions: of the tenant, a text and a
// date. One index entry is read.
func AtSQL(tenant, path, day string) string {
	return fmt.Sprintf(`(SELECT at.location_id FROM location_path at
		WHERE at.tenant_id = %s AND at.path = %s AND at.from_date <= %s
		ORDER BY at.from_date DESC LIMIT 1)`, tenant, path, day)
}

// PathSQL is SQL for the path of a location on a day, NULL when it is not there
// on that day. Its arguments are SQL expressions: of the tenant, an id and a
// date.
func PathSQL(tenant, id, day string) string {
	return fmt.Sprintf(`(SELECT has.path FROM location_path has
		WHERE has.tenant_id = %s AND has.location_id = %s AND has.from_date <= %[3]s AND has.to_date > %[3]s)`, tenant, id, day)
}

// PathsBelowSQL is SQL for a table with the column path: every path that names,
// on a day, one of some locations or what lies below them on that day. Its
// arguments are SQL expressions: of the tenant, an array of ids and a date. It
// reads the range of each subtree and then, for each place in it, the index
// entries of its paths. The planner cannot know how large a subtree is, and
// takes it for a ninth of the tree. A statement that looks for few paths reads an index
// when it gets them as an argument instead, since then the planner knows how many there are.
//
// The employees whose primary job is at locations $2 or below on the date $3:
//
//	SELECT a.person_id FROM primary_labor_account a
//	WHERE a.tenant_id = $1 AND a.from_date <= $3 AND a.to_date > $3
//	  AND a.organization_path IN (SELECT path FROM <PathsBelowSQL("$1", "$2", "$3")> AS names)
func PathsBelowSQL(tenant, ids, day string) string {
	return fmt.Sprintf(`(SELECT DISTINCT name.path
		FROM location_path top
		JOIN location_path below ON below.tenant_id = %[1]s AND below.lineage >= top.lineage AND below.lineage < top.lineage_end
		     AND below.from_date <= %[3]s AND below.to_date > %[3]s
		JOIN location_path name ON name.tenant_id = %[1]s AND name.location_id = below.location_id AND name.from_date <= %[3]s
		WHERE top.tenant_id = %[1]s AND top.location_id = ANY(%[2]s) AND top.from_date <= %[3]s AND top.to_date > %[3]s
		  AND (name.to_date > %[3]s OR NOT EXISTS (
		       SELECT FROM location_path later WHERE later.tenant_id = %[1]s AND later.path = name.path
		         AND later.from_date > name.from_date AND later.from_date <= %[3]s AND later.location_id <> name.location_id)))`,
		tenant, ids, day)
}

// Resolve returns the ids of the locations that references name on a day, in
// their order. A qualifier is a path; an id wins over it and may be that of a
// location of any day. An unknown location is a fault with the status 400.
func Resolve(ctx context.Context, db pg.Querier, tenantID int64, refs []*commonv1.Ref, day civil.Date) ([]int64, error) {
	return structure.Resolve(refs, func(ids []int64, paths []string) (pgx.Rows, error) {
		return db.Query(ctx, `SELECT id, NULL FROM location WHERE tenant_id = $1 AND id = ANY($2)
			UNION ALL SELECT `+AtSQL("$1", "asked.path", "$4")+`, asked.path
			FROM (SELECT DISTINCT unnest($3::text[]) AS path) AS asked`, tenantID, ids, paths, day)
	}, func(ref *commonv1.Ref) error {
		return fault.Invalid(structure.CodeUnknown, fmt.Sprintf("There is no location with %s on %s.", structure.Text(ref), day))
	})
}
