package query

import (
	"fmt"
	"strings"
)

// The statements below share these names: s is a span of a person, f a segment of a shift in
// its pattern, w the range of days to check, and o the first of these days on which the cycle
// reaches the shift.

// window returns SQL for the days to check: the days of the query on which all of the rows
// apply.
func (c *compiler) window(rows ...string) string {
	first, last := c.from+"::date", c.to+"::date"
	if len(rows) > 0 {
		first += ", " + strings.Join(rows, ".from_date, ") + ".from_date"
		last += ", " + strings.Join(rows, ".to_date, ") + ".to_date"
	}
	return fmt.Sprintf(` CROSS JOIN LATERAL (SELECT greatest(%s) AS from_day, least(%s) AS to_day) AS w`, first, last)
}

const onFirstDay = ` CROSS JOIN LATERAL (SELECT w.from_day
	+ mod(mod(f.cycle_day - s.position - (w.from_day - s.from_date), s.day_count) + s.day_count, s.day_count) AS day) AS o`

// generatedSQL returns SQL that is true if the shift takes place on one of the days. It checks
// the days one by one only for persons with hidden shifts or leave. OFFSET makes the planner
// look up the rows of each person, rather than collect the rows of all persons.
func (c *compiler) generatedSQL() string {
	return fmt.Sprintf(`o.day < w.to_day AND (
		NOT EXISTS (SELECT FROM entered_shift h WHERE h.tenant_id = $1 AND h.hides_person = s.person_id
		            AND h.hides_day >= %[1]s::date AND h.hides_day < %[2]s::date OFFSET 0)
		AND NOT EXISTS (SELECT FROM leave_interval l WHERE l.tenant_id = $1 AND l.person_id = s.person_id
		                AND l.to_day >= %[1]s::date AND l.from_day < %[2]s::date + %[3]d OFFSET 0)
		OR EXISTS (
			SELECT FROM generate_series(0, w.to_day - o.day - 1, s.day_count) AS n
			CROSS JOIN LATERAL (SELECT o.day + n AS day) AS d
			WHERE NOT EXISTS (SELECT FROM entered_shift h WHERE h.tenant_id = $1 AND h.hides_person = s.person_id
			                  AND h.hides_day = d.day AND h.hides_lane = s.lane AND h.hides_ordinal = f.ordinal)
			AND %[4]s))`, c.from, c.to, maxShift, notOnLeave("s.person_id", "d.day", "f"))
}

// maxShift bounds the days after its start day that a shift can still run.
const maxShift = 8

// notOnLeave returns SQL that is true if no leave of a person covers a whole segment of a
// shift of a day.
func notOnLeave(person, day, segment string) string {
	return fmt.Sprintf(`NOT EXISTS (SELECT FROM leave_interval l WHERE l.tenant_id = $1 AND l.person_id = %s
		AND l.to_day >= %[2]s AND l.from_day <= %[2]s + %[4]d
		AND (l.shifts_from IS NULL OR %[2]s >= l.shifts_from AND %[2]s < l.shifts_to)
		AND CASE WHEN l.end_second = 0 THEN l.from_day = %[2]s
		    ELSE (l.from_day - %[2]s)::bigint * 86400 + l.start_second <= %[3]s.start_second
		     AND (l.from_day - %[2]s)::bigint * 86400 + l.end_second >= %[3]s.end_second END)`, person, day, segment, maxShift)
}

// findScheduled finds the persons who have a shift.
func (k *condition) findScheduled(c *compiler) string {
	return k.byPattern(c) + " UNION ALL " + k.byHand(c)
}

// isScheduled returns SQL that is true if a person has a shift.
func (k *condition) isScheduled(c *compiler, id string) string {
	return fmt.Sprintf("(EXISTS (%s AND s.person_id = %s) OR EXISTS (%s AND i.person_id = %[2]s))", k.byPattern(c), id, k.byHand(c))
}

func (k *condition) byPattern(c *compiler) string {
	return fmt.Sprintf(`SELECT s.person_id AS id FROM schedule_span s%s
		WHERE s.tenant_id = $1 AND s.from_date < %s AND s.to_date > %s
		AND EXISTS (SELECT FROM pattern_segment f%s WHERE f.tenant_id = $1 AND f.pattern_id = s.pattern_id AND %s)`,
		c.window("s"), c.to, c.from, onFirstDay, c.generatedSQL())
}

func (k *condition) byHand(c *compiler) string {
	return fmt.Sprintf(`SELECT i.person_id AS id FROM entered_shift_segment i
		WHERE i.tenant_id = $1 AND i.day >= %s AND i.day < %s AND %s`, c.from, c.to, notOnLeave("i.person_id", "i.day", "i"))
}

// scheduledAt finds the persons who have a shift on one of the jobs, or at one of the
// locations. The job of the segment decides or, if it has none, the primary job on the day.
func (k *condition) scheduledAt(c *compiler) string {
	locations := k.ofJob
	if k.name == KeyScheduledLocation {
		locations = k.below
	}
	byID := c.name("ids")
	c.with = append(c.with, fmt.Sprintf("%s AS MATERIALIZED (%s)", byID, locations(c)))
	named := c.places("SELECT * FROM " + byID)
	// Some segments have only the id of the job's location.
	places := c.name("places")
	c.with = append(c.with, fmt.Sprintf(`%s AS MATERIALIZED (SELECT path, from_date, to_date FROM %s
		UNION ALL SELECT E'\x01' || location_id, from_date, to_date FROM %s)`, places, named, byID))
	at := func(place string) string {
		return fmt.Sprintf("%s = ANY(ARRAY(SELECT path FROM %s))", place, places)
	}
	primary := fmt.Sprintf("primary_labor_account a JOIN %s AS n ON n.path = a.organization_path", named)
	primaryHeld := fmt.Sprintf("a.tenant_id = $1 AND %s AND %s", at("a.organization_path"), k.appliesSQL(c, "a"))
	spans := fmt.Sprintf("s.tenant_id = $1 AND s.from_date < %s AND s.to_date > %s", c.to, c.from)
	shifts := c.name("shifts")
	c.with = append(c.with, fmt.Sprintf(`%s AS MATERIALIZED (
		SELECT f.pattern_id, f.cycle_day, f.ordinal, f.start_second, f.end_second, n.from_date, n.to_date
		FROM pattern_segment f JOIN %s AS n ON n.path = f.job WHERE f.tenant_id = $1 AND %s)`, shifts, places, at("f.job")))
	byPlace := fmt.Sprintf(`SELECT s.person_id AS id FROM %[1]s AS f JOIN schedule_span s ON %[2]s AND s.pattern_id = f.pattern_id%[3]s%[4]s
		WHERE s.pattern_id = ANY(ARRAY(SELECT DISTINCT pattern_id FROM %[1]s)) AND %[5]s`,
		shifts, spans, c.window("s", "f"), onFirstDay, c.generatedSQL())
	// EXISTS stops at the first matching shift of a span.
	byJob := fmt.Sprintf(`SELECT s.person_id FROM %s JOIN schedule_span s ON %s AND s.person_id = a.person_id%s
		WHERE %s AND EXISTS (SELECT FROM pattern_segment f%s
		                     WHERE f.tenant_id = $1 AND f.pattern_id = s.pattern_id AND f.job = '' AND %s)`,
		primary, spans, c.window("s", "n", "a"), primaryHeld, onFirstDay, c.generatedSQL())
	leave := notOnLeave("i.person_id", "i.day", "i")
	byHand := fmt.Sprintf(`SELECT i.person_id FROM entered_shift_segment i JOIN %s AS n ON n.path = i.job%s
		WHERE i.tenant_id = $1 AND %s AND i.day >= w.from_day AND i.day < w.to_day AND %s`, places, c.window("n"), at("i.job"), leave)
	byHandInJob := fmt.Sprintf(`SELECT i.person_id FROM %s%s
		JOIN entered_shift_segment i ON i.tenant_id = $1 AND i.person_id = a.person_id AND i.job = '' AND i.day >= w.from_day AND i.day < w.to_day
		WHERE %s AND %s`, primary, c.window("n", "a"), primaryHeld, leave)
	return strings.Join([]string{byPlace, byJob, byHand, byHandInJob}, " UNION ALL ")
}
