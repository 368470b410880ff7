package location

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
	"github.com/rotaloom/rotaloom/services/commons/internal/structure"
)

// renamed is a part of the statements below. It lists the paths that a change of a location on the
// days $3 to $4 replaces, of the location and of its descendants. It runs between the change of the
// versions and the update of the paths.
const renamed = `
WITH standing AS MATERIALIZED (` + placement + `
), renamed AS MATERIALIZED (
	SELECT d.location_id, d.path AS was, s.path || substr(d.path, length(top.path) + 1) AS path,
	       greatest(d.from_date, top.from_date, s.from_date) AS from_date, least(d.to_date, top.to_date, s.to_date) AS to_date
	FROM location_path top
	JOIN location_path d ON d.tenant_id = $1 AND d.lineage >= top.lineage AND d.lineage < top.lineage_end
	     AND d.from_date < least(top.to_date, $4) AND d.to_date > greatest(top.from_date, $3)
	JOIN standing s ON s.from_date < least(d.to_date, top.to_date) AND s.to_date > greatest(d.from_date, top.from_date)
	WHERE top.tenant_id = $1 AND top.location_id = $2 AND top.from_date < $4 AND top.to_date > $3 AND s.path <> top.path
)`

// pathReference is a dated column of persons that names a location by its path.
type pathReference struct {
	table, column string
	// others are the other columns of the table, apart from the tenant, the person and the days.
	others string
	// group reports that the column names an employee group: a path has a slash, at its end at least.
	group bool
}

var pathReferences = []pathReference{
	{table: "primary_labor_account", column: "organization_path", others: "labor_category_name, path_criteria"},
	{table: "wage_work_rule", column: "organization_path", others: "hourly_rate, work_rule_name"},
	{table: "person_access_assignment", column: "manager_employee_group_name", group: true, others: `home_hyper_find_query_name,
		manager_transfer_set_name, manager_transfer_set_from, manager_transfer_set_to,
		professional_transfer_set_name, professional_transfer_set_from, professional_transfer_set_to,
		emp_mgr_transfer_set_name, emp_mgr_transfer_set_from, emp_mgr_transfer_set_to,
		manager_employee_group_from, manager_employee_group_to`},
}

// hit returns SQL for the rows of persons with a replaced path, and the new text with its days.
func (r pathReference) hit() string {
	was, path := "m.was", "m.path"
	if r.group {
		was = `ANY(CASE WHEN position('/' IN m.was) > 0 THEN ARRAY[m.was, m.was || '/'] ELSE ARRAY[m.was || '/'] END)`
		path = `m.path || CASE WHEN position('/' IN m.path) = 0 OR right(t.` + r.column + `, 1) = '/' THEN '/' ELSE '' END`
	}
	return fmt.Sprintf(`SELECT t.person_id, t.%[2]s AS was, t.from_date AS row_from, t.to_date AS row_to, %[4]s AS path,
			greatest(t.from_date, m.from_date) AS from_date, least(t.to_date, m.to_date) AS to_date
		FROM renamed m JOIN %[1]s t ON t.tenant_id = $1 AND t.%[2]s = %[3]s AND t.from_date < m.to_date AND t.to_date > m.from_date`,
		r.table, r.column, was, path)
}

// follow returns SQL that writes the new path into the rows. It cuts a row where its path changes.
func (r pathReference) follow() string {
	return fmt.Sprintf(renamed+`, hit AS MATERIALIZED (%[4]s
), piece AS (
	SELECT person_id, was, row_from, path, from_date, to_date FROM hit
	UNION ALL
	SELECT person_id, was, row_from, was, coalesce(lag(to_date) OVER (PARTITION BY person_id, was, row_from ORDER BY from_date), row_from), from_date
	FROM hit
	UNION ALL
	SELECT person_id, was, row_from, was, max(to_date), row_to FROM hit GROUP BY person_id, was, row_from, row_to
), gone AS (
	DELETE FROM %[1]s t USING (SELECT DISTINCT person_id, was, row_from FROM hit) AS h
	WHERE t.tenant_id = $1 AND t.person_id = h.person_id AND t.from_date = h.row_from AND t.%[2]s = h.was
	RETURNING t.*
)
INSERT INTO %[1]s (tenant_id, person_id, from_date, to_date, %[2]s, %[3]s)
SELECT $1, g.person_id, p.from_date, p.to_date, p.path, %[3]s
FROM gone g JOIN piece p ON p.person_id = g.person_id AND p.was = g.%[2]s AND p.row_from = g.from_date
WHERE p.from_date < p.to_date`, r.table, r.column, r.others, r.hit())
}

// lockConcerned locks the persons with a replaced path in the order of their ids, and raises their
// versions, so that a concurrent change of a person starts again.
var lockConcerned = renamed + `, concerned AS MATERIALIZED (
	SELECT id FROM person WHERE tenant_id = $1 AND id IN (
		SELECT person_id FROM (` + pathReferences[0].hit() + ` UNION ALL ` + pathReferences[1].hit() + ` UNION ALL ` + pathReferences[2].hit() + `) AS hits)
	ORDER BY id FOR NO KEY UPDATE
)
UPDATE person p SET version = p.version + 1, updated_at = now() FROM concerned c WHERE p.tenant_id = $1 AND p.id = c.id RETURNING p.id`

// keepFormer keeps the replaced paths that no location has on an earlier day, because no row of
// location_path names the location by them any longer.
const keepFormer = renamed + `
INSERT INTO former_location_path (tenant_id, path, location_id)
SELECT DISTINCT ON (was) $1, was, location_id FROM renamed m
WHERE NOT EXISTS (SELECT FROM location_path o WHERE o.tenant_id = $1 AND o.path = m.was AND o.from_date < $3)
ORDER BY was, from_date DESC
ON CONFLICT (tenant_id, path) DO UPDATE SET location_id = excluded.location_id`

// eventBatch is the number of persons in an event.
const eventBatch = 100

// followReferences writes the new paths of a location and its descendants into the data of persons,
// on the days $3 to $4 of args. So a reference of a person follows its location. It returns the ids of the
// persons. Publish them when the location has its new paths: their states contain these paths.
func followReferences(ctx context.Context, tx pgx.Tx, args []any) ([]int64, error) {
	if _, err := tx.Exec(ctx, keepFormer, args...); err != nil {
		return nil, fmt.Errorf("keep the former paths of a location: %w", err)
	}
	ids, err := pg.Collect(ctx, tx, pgx.RowTo[int64], lockConcerned, args...)
	if err != nil {
		return nil, fmt.Errorf("lock the persons of a location: %w", err)
	}
	if len(ids) == 0 {
		return nil, nil
	}
	for _, r := range pathReferences {
		_, err := tx.Exec(ctx, r.follow(), args...)
		if pgerr.IsExclusion(err, "wage_work_rule_overlap") {
			return nil, fault.Invalid(structure.CodeTaken, "A person already has a wage or a work rule for the new path of a location. Remove one of the two first.")
		}
		if err != nil {
			return nil, fmt.Errorf("change the paths in %s: %w", r.table, err)
		}
	}
	return ids, nil
}

// publishPersons publishes persons whose primary jobs have new paths. The states contain all paths of the
// locations.
func publishPersons(ctx context.Context, tx pgx.Tx, ids []int64) error {
	slices.Sort(ids)
	var events []proto.Message
	for part := range slices.Chunk(ids, eventBatch) {
		states, err := store.ReadStates(ctx, tx, part)
		if err != nil {
			return fmt.Errorf("read the persons of a location: %w", err)
		}
		events = append(events, &commonsv1.PersonsChanged{Persons: states})
	}
	return outbox.Append(ctx, tx, events...)
}

// pathArgs returns the arguments of the statements that place a location on some days.
func pathArgs(ctx context.Context, id int64, days civil.Range) []any {
	return []any{tenant.Of(ctx), id, days.From, days.To}
}
