package scheduleitem

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employeelock"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemchange"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemstore"
)

// maxRestored bounds what one request brings back.
var maxRestored = policy.Max[*schedulingv1.RestoredSchedules]("restored entries")

const (
	// What people made of entries of the employees' own patterns that are generated
	// still. Whether its days are locked, and whether it is with somebody else.
	readChanged = `
SELECT i.id, i.kind, i.hides_employee_id, i.hides_day, i.from_day, i.to_day, i.covers,
    EXISTS (SELECT FROM day_lock l WHERE l.tenant_id = $1 AND l.employee_id = i.hides_employee_id
            AND (l.from_date <= i.hides_day AND l.to_date > i.hides_day
                 OR l.from_date <= CASE i.kind WHEN 'SHIFT' THEN i.from_day ELSE i.to_day END AND l.to_date > i.from_day)),
    i.employee_id IS DISTINCT FROM i.hides_employee_id
FROM schedule_item i
WHERE i.tenant_id = $1 AND i.hides_employee_id = ANY($2) AND i.hides_day >= $3 AND i.hides_day < $4 AND i.hidden_lane IS NOT NULL
  AND EXISTS (SELECT FROM pattern_assignment a WHERE a.tenant_id = $1 AND a.id = i.hides_lineage_id AND a.employee_id IS NOT NULL)
ORDER BY i.id`

	readPatterned = `
SELECT DISTINCT employee_id FROM pattern_assignment
WHERE tenant_id = $1 AND employee_id = ANY($2) AND believed_until = 'infinity' AND from_date < $4 AND to_date > $3`
)

// Restored is what became of the entries of an employee that people had changed or deleted.
type Restored struct {
	// Patterned reports whether the employee has a pattern on the days.
	Patterned bool
	// Entries is how many stand again as the employee's patterns make them.
	Entries int
	// Locked and Moved are how many were left alone: on locked days, and with somebody else.
	Locked, Moved int
}

// Restore takes away what people made of the entries that the employees' own patterns
// generate on some days, all or nothing. What they entered beside them stays.
func (d Deps) Restore(ctx context.Context, employeeIDs []int64, days civil.Range) (map[int64]*Restored, error) {
	tenantID := tenant.Of(ctx)
	var out map[int64]*Restored
	err := pg.InTx(ctx, d.Pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		if err := employeelock.Lock(ctx, tx, tenantID, slices.Clone(employeeIDs)); err != nil {
			return err
		}
		out, err = restore(ctx, tx, tenantID, employeeIDs, days)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// restore does it for employees who are locked.
func restore(ctx context.Context, tx pgx.Tx, tenantID int64, employeeIDs []int64, days civil.Range) (map[int64]*Restored, error) {
	out, err := patterned(ctx, tx, tenantID, employeeIDs, days)
	if err != nil {
		return nil, err
	}
	var gone []int64
	var news itemchange.News
	var r itemstore.Row
	var hides civil.Date
	var locked, moved bool
	err = pg.ForEach(ctx, tx, []any{&r.ID, &r.Kind, &r.EmployeeID, &hides, &r.From, &r.To, &r.Covers, &locked, &moved}, func() error {
		switch of := out[r.EmployeeID]; {
		case moved:
			of.Moved++
		case locked:
			of.Locked++
		default:
			of.Entries++
			gone = append(gone, r.ID)
			news.Add(r.EmployeeID, hides, hides)
			news.Add(r.EmployeeID, r.From, r.To)
			news.Cover(r.Covers, r.EmployeeID)
			return news.Deleted(r.Kind, r.ID, r.EmployeeID, r.From)
		}
		return nil
	}, readChanged, tenantID, employeeIDs, days.From, days.To)
	if err != nil {
		return nil, fmt.Errorf("scheduleitem: read changed entries: %w", err)
	}
	if len(gone) > maxRestored {
		return nil, fault.OverLimit(fault.CodeItemLimit, "restored entries in the request", len(gone), maxRestored, "Name fewer employees or days.")
	}
	if len(gone) == 0 {
		return out, nil
	}
	if err := itemstore.Delete(ctx, tx, tenantID, gone); err != nil {
		return nil, err
	}
	return out, news.Publish(ctx, tx, tenantID)
}

// patterned returns a result for each employee that says whether there are patterns.
func patterned(ctx context.Context, tx pgx.Tx, tenantID int64, employeeIDs []int64, days civil.Range) (map[int64]*Restored, error) {
	found, err := pg.Collect(ctx, tx, pgx.RowTo[int64], readPatterned, tenantID, employeeIDs, days.From, days.To)
	if err != nil {
		return nil, fmt.Errorf("scheduleitem: read patterns of employees: %w", err)
	}
	out := make(map[int64]*Restored, len(employeeIDs))
	for _, id := range employeeIDs {
		out[id] = &Restored{Patterned: slices.Contains(found, id)}
	}
	return out, nil
}
