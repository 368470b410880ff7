package employeeday

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employmentterm"
)

// OFFSET makes the planner search the rows of each employee instead of reading the whole table.
const readMemberships = `
SELECT m.employee_id, m.from_date, m.to_date, m.employment_term_id
FROM unnest($2::bigint[]) AS e (id) CROSS JOIN LATERAL (
    SELECT * FROM membership WHERE tenant_id = $1 AND employee_id = e.id AND from_date < $4 AND to_date > $3 OFFSET 0
) AS m ORDER BY 1, 2`

// membership is an employee's membership in a term.
type membership struct {
	employeeID, termID int64
	days               civil.Range
}

// addPayRules adds the pay rules of the employees' terms.
func (h *Handler) addPayRules(ctx context.Context, ids []int64, days civil.Range, out map[int64]*schedulingv1.EmployeeDays) error {
	return pg.InSnapshot(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		var memberships []membership
		var terms []int64
		var m membership
		if err := pg.ForEach(ctx, tx, []any{&m.employeeID, &m.days.From, &m.days.To, &m.termID}, func() error {
			memberships, terms = append(memberships, m), append(terms, m.termID)
			return nil
		}, readMemberships, tenant.Of(ctx), ids, days.From, days.To); err != nil {
			return fmt.Errorf("read memberships: %w", err)
		}
		rules, err := employmentterm.PayRules(ctx, tx, terms)
		if err != nil {
			return err
		}
		for _, m := range memberships {
			for _, rule := range rules[m.termID] {
				on := m.days.Intersect(rule.Days).Intersect(days)
				if on.Empty() {
					continue
				}
				if out[m.employeeID] == nil {
					out[m.employeeID] = &schedulingv1.EmployeeDays{EmployeeId: m.employeeID}
				}
				e := out[m.employeeID]
				e.PayRules = append(e.PayRules, &schedulingv1.TermPayRule{From: int32(on.From), To: int32(on.To), PayRule: rule.Rule})
			}
		}
		return nil
	})
}
