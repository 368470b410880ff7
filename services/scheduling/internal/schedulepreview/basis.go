package schedulepreview

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
)

// basis is the state that shapes a preview: the assignments of the terms and employees, the
// memberships, the locked days, and the entries and the leave of the window.
type basis struct {
	// settledAt is the settled instant of the state; see docs/decisions, 62.
	settledAt time.Time
	// termIDs and employeeIDs are the terms and the employees whose patterns change.
	termIDs, employeeIDs []int64
	// inheriting are the terms of the affected employees that pass on patterns. That has no history.
	inheriting []int64
	days       civil.Range
}

const (
	// affectedTerms has the employees on the terms and the listed employees, and all terms of them.
	affectedTerms = `
WITH affected AS MATERIALIZED (
    SELECT employee_id FROM membership WHERE tenant_id = $1 AND employment_term_id = ANY($2)
    UNION SELECT unnest($3::bigint[])
), term AS MATERIALIZED (
    SELECT m.employment_term_id AS id FROM affected a JOIN membership m ON m.tenant_id = $1 AND m.employee_id = a.employee_id
    UNION SELECT unnest($2::bigint[])
)`

	selectInheriting = affectedTerms + `
SELECT t.id FROM term JOIN employment_term t ON t.tenant_id = $1 AND t.id = term.id WHERE t.allows_inheritance ORDER BY 1`

	// The first change after the instant $4 of something that shapes the schedules on days from $5 to
	// $6. Current rows began later, and rows of the past ended later. Entries are searched from the
	// lookback on, because they can reach into the window.
	selectLaterChange = affectedTerms + `, later AS (
    SELECT 'ASSIGNMENT' AS type, a.id, 0::bigint AS employee_id, a.believed_from, a.believed_until, a.propagation_id
    FROM term JOIN pattern_assignment a ON a.tenant_id = $1 AND a.employment_term_id = term.id
    WHERE a.believed_from > $4 OR a.believed_until > $4 AND a.believed_until < 'infinity'
    UNION ALL
    SELECT 'ASSIGNMENT', a.id, a.employee_id, a.believed_from, a.believed_until, a.propagation_id
    FROM affected e JOIN pattern_assignment a ON a.tenant_id = $1 AND a.employee_id = e.employee_id
    WHERE a.believed_from > $4 OR a.believed_until > $4 AND a.believed_until < 'infinity'
    UNION ALL
    SELECT 'MEMBERSHIP', m.employee_id, m.employee_id, m.believed_from, 'infinity', NULL
    FROM affected e JOIN membership m ON m.tenant_id = $1 AND m.employee_id = e.employee_id WHERE m.believed_from > $4
    UNION ALL
    SELECT 'MEMBERSHIP', employee_id, employee_id, believed_from, believed_until, NULL
    FROM membership_past WHERE tenant_id = $1 AND believed_until > $4
        AND (employment_term_id = ANY($2) OR employee_id IN (SELECT employee_id FROM affected))
    UNION ALL
    SELECT 'DAY_LOCK', l.id, l.employee_id, l.believed_from, 'infinity', NULL
    FROM affected e JOIN day_lock l ON l.tenant_id = $1 AND l.employee_id = e.employee_id WHERE l.believed_from > $4
    UNION ALL
    SELECT 'DAY_LOCK', l.id, l.employee_id, l.believed_from, l.believed_until, NULL
    FROM affected e JOIN day_lock_past l ON l.tenant_id = $1 AND l.employee_id = e.employee_id AND l.believed_until > $4
    UNION ALL
    SELECT 'ENTRY', i.id, i.employee_id, i.believed_from, 'infinity', NULL
    FROM affected e JOIN schedule_item i ON i.tenant_id = $1 AND i.employee_id = e.employee_id
    WHERE i.believed_from > $4 AND i.from_day < $6 AND i.to_day >= $5
    UNION ALL
    SELECT 'ENTRY', i.id, i.employee_id, i.believed_from, i.believed_until, NULL
    FROM affected e JOIN schedule_item_past i ON i.tenant_id = $1 AND i.employee_id = e.employee_id AND i.believed_until > $4
    WHERE i.from_day < $6 AND i.to_day >= $5
    UNION ALL
    SELECT 'ENTRY', i.id, i.hides_employee_id, i.believed_from, 'infinity', NULL
    FROM affected e JOIN schedule_item i ON i.tenant_id = $1 AND i.hides_employee_id = e.employee_id AND i.hides_day IS NOT NULL
    WHERE i.believed_from > $4 AND i.hides_day < $6 AND i.hides_day >= $5
    UNION ALL
    SELECT 'ENTRY', i.id, i.hides_employee_id, i.believed_from, i.believed_until, NULL
    FROM affected e JOIN schedule_item_past i ON i.tenant_id = $1 AND i.hides_employee_id = e.employee_id AND i.believed_until > $4
    WHERE i.hides_day < $6 AND i.hides_day >= $5
    UNION ALL
    SELECT 'LEAVE', l.id, l.employee_id, l.believed_from, 'infinity', NULL
    FROM affected e JOIN leave_edit l ON l.tenant_id = $1 AND l.employee_id = e.employee_id
    WHERE l.believed_from > $4 AND l.from_day < $6 AND l.to_day >= $5
    UNION ALL
    SELECT 'LEAVE', l.id, l.employee_id, l.believed_from, l.believed_until, NULL
    FROM affected e JOIN leave_edit_past l ON l.tenant_id = $1 AND l.employee_id = e.employee_id AND l.believed_until > $4
    WHERE l.from_day < $6 AND l.to_day >= $5
    UNION ALL
    SELECT 'EMPLOYMENT_TERM', t.id, 0, 'infinity', 'infinity', NULL
    FROM term JOIN employment_term t ON t.tenant_id = $1 AND t.id = term.id WHERE t.allows_inheritance <> (t.id = ANY($7))
)
SELECT type, id, coalesce(employee_id, 0), nullif(at, 'infinity'), propagation_id
FROM (SELECT *, CASE WHEN believed_from > $4 THEN believed_from ELSE believed_until END AS at FROM later) AS l
ORDER BY l.at LIMIT 1`
)

// settle reads the instant of the basis. The state must be read afterwards, in a new snapshot.
func (b *basis) settle(ctx context.Context, reader *reading.Reader) (err error) {
	b.settledAt, err = reader.SettledTime(ctx)
	return err
}

// readInheriting reads the terms that pass on patterns.
func (b *basis) readInheriting(ctx context.Context, db pg.Querier) error {
	list, err := pg.Collect(ctx, db, pgx.RowTo[int64], selectInheriting, tenant.Of(ctx), b.termIDs, b.employeeIDs)
	if err != nil {
		return fmt.Errorf("schedulepreview: read terms: %w", err)
	}
	b.inheriting = list
	return nil
}

// laterChange is a change that came after a preview.
type laterChange struct {
	kind           string
	id, employeeID int64
	at             *time.Time
	propagationID  *int64
}

// lookback is the number of days before the window; an entry of the basis can begin on them.
const lookback = 7

// findLaterChange returns the first change of the basis since the preview, or nil.
func (b *basis) findLaterChange(ctx context.Context, db pg.Querier) (*laterChange, error) {
	var c laterChange
	err := db.QueryRow(ctx, selectLaterChange, tenant.Of(ctx), b.termIDs, b.employeeIDs, b.settledAt,
		b.days.From.AddDays(-lookback), b.days.To.AddDays(lookback), b.inheriting).Scan(&c.kind, &c.id, &c.employeeID, &c.at, &c.propagationID)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("schedulepreview: look for later changes: %w", err)
	}
	return &c, nil
}
