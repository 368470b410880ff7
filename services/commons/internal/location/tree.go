package location

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg/advisory"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/record"
	"github.com/rotaloom/rotaloom/services/commons/internal/structure"
)

// lock serializes changes to a tenant's tree until the transaction ends. Reads do not wait.
func lock(ctx context.Context, tx pgx.Tx) error {
	return lockTree.Wait(ctx, tx)
}

const lockTree advisory.Lock = "location tree"

// placement is a part of the statements below. It computes the place of a location on the
// days $3 to $4, from its versions and the places of its parents.
const placement = `
	SELECT greatest(v.from_date, p.from_date, $3::date) AS from_date,
	       least(v.to_date, p.to_date, $4::date) AS to_date,
	       coalesce(p.lineage, '.') || v.location_id || '.' AS lineage,
	       coalesce(p.path || '/', '') || v.name AS path,
	       coalesce(p.depth, 0) + 1 AS depth,
	       p.lineage AS parent_lineage
	FROM location_version v
	LEFT JOIN location_path p ON p.tenant_id = $1 AND p.location_id = v.parent_id
	     AND p.from_date < least(v.to_date, $4) AND p.to_date > greatest(v.from_date, $3)
	WHERE v.tenant_id = $1 AND v.location_id = $2 AND v.from_date < $4 AND v.to_date > $3
	  AND (v.parent_id IS NULL OR p.location_id IS NOT NULL)`

// checkSQL checks the place of a location: whether its parents exist on all days, whether a
// parent is a descendant of the location, and whether another location already has its path.
const checkSQL = `
WITH standing AS MATERIALIZED (` + placement + `)
SELECT coalesce((SELECT sum(to_date - from_date) FROM standing), 0)
         = (SELECT sum(least(v.to_date, $4) - greatest(v.from_date, $3)) FROM location_version v
            WHERE v.tenant_id = $1 AND v.location_id = $2 AND v.from_date < $4 AND v.to_date > $3),
       EXISTS (SELECT FROM standing WHERE position('.' || $2::bigint || '.' IN parent_lineage) > 0),
       (SELECT s.path FROM standing s JOIN location_path o ON o.tenant_id = $1 AND o.path = s.path
          AND o.location_id <> $2 AND o.from_date < s.to_date AND o.to_date > s.from_date LIMIT 1)`

// updatePathsSQL recomputes the places of a location and its descendants on the days $3 to
// $4. On all other days, the places stay: rows that cross an edge are split there.
// Descendants keep the tail of their lineage and of their path.
const updatePathsSQL = `
WITH standing AS MATERIALIZED (` + placement + `
), was AS MATERIALIZED (
	SELECT from_date, to_date, depth, lineage, lineage_end, path FROM location_path
	WHERE tenant_id = $1 AND location_id = $2 AND from_date < $4 AND to_date > $3
), below AS MATERIALIZED (
	SELECT d.location_id, d.from_date, d.to_date, d.depth, d.lineage, d.path,
	       greatest(d.from_date, was.from_date, $3) AS part_from, least(d.to_date, was.to_date, $4) AS part_to,
	       d.depth - was.depth AS levels, substr(d.lineage, length(was.lineage) + 1) AS lineage_tail,
	       substr(d.path, length(was.path) + 1) AS path_tail
	FROM was JOIN location_path d ON d.tenant_id = $1 AND d.lineage >= was.lineage AND d.lineage < was.lineage_end
	     AND d.from_date < least(was.to_date, $4) AND d.to_date > greatest(was.from_date, $3)
	WHERE d.location_id <> $2
), cut AS MATERIALIZED (
	SELECT DISTINCT location_id, from_date, to_date, depth, lineage, path FROM below
	UNION ALL SELECT $2::bigint, from_date, to_date, depth, lineage, path FROM was
), ended AS (
	UPDATE location_path o SET to_date = $3 FROM cut
	WHERE o.tenant_id = $1 AND o.location_id = cut.location_id AND o.from_date = cut.from_date AND cut.from_date < $3
	RETURNING 1
), gone AS (
	DELETE FROM location_path o USING cut
	WHERE o.tenant_id = $1 AND o.location_id = cut.location_id AND o.from_date = cut.from_date AND cut.from_date >= $3
	RETURNING 1
), now AS (
	SELECT location_id, $4::date AS from_date, to_date, depth, lineage, path FROM cut WHERE to_date > $4
	UNION ALL SELECT $2::bigint, from_date, to_date, depth::smallint, lineage, path FROM standing
	UNION ALL
	SELECT b.location_id, greatest(b.part_from, s.from_date), least(b.part_to, s.to_date),
	       (s.depth + b.levels)::smallint, s.lineage || b.lineage_tail, s.path || b.path_tail
	FROM below b JOIN standing s ON s.from_date < b.part_to AND s.to_date > b.part_from
)
INSERT INTO location_path (tenant_id, location_id, from_date, to_date, depth, lineage, path)
SELECT $1, now.* FROM now CROSS JOIN (SELECT count(*) FROM gone) AS done`

// updatePaths checks the place of a location on some days, and recomputes the places of the
// location and its descendants, and their paths in the rows of persons. The caller must hold the lock of the tree.
func updatePaths(ctx context.Context, tx pgx.Tx, id int64, days civil.Range) error {
	args := pathArgs(ctx, id, days)
	var there, cycle bool
	var taken *string
	if err := tx.QueryRow(ctx, checkSQL, args...).Scan(&there, &cycle, &taken); err != nil {
		return fmt.Errorf("check the place of location %d: %w", id, err)
	}
	switch {
	case cycle:
		return fault.Invalid(structure.CodeCycle, "A location cannot lie below itself. Choose another parentNodeRef.")
	case !there:
		return fault.Invalid(structure.CodeParentNotThen,
			"The parent does not exist on all days of the location. Choose other dates, or another parentNodeRef.")
	case taken != nil:
		return fault.Invalid(structure.CodeTaken, fmt.Sprintf("Another location has the path %q on some of the days.", *taken))
	}
	persons, err := followReferences(ctx, tx, args)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, updatePathsSQL, args...); err != nil {
		return pathError(err)
	}
	if len(persons) == 0 {
		return nil
	}
	return publishPersons(ctx, tx, persons)
}

func pathError(err error) error {
	switch {
	case pgerr.IsCheck(err, "location_path_depth"):
		return fault.Invalid(structure.CodeDepth, "A location would be more than 12 levels deep. Choose a higher parent.")
	case pgerr.IsCheck(err, "location_path_length"):
		return fault.Invalid(structure.CodeDepth, "The path of a location would be longer than 2,000 bytes.")
	}
	return fmt.Errorf("place a location: %w", err)
}

// end removes a location from the tree from a day on. It fails if locations exist below it, or a person
// has their primary job there on a day without terminated employment. A location in a set can end, because
// the set leaves it out afterwards, but it cannot disappear.
func end(ctx context.Context, tx pgx.Tx, id int64, day civil.Date) error {
	tenantID := tenant.Of(ctx)
	var use *string
	err := tx.QueryRow(ctx, `SELECT CASE
		WHEN EXISTS (SELECT FROM location_version WHERE tenant_id = $1 AND parent_id = $2 AND to_date > $3)
			THEN 'There are locations below it. End or move them first.'
		WHEN EXISTS (SELECT FROM location_set_location WHERE tenant_id = $1 AND location_id = $2)
			AND NOT EXISTS (SELECT FROM location_version WHERE tenant_id = $1 AND location_id = $2 AND from_date < $3)
			THEN 'It is in a location set. Remove it there first.'
		WHEN EXISTS (SELECT FROM location_path p JOIN primary_labor_account a
				ON a.tenant_id = $1 AND a.organization_path = p.path AND a.from_date < p.to_date AND a.to_date > greatest(p.from_date, $3)
			WHERE p.tenant_id = $1 AND p.location_id = $2 AND p.to_date > $3
			  AND NOT daterange(greatest(a.from_date, p.from_date, $3), least(a.to_date, p.to_date)) <@ coalesce(
				(SELECT range_agg(daterange(e.from_date, e.to_date)) FROM employment_status e
				 WHERE e.tenant_id = $1 AND e.person_id = a.person_id AND e.status = '`+record.StatusTerminated+`'), '{}'))
			THEN 'It is the primary job of persons. Give them another one first.'
		END`, tenantID, id, day).Scan(&use)
	if err != nil {
		return fmt.Errorf("look for the use of location %d: %w", id, err)
	}
	if use != nil {
		return fault.Invalid(structure.CodeInUse, fmt.Sprintf("The location with the id %d cannot be deleted. %s", id, *use))
	}
	batch := &pgx.Batch{}
	for _, table := range []string{"location_path", "location_version"} {
		batch.Queue(`DELETE FROM `+table+` WHERE tenant_id = $1 AND location_id = $2 AND from_date >= $3`, tenantID, id, day)
		batch.Queue(`UPDATE `+table+` SET to_date = $3 WHERE tenant_id = $1 AND location_id = $2 AND to_date > $3`, tenantID, id, day)
	}
	batch.Queue(`UPDATE location_version v SET last_revision = true, updated_at = now() WHERE tenant_id = $1 AND location_id = $2 AND to_date = $3`,
		tenantID, id, day)
	batch.Queue(`DELETE FROM location l WHERE tenant_id = $1 AND id = $2
		AND NOT EXISTS (SELECT FROM location_version v WHERE v.tenant_id = $1 AND v.location_id = $2)`, tenantID, id)
	return tx.SendBatch(ctx, batch).Close()
}
