package patternassignment

import (
	"context"
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// maxExamined limits the memberships that are examined for the notice about locked days. The
// propagation counts them exactly.
const maxExamined = 20_000

const noticeInheritance = "The employment term does not allow inheritance: the pattern does not reach schedules until it does."

// countLockedOfTerms counts for each term the employees with locked days in its range. The
// outermost EXISTS skips the rest for tenants without locks.
const countLockedOfTerms = `
WITH change AS (
    SELECT * FROM unnest($2::bigint[], $3::date[], $4::date[]) WITH ORDINALITY AS c (term, from_date, to_date, n)
), member AS (
    SELECT c.n, m.employee_id, greatest(c.from_date, m.from_date) AS from_date, least(c.to_date, m.to_date) AS to_date
    FROM change c
    JOIN membership m ON m.tenant_id = $1 AND m.employment_term_id = c.term
                     AND m.from_date < c.to_date AND m.to_date > c.from_date
    LIMIT $5
)
SELECT m.n, count(DISTINCT m.employee_id)
FROM member m
WHERE EXISTS (SELECT FROM day_lock WHERE tenant_id = $1)
  AND EXISTS (SELECT FROM day_lock l WHERE l.tenant_id = $1 AND l.employee_id = m.employee_id
                                       AND l.from_date < m.to_date AND l.to_date > m.from_date)
GROUP BY m.n`

// affectedDays are the days of an owner that a change affects.
type affectedDays struct {
	ownerID int64
	days    civil.Range
}

// lockedNotices returns the notice about locked days for each of the affectedDays, or "".
func (k *Kind) lockedNotices(ctx context.Context, db pg.Querier, affected []affectedDays) ([]string, error) {
	owners, from, to := make([]int64, len(affected)), make([]civil.Date, len(affected)), make([]civil.Date, len(affected))
	for i, c := range affected {
		owners[i], from[i], to[i] = c.ownerID, c.days.From, c.days.To
	}
	notices := make([]string, len(affected))
	var n, employees int64
	err := pg.ForEach(ctx, db, []any{&n, &employees}, func() error {
		notices[n-1] = k.notice(employees)
		return nil
	}, k.countLocked, tenant.Of(ctx), owners, from, to, maxExamined)
	if err != nil {
		return nil, fmt.Errorf("patternassignment: count locked days: %w", err)
	}
	return notices, nil
}
