package propagation

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulewarning"
)

const (
	selectBatches = `SELECT coalesce(applied_by, 0) FROM propagation WHERE tenant_id = $1 AND id = $2`

	// All findings of a page of employees. $4 lists the employees that the caller may see; NULL means all.
	selectPersons = `
WITH found AS (
    SELECT f.code, coalesce(f.assignment_id, 0) AS assignment_id, u.employee_id, f.from_dates, f.to_dates, f.description
    FROM propagation_finding f, unnest(f.employee_ids) AS u (employee_id)
    WHERE f.tenant_id = $1 AND f.propagation_id = $2 AND u.employee_id > $3 AND ($4::bigint[] IS NULL OR u.employee_id = ANY($4))
        AND ($5::text[] IS NULL OR f.code = ANY($5))
), page AS (
    SELECT DISTINCT employee_id FROM found ORDER BY 1 LIMIT $6
)
SELECT f.code, f.assignment_id, f.employee_id, coalesce(e.person_number, ''), f.from_dates, f.to_dates, f.description
FROM found f JOIN page USING (employee_id)
LEFT JOIN employee e ON e.tenant_id = $1 AND e.id = f.employee_id
ORDER BY f.employee_id, f.code, f.assignment_id`
)

// MultiReadPropagationPersons returns a page of the employees with skipped days or warnings.
func (h *Handler) MultiReadPropagationPersons(ctx context.Context, req *schedulingv1.MultiReadPropagationPersonsRequest) (*schedulingv1.PropagationPersonPage, error) {
	allowed := append([]string{}, skippedReasons...)
	for _, code := range schedulewarning.Codes {
		if code != schedulewarning.EmptyChange {
			allowed = append(allowed, string(code))
		}
	}
	codes, err := checkEnum("codes", req.GetCodes(), allowed...)
	if err != nil {
		return nil, err
	}
	var batches int64
	err = h.pool.QueryRow(ctx, selectBatches, tenant.Of(ctx), req.GetId()).Scan(&batches)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fault.NotFound(fault.CodeNotFound, "There is no propagation with this id.")
	}
	if err != nil {
		return nil, fmt.Errorf("propagation: read: %w", err)
	}
	seen, err := h.visibleIDs(ctx)
	if err != nil {
		return nil, err
	}
	count := defaultPage
	if req.Count != nil {
		count = int(req.GetCount())
	}
	page := &schedulingv1.PropagationPersonPage{Persons: &schedulingv1.PropagationPersonList{}}
	var f personFinding
	var last int64
	employees := 0
	err = pg.ForEach(ctx, h.pool, f.columns(), func() error {
		if f.employee != last {
			employees++
		}
		if employees > count {
			page.Next = &last
			return nil
		}
		last = f.employee
		page.Persons.Persons = append(page.Persons.Persons, f.person())
		return nil
	}, selectPersons, tenant.Of(ctx), batches, req.GetAfter(), seen, codes, count+1)
	if err != nil {
		return nil, fmt.Errorf("propagation: read persons: %w", err)
	}
	return page, nil
}

func (f *personFinding) person() *schedulingv1.PropagationPerson {
	p := &schedulingv1.PropagationPerson{Employee: newRef(f.employee, f.number), Code: f.code, Days: f.days(), Text: f.description}
	if f.assignment != 0 {
		assignment := f.assignment
		p.AssignmentId = &assignment
	}
	return p
}
