package query

import "strings"

// generated is SQL for the entries f of a table that patterns generate on days d of
// persons, as far as nobody hid them. They are of the spans s, whose days are in w.
func generated(entries string) string {
	return strings.Join([]string{`FROM schedule_span s
CROSS JOIN LATERAL (SELECT greatest($3::date, s.from_date) AS from_day, least($4::date, s.to_date) AS to_day) AS w
JOIN `, entries, ` f ON f.tenant_id = $1 AND f.pattern_id = s.pattern_id`, onFirstDay, `
CROSS JOIN LATERAL generate_series(0, w.to_day - o.day - 1, s.day_count) AS n
CROSS JOIN LATERAL (SELECT o.day + n AS day) AS d
WHERE s.tenant_id = $1 AND s.person_id = ANY($2) AND s.from_date < $4 AND s.to_date > $3
  AND NOT EXISTS (SELECT FROM entered_shift h WHERE h.tenant_id = $1 AND h.hides_person = s.person_id
                  AND h.hides_day = d.day AND h.hides_lane = s.lane AND h.hides_ordinal = f.ordinal)`}, "")
}

// ReadShifts is SQL for the segments of the shifts that persons ($2) of a tenant ($1) have
// from a day ($3) to before another ($4): what patterns generate, as far as nobody hid it,
// and what people entered. Its columns are the person, the day, a
// number that distinguishes the shifts of the day, the number of the segment, its start and
// end in seconds after the day begins, the job, and whether leave takes the segment.
var ReadShifts = strings.Join([]string{`
SELECT s.person_id, d.day, s.lane::bigint << 16 | f.ordinal AS shift, f.segment, f.start_second, f.end_second, f.job,
    NOT `, notOnLeave("s.person_id", "d.day", "f"), `
`, generated("pattern_segment"), `
UNION ALL
SELECT i.person_id, i.day, -i.shift_id, i.segment, i.start_second, i.end_second, i.job,
    NOT `, notOnLeave("i.person_id", "i.day", "i"), `
FROM entered_shift_segment i
WHERE i.tenant_id = $1 AND i.person_id = ANY($2) AND i.day >= $3 AND i.day < $4
ORDER BY 1, 2, 3, 4`}, "")

// ReadPayCodeEdits is SQL for the pay code edits that persons ($2) of a tenant ($1) have
// from a day ($3) to before another ($4), generated or entered, each on each of its days.
// Its columns are the person, the day, and what it is worth.
var ReadPayCodeEdits = strings.Join([]string{`
SELECT s.person_id, d.day, f.amount
`, generated("pattern_pay_code_edit"), `
UNION ALL
SELECT i.person_id, w.from_day + n, i.amount
FROM entered_pay_code_edit i
CROSS JOIN LATERAL (SELECT greatest($3::date, i.from_day) AS from_day, least($4::date, i.to_day) AS to_day) AS w
CROSS JOIN LATERAL generate_series(0, w.to_day - w.from_day - 1) AS n
WHERE i.tenant_id = $1 AND i.person_id = ANY($2) AND i.from_day < $4 AND i.to_day > $3
ORDER BY 1, 2, 3`}, "")
