package propagation

import (
	"context"
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// The error codes of a propagation's failures.
const (
	// CodeRefused (200): the database rejects data of an employee's schedule. The operator finds
	// the statement in the log by the id of the propagation.
	CodeRefused = "WRL-30501"
	// CodeInternal (200): an employee's schedule could not be calculated. The operator finds the
	// reason in the log by the id of the propagation.
	CodeInternal = "WRL-30502"
	// CodeLayers (200): an employee has more schedule patterns on one day than a schedule can show.
	// End one of the patterns.
	CodeLayers = "WRL-30503"
	// CodeSlow (200): a database statement for an employee's schedule times out. The operator finds
	// the statement in the log by the id of the propagation.
	CodeSlow = "WRL-30504"
)

// failureMessages are the messages for callers. The cause is in the log.
var failureMessages = map[string]string{
	CodeRefused:  "The database rejects data of this employee's schedule, so that the schedule did not change. The operator finds the reason in the log.",
	CodeInternal: "The schedule of this employee could not be calculated, so that it did not change. The operator finds the reason in the log.",
	CodeLayers:   "This employee has more schedule patterns on one day than a schedule can show, so that the schedule did not change. End one of the patterns.",
	CodeSlow:     "The database is too slow for this employee's schedule, so that the schedule did not change. The update is retried.",
}

// FailureMessage returns the message for callers of a failure.
func FailureMessage(code string) string {
	if message, known := failureMessages[code]; known {
		return message
	}
	return failureMessages[CodeInternal] // A later release stored the code.
}

// maxFailures is the largest number of failed employees that a propagation lists.
const maxFailures = 100

const (
	countFailures = `
SELECT b.propagation_id, count(*) FROM propagation_batch b, unnest(b.failed_employee_ids) AS f (id)
WHERE b.tenant_id = $1 AND b.propagation_id = ANY($2) AND f.id = ANY(b.employee_ids)
GROUP BY b.propagation_id`

	// $3 lists the employees that the caller may see; NULL means all.
	selectFailures = `
SELECT p.id, f.employee_id, coalesce(e.person_number, ''), f.code
FROM unnest($2::bigint[]) AS p (id)
CROSS JOIN LATERAL (
    SELECT u.employee_id, u.code FROM propagation_batch b, unnest(b.failed_employee_ids, b.failed_codes) AS u (employee_id, code)
    WHERE b.tenant_id = $1 AND b.propagation_id = p.id AND u.employee_id = ANY(b.employee_ids)
        AND ($3::bigint[] IS NULL OR u.employee_id = ANY($3))
    ORDER BY 1 LIMIT $4
) AS f
LEFT JOIN employee e ON e.tenant_id = $1 AND e.id = f.employee_id
ORDER BY p.id, f.employee_id`
)

// Visible returns the employees that the caller may see.
type Visible func(ctx context.Context) (rowvisibility.Set, error)

// addFailures adds the failed employees to unfinished propagations.
func (h *Handler) addFailures(ctx context.Context, list []propagationRow) error {
	tenantID := tenant.Of(ctx)
	byBatches := map[int64][]*schedulingv1.Propagation{}
	var ids []int64
	for _, one := range list {
		if one.appliedBy != 0 && one.State != StateFinished {
			ids, byBatches[one.appliedBy] = append(ids, one.appliedBy), append(byBatches[one.appliedBy], one.Propagation)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	var id, count int64
	if err := pg.ForEach(ctx, h.pool, []any{&id, &count}, func() error {
		for _, one := range byBatches[id] {
			shownCount := count
			one.EmployeesFailed = &shownCount
		}
		return nil
	}, countFailures, tenantID, ids); err != nil {
		return fmt.Errorf("propagation: count failures: %w", err)
	}
	seen, err := h.visibleIDs(ctx)
	if err != nil {
		return err
	}
	distinct := ids[:0]
	for id := range byBatches {
		distinct = append(distinct, id)
	}
	var employee int64
	var number, code string
	if err := pg.ForEach(ctx, h.pool, []any{&id, &employee, &number, &code}, func() error {
		for _, one := range byBatches[id] {
			one.Failures = append(one.Failures, newFailure(employee, number, code))
		}
		return nil
	}, selectFailures, tenantID, distinct, seen, maxFailures); err != nil {
		return fmt.Errorf("propagation: read failures: %w", err)
	}
	return nil
}

// visibleIDs returns the employees that the caller may see; nil means all.
func (h *Handler) visibleIDs(ctx context.Context) ([]int64, error) {
	visible, err := h.visible(ctx)
	if err != nil || visible.All() {
		return nil, err
	}
	return append([]int64{}, visible.IDs()...), nil
}

func newFailure(employee int64, number, code string) *schedulingv1.PropagationFailure {
	return &schedulingv1.PropagationFailure{Employee: newRef(employee, number), ErrorCode: code, Message: FailureMessage(code)}
}

// newRef returns a reference to an object. Parts that are 0 or "" are left out.
func newRef(id int64, qualifier string) *commonv1.Ref {
	ref := &commonv1.Ref{}
	if id != 0 {
		ref.Id = &id
	}
	if qualifier != "" {
		ref.Qualifier = &qualifier
	}
	return ref
}
