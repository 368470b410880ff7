package itemstore

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// The condition matches hiddenentry.Hide.Withdraw.
const wouldBeWithdrawn = `
SELECT u.ordinal
FROM unnest($2::bigint[], $3::date[], $4::bigint[]) WITH ORDINALITY AS u (employee_id, day, lineage_id, ordinal)
WHERE CASE WHEN EXISTS (SELECT FROM pattern_assignment a WHERE a.tenant_id = $1 AND a.id = u.lineage_id AND a.employee_id IS NOT NULL)
    THEN EXISTS (SELECT FROM employee e, unnest(e.terminated_from, e.terminated_to) AS d (f, t)
                 WHERE e.tenant_id = $1 AND e.id = u.employee_id AND d.f <= u.day AND d.t > u.day)
    ELSE NOT EXISTS (SELECT FROM membership m
                     WHERE m.tenant_id = $1 AND m.employee_id = u.employee_id AND m.from_date <= u.day AND m.to_date > u.day) END`

// WouldBeWithdrawn returns the positions of the rows that the next propagation would withdraw. Such
// rows replace an entry of their employee that is no longer generated, on a day without employment.
func WouldBeWithdrawn(ctx context.Context, db pg.Querier, rows []Row) ([]int, error) {
	var positions []int
	var employees, lineages []int64
	var days []civil.Date
	for i, r := range rows {
		if r.Hides != nil && r.Hides.slot == nil && r.Hides.EmployeeID == r.EmployeeID {
			positions = append(positions, i)
			employees, days, lineages = append(employees, r.EmployeeID), append(days, r.From), append(lineages, r.Hides.LineageID)
		}
	}
	if len(positions) == 0 {
		return nil, nil
	}
	found, err := db.Query(ctx, wouldBeWithdrawn, tenant.Of(ctx), employees, days, lineages)
	if err != nil {
		return nil, fmt.Errorf("scheduleitem: read employments: %w", err)
	}
	ordinals, err := pgx.CollectRows(found, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("scheduleitem: read employments: %w", err)
	}
	withdrawn := make([]int, len(ordinals))
	for i, ordinal := range ordinals {
		withdrawn[i] = positions[ordinal-1]
	}
	return withdrawn, nil
}
