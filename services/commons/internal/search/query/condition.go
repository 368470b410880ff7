package query

import (
	"fmt"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/commons/internal/locationpath"
)

// condition is a comparison without negation.
type condition struct {
	key
	operator
	// The comparison values are either texts, or dates, or ids and names.
	texts []string
	dates []civil.Date
	ids   []int64
	names []string
	// typeName is the type of a custom field.
	typeName string
	// alone excludes the descendants of locations.
	alone bool
	// days replace the days of the query. With whole, the value must apply on all of them.
	days  *civil.Range
	whole bool
}

// sql returns a query for the ids of the persons who meet the condition.
func (k *condition) sql(c *compiler) string {
	if k.kind == reference {
		switch k.name {
		case KeyLocation:
			return k.atLocation(c)
		case KeyJob:
			return k.inJob(c)
		case KeyTerm:
			return k.onTerm(c)
		case KeyScheduled:
			return k.findScheduled(c)
		case KeyScheduledJob, KeyScheduledLocation:
			return k.scheduledAt(c)
		default:
			return k.findManaged(c)
		}
	}
	id := "person_id"
	if k.table == "person" {
		id = "id"
	}
	where := []string{"t.tenant_id = " + tenantParameter}
	if k.kind == customText || k.kind == customDate {
		where = append(where, "t.type_name = "+c.arg(k.typeName))
	}
	if k.optional {
		where = append(where, "t."+k.column+" <> ''")
	}
	if compared := k.compare(c, "t."+k.column); compared != "" {
		where = append(where, compared)
	}
	if k.kind == datedText {
		where = append(where, k.appliesSQL(c, "t"))
	}
	return fmt.Sprintf("SELECT t.%s AS id FROM %s AS t WHERE %s", id, k.table, strings.Join(where, " AND "))
}

// appliesSQL returns SQL that is true if a dated row applies on some of the days, or on all of them
// with whole.
func (k *condition) appliesSQL(c *compiler, row string) string {
	from, to := c.from, c.to
	if k.days != nil {
		from, to = c.arg(k.days.From), c.arg(k.days.To)
	}
	if k.whole {
		return fmt.Sprintf("%s.from_date <= %s AND %[1]s.to_date >= %[3]s", row, from, to)
	}
	return fmt.Sprintf("%s.from_date < %s AND %[1]s.to_date > %[3]s", row, to, from)
}

// compare returns SQL that compares a column with the values, or "" if any value matches.
func (k *condition) compare(c *compiler, column string) string {
	switch {
	case k.operator == isNotNull && k.kind == date:
		return column + " IS NOT NULL"
	case k.operator == isNotNull:
		return ""
	case k.ids != nil:
		return column + " = ANY(" + c.arg(k.ids) + ")"
	case k.kind == date || k.kind == customDate:
		return k.compareDates(c, column)
	case k.operator == startsWith:
		// Texts with a prefix sort between the prefix and the prefix followed by the last
		// character.
		first, last := c.arg(k.texts[0]), c.arg(k.texts[0]+"\U0010FFFF")
		if k.folded {
			first, last = "lower("+first+")", "lower("+last+")"
		}
		from, to, _ := strings.Cut(k.prefix, " ")
		return fmt.Sprintf("%s %s %s AND %[1]s %[4]s %[5]s", column, from, first, to, last)
	case k.operator == like:
		pattern := "lower(" + c.arg(likePattern(k.texts[0])) + ")"
		if k.folded {
			return column + " LIKE " + pattern
		}
		return "lower(" + column + ") LIKE " + pattern
	case k.operator == between:
		return fmt.Sprintf("%s ~>=~ %s AND %[1]s ~<=~ %[3]s", column, c.arg(k.texts[0]), c.arg(k.texts[1]))
	case k.folded:
		// The values are one text, which the planner can fold to a constant, so that it knows the
		// values.
		return fmt.Sprintf(`%s = ANY(string_to_array(lower(%s), E'\x01'))`, column, c.arg(strings.Join(k.texts, "\x01")))
	default:
		return column + " = ANY(" + c.arg(k.texts) + ")"
	}
}

// likePattern returns a pattern that finds a text anywhere. Per cent signs in the text match
// any characters.
func likePattern(text string) string {
	return "%" + strings.NewReplacer(`\`, `\\`, `_`, `\_`).Replace(text) + "%"
}

func (k *condition) compareDates(c *compiler, column string) string {
	given := k.dates
	switch k.operator {
	case in:
		return column + " = ANY(" + c.arg(given) + ")"
	case between:
		return column + " BETWEEN " + c.arg(given[0]) + " AND " + c.arg(given[1])
	}
	sign := map[operator]string{less: "<", lessEqual: "<=", more: ">", moreEqual: ">="}[k.operator]
	return column + " " + sign + " " + c.arg(given[0])
}

// matchingIDs returns SQL for the ids that match: the given ids, and the ids that a query finds for
// the names. Without names, the planner knows the ids.
func (k *condition) matchingIDs(c *compiler, named func(names string) string) string {
	ids := c.arg(k.ids)
	if len(k.names) == 0 {
		return "ANY(" + ids + "::bigint[])"
	}
	return "ANY(" + ids + "::bigint[] || ARRAY(" + named(c.arg(k.names)) + "))"
}

// onTerm finds the persons on one of the terms, or on any term.
func (k *condition) onTerm(c *compiler) string {
	where := ""
	if k.operator == in {
		where = " AND m.employment_term_id = " + k.matchingIDs(c, func(names string) string {
			return "SELECT n.id FROM employment_term n WHERE n.tenant_id = $1 AND n.name = ANY(" + names + ") AND NOT n.deleted"
		})
	}
	return "SELECT m.person_id AS id FROM membership m WHERE m.tenant_id = " + tenantParameter + where + " AND " + k.appliesSQL(c, "m")
}

// findManaged finds the persons whose manager is one of the given persons, or who have any
// manager.
func (k *condition) findManaged(c *compiler) string {
	where := ""
	if k.operator == in {
		where = fmt.Sprintf(" AND t.supervisor_person_number = ANY(%s::text[] || ARRAY(SELECT n.person_number FROM person n"+
			" WHERE n.tenant_id = %s AND n.id = ANY(%s)))", c.arg(k.names), tenantParameter, c.arg(k.ids))
	}
	return "SELECT t.id FROM person t WHERE t.tenant_id = " + tenantParameter + " AND t.supervisor_person_number <> ''" + where
}

// employedQuery returns a query for the persons whose primary job is at a path in the table, on
// one of the path's days. The array makes the planner look up the paths, regardless of its
// estimate of their number.
func employedQuery(table string, held string) string {
	return fmt.Sprintf(`SELECT a.person_id AS id FROM primary_labor_account a JOIN %s AS n
		ON n.path = a.organization_path AND n.from_date < a.to_date AND n.to_date > a.from_date
		WHERE a.tenant_id = $1 AND a.organization_path = ANY(ARRAY(SELECT path FROM %[1]s)) AND %[2]s`, table, held)
}

// atLocation finds the persons whose primary job is at one of the locations or below, or who
// have any primary job.
func (k *condition) atLocation(c *compiler) string {
	if k.operator == isNotNull {
		return "SELECT a.person_id AS id FROM primary_labor_account a WHERE a.tenant_id = $1 AND " + k.appliesSQL(c, "a")
	}
	return employedQuery(c.places(k.below(c)), k.appliesSQL(c, "a"))
}

// below returns SQL for the locations of the condition and their descendants, with their
// days.
func (k *condition) below(c *compiler) string {
	below := "below.lineage >= top.lineage AND below.lineage < top.lineage_end"
	if k.alone {
		below = "below.lineage = top.lineage"
	}
	tops := k.matchingIDs(c, func(paths string) string {
		return "SELECT " + locationpath.AtSQL(tenantParameter, "asked.path", c.last) + " FROM unnest(" + paths + "::text[]) AS asked(path)"
	})
	return fmt.Sprintf(`SELECT below.location_id, greatest(top.from_date, below.from_date) AS from_date, least(top.to_date, below.to_date) AS to_date
		FROM location_path top
		JOIN location_path below ON below.tenant_id = $1 AND %s
		     AND below.from_date < least(top.to_date, %[2]s) AND below.to_date > greatest(top.from_date, %[3]s)
		WHERE top.tenant_id = $1 AND top.from_date < %[2]s AND top.to_date > %[3]s AND top.location_id = %[4]s`,
		below, c.to, c.from, tops)
}

// inJob finds the persons whose primary job is a location with one of the jobs, or with any
// job.
func (k *condition) inJob(c *compiler) string {
	return employedQuery(c.places(k.ofJob(c)), k.appliesSQL(c, "a"))
}

// ofJob returns SQL for the locations with the jobs of the condition, and their days.
func (k *condition) ofJob(c *compiler) string {
	jobs := "v.job_id IS NOT NULL"
	if k.operator == in {
		jobs = "v.job_id = " + k.matchingIDs(c, func(names string) string {
			return "SELECT j.job_id FROM job_version j WHERE j.tenant_id = $1 AND j.name = ANY(" + names +
				") AND j.from_date < " + c.to + " AND j.to_date > " + c.from
		})
	}
	return fmt.Sprintf(`SELECT v.location_id, v.from_date, v.to_date FROM location_version v
		WHERE v.tenant_id = $1 AND v.from_date < %s AND v.to_date > %s AND %s`, c.to, c.from, jobs)
}

// places adds a subquery with the paths that name the given locations, and their days. It
// returns the name of the subquery.
func (c *compiler) places(locations string) string {
	table := c.name("places")
	c.with = append(c.with, fmt.Sprintf(`%s AS MATERIALIZED (
		SELECT name.path, greatest(name.from_date, at.from_date) AS from_date, least(name.to_date, at.to_date) AS to_date
		FROM (%s) AS at CROSS JOIN LATERAL %s AS name
		WHERE name.to_date > greatest(at.from_date, %s))`,
		table, locations, locationpath.NamesSQL(tenantParameter, "at.location_id", "least(at.to_date, "+c.to+")"), c.from))
	return table
}
