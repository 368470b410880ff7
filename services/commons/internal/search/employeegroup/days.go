package employeegroup

import (
	"context"
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/commons/internal/locationpath"
)

var _ rowvisibility.DatedSource = (*Groups)(nil)

// The days of persons at a path or below who are not there on the day $2. A location has other paths
// on other days; a path that names no location is the same text on all days. Days without a job belong
// to the job before them, or else to the first job. The limit counts persons.
var readDays = `
WITH top AS (SELECT ` + locationpath.AtSQL("$1", "$3::text", "$2::date") + ` AS id),
named AS (
    SELECT n.path, n.from_date, n.to_date FROM top CROSS JOIN LATERAL ` + locationpath.NamesSQL("$1", "top.id", "'infinity'") + ` AS n WHERE top.id IS NOT NULL
    UNION ALL SELECT $3, '-infinity', 'infinity' FROM top WHERE top.id IS NULL),
held AS (
    SELECT a.person_id, a.from_date, a.to_date, greatest(a.from_date, n.from_date) AS since, least(a.to_date, n.to_date) AS until
    FROM named n JOIN primary_labor_account a ON a.tenant_id = $1
        AND (a.organization_path = n.path OR (a.organization_path ~>=~ (n.path || '/') AND a.organization_path ~<~ (n.path || '0')))
        AND a.from_date < n.to_date AND a.to_date > n.from_date
    WHERE a.person_id > $4),
others AS (
    SELECT DISTINCT person_id FROM held h
    WHERE NOT EXISTS (SELECT FROM held today WHERE today.person_id = h.person_id AND today.since <= $2 AND today.until > $2)
    ORDER BY person_id LIMIT $5)
SELECT h.person_id,
    CASE WHEN h.since = h.from_date AND NOT EXISTS (SELECT FROM primary_labor_account earlier
        WHERE earlier.tenant_id = $1 AND earlier.person_id = h.person_id AND earlier.from_date < h.from_date) THEN $6::date ELSE h.since END,
    CASE WHEN h.until = h.to_date THEN coalesce((SELECT min(later.from_date) FROM primary_labor_account later
        WHERE later.tenant_id = $1 AND later.person_id = h.person_id AND later.from_date >= h.to_date), $7::date) ELSE h.until END
FROM held h JOIN others USING (person_id) ORDER BY h.person_id, h.since`

// Days returns the days on which persons who are not in the principal's group today are in it.
func (g *Groups) Days(ctx context.Context, p *authn.Principal) ([]rowvisibility.PersonDays, error) {
	if rowvisibility.Scope(p.Rows) != rowvisibility.Group {
		return nil, nil
	}
	return g.otherDays(ctx, p.PersonID, 0, nil)
}

// otherDays returns the days of persons with ids above after who are in the group of a person on
// other days than today, ascending by person, and of at most limit persons unless limit is nil. A
// group that is a hyperfind has no such days: its query asks about today.
func (g *Groups) otherDays(ctx context.Context, personID, after int64, limit *int) ([]rowvisibility.PersonDays, error) {
	group, err := g.Of(ctx, personID)
	if err != nil || group.path == "" {
		return nil, err
	}
	var out []rowvisibility.PersonDays
	var d rowvisibility.PersonDays
	err = pg.ForEach(ctx, g.pool, []any{&d.PersonID, &d.Days.From, &d.Days.To}, func() error {
		d.Days = d.Days.Clamp()
		out = append(out, d)
		return nil
	}, readDays, tenant.Of(ctx), g.today(ctx), group.path, after, limit, civil.Beginning, civil.Forever)
	if err != nil {
		return nil, fmt.Errorf("read days of an employee group: %w", err)
	}
	return out, nil
}
