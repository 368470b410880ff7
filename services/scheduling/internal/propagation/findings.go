package propagation

import (
	"context"
	"fmt"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulewarning"
)

const (
	countFindings = `
SELECT propagation_id, code, coalesce(assignment_id, 0), sum(cardinality(employee_ids))::bigint FROM propagation_finding
WHERE tenant_id = $1 AND propagation_id = ANY($2) AND code <> ALL($3)
GROUP BY 1, 2, 3 ORDER BY 1, 3`

	// The first employees of each code and assignment. $3 lists the employees that the caller may see; NULL means all.
	selectFindings = `
SELECT f.code, f.assignment_id, f.employee_id, coalesce(e.person_number, ''), f.from_dates, f.to_dates, f.description
FROM (
    SELECT f.code, coalesce(f.assignment_id, 0) AS assignment_id, u.employee_id, f.from_dates, f.to_dates, f.description,
        row_number() OVER (PARTITION BY f.code, f.assignment_id ORDER BY u.employee_id) AS n
    FROM propagation_finding f, unnest(f.employee_ids) AS u (employee_id)
    WHERE f.tenant_id = $1 AND f.propagation_id = $2 AND ($3::bigint[] IS NULL OR u.employee_id = ANY($3))
) AS f
LEFT JOIN employee e ON e.tenant_id = $1 AND e.id = f.employee_id
WHERE f.n <= $4 ORDER BY f.employee_id`
)

// skippedReasons are the codes of findings that are not warnings.
var skippedReasons = []string{ReasonLocked, ReasonDetached}

// addFindings adds the warnings of propagations, without persons.
func (h *Handler) addFindings(ctx context.Context, list []propagationRow) error {
	byBatches := map[int64][]propagationRow{}
	var ids []int64
	for _, one := range list {
		if one.appliedBy != 0 {
			ids, byBatches[one.appliedBy] = append(ids, one.appliedBy), append(byBatches[one.appliedBy], one)
		}
	}
	var id, assignment, employees int64
	var code string
	if err := pg.ForEach(ctx, h.pool, []any{&id, &code, &assignment, &employees}, func() error {
		for _, one := range byBatches[id] {
			one.Warnings = append(one.Warnings, newWarning(code, assignment, employees))
		}
		return nil
	}, countFindings, tenant.Of(ctx), ids, skippedReasons); err != nil {
		return fmt.Errorf("propagation: read warnings: %w", err)
	}
	for _, one := range list {
		if one.State == StateFinished && one.GetEmployeesTotal() > 0 && one.GetEmployeesChanged() == 0 {
			one.Warnings = append(one.Warnings, newWarning(string(schedulewarning.EmptyChange), 0, one.GetEmployeesTotal()))
		}
		slices.SortStableFunc(one.Warnings, func(a, b *schedulingv1.ScheduleWarning) int { return codeOrder(a.GetCode()) - codeOrder(b.GetCode()) })
	}
	return nil
}

func codeOrder(code string) int {
	return slices.Index(schedulewarning.Codes, schedulewarning.Code(code))
}

func newWarning(code string, assignment, employees int64) *schedulingv1.ScheduleWarning {
	w := &schedulingv1.ScheduleWarning{Code: code, Employees: employees}
	if assignment != 0 {
		w.AssignmentId = &assignment
	}
	return w
}

// addPersons names the employees with skipped days and warnings. The warnings must be there already.
func (h *Handler) addPersons(ctx context.Context, list []propagationRow) error {
	seen, err := h.visibleIDs(ctx)
	if err != nil {
		return err
	}
	for _, one := range list {
		var f personFinding
		if err := pg.ForEach(ctx, h.pool, f.columns(), func() error {
			one.addPerson(&f)
			return nil
		}, selectFindings, tenant.Of(ctx), one.appliedBy, seen, schedulewarning.MaxPersons); err != nil {
			return fmt.Errorf("propagation: read persons: %w", err)
		}
	}
	return nil
}

// personFinding is a finding about one employee.
type personFinding struct {
	code, number, description string
	assignment, employee      int64
	from, to                  []civil.Date
}

func (f *personFinding) columns() []any {
	return []any{&f.code, &f.assignment, &f.employee, &f.number, &f.from, &f.to, &f.description}
}

// days returns the days of the finding for callers.
func (f *personFinding) days() []*schedulingv1.PropagationDays {
	var days []*schedulingv1.PropagationDays
	for i, from := range f.from {
		one := &schedulingv1.PropagationDays{StartDate: from.String()}
		if f.to[i] < civil.Forever {
			one.EndDate = f.to[i].AddDays(-1).String()
		}
		days = append(days, one)
	}
	return days
}

// addPerson names an employee in the skipped days or in the warning of the finding.
func (r propagationRow) addPerson(f *personFinding) {
	for _, skipped := range r.Skipped {
		if skipped.GetReason() == f.code {
			skipped.Persons = append(skipped.Persons, &schedulingv1.SkippedPerson{Employee: newRef(f.employee, f.number), Days: f.days()})
		}
	}
	for _, w := range r.Warnings {
		if w.GetCode() == f.code && w.GetAssignmentId() == f.assignment {
			person := &schedulingv1.WarnedPerson{Employee: newRef(f.employee, f.number), Text: f.description}
			for _, day := range f.from {
				person.Dates = append(person.Dates, day.String())
			}
			w.Persons = append(w.Persons, person)
		}
	}
}
