package reconcile

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/span"
)

const (
	selectScheduled = `
SELECT employee_id FROM (
    (SELECT DISTINCT employee_id FROM membership WHERE tenant_id = $1 AND employee_id > $2 ORDER BY 1 LIMIT $3)
    UNION (SELECT DISTINCT employee_id FROM span WHERE tenant_id = $1 AND employee_id > $2 ORDER BY 1 LIMIT $3)
    UNION (SELECT DISTINCT employee_id FROM pattern_assignment
        WHERE tenant_id = $1 AND employee_id > $2 ORDER BY 1 LIMIT $3)
    UNION (SELECT DISTINCT hides_employee_id FROM schedule_item
        WHERE tenant_id = $1 AND hides_employee_id > $2 AND hides_day IS NOT NULL ORDER BY 1 LIMIT $3)
) AS e ORDER BY 1 LIMIT $3`

	countUnfinished = `SELECT count(*) FROM propagation WHERE tenant_id = $1 AND state <> 'FINISHED'`

	// verifiedAtOnce is the number of employees that are read in one snapshot.
	verifiedAtOnce = 1000

	// maxDifferences limits the differences in a report.
	maxDifferences = 100
)

// Difference is an employee with wrong spans or entries.
type Difference struct {
	EmployeeID int64
	// Missing spans should exist. Surplus spans should not.
	Missing, Surplus []span.Span
	// Entries are the ids of changed or deleted entries that hide the wrong generated entry, or
	// that are wrongly shown or not shown.
	Entries []int64
}

// Report is the result of [Verify].
type Report struct {
	// Employees, Spans and Entries count the verified objects. Entries are those that users changed
	// or deleted.
	Employees, Spans, Entries int
	// Unfinished counts unfinished propagations. While there are any, differences are expected.
	Unfinished int
	// Different counts the employees with differences. Differences has the first of them.
	Different   int
	Differences []Difference
}

// Verify recomputes the spans of all employees of a tenant, the slots that changed or deleted
// entries hide, and whether they are shown. It compares the result with the stored data, which is
// everything that reads depend on. It reads 1000 employees at a time, each time in one snapshot,
// and changes nothing. Each time it calls progress with the number of verified employees so far,
// unless progress is nil.
func Verify(ctx context.Context, pool *pg.Pool, progress func(employees int)) (Report, error) {
	tenantID := tenant.Of(ctx)
	var report Report
	if err := pool.QueryRow(ctx, countUnfinished, tenantID).Scan(&report.Unfinished); err != nil {
		return report, fmt.Errorf("propagation: verify: %w", err)
	}
	var s State
	for after := int64(0); ; {
		var employees []int64
		err := pg.InSnapshot(ctx, pool, func(ctx context.Context, tx pgx.Tx) (err error) {
			if employees, err = pg.Collect(ctx, tx, pgx.RowTo[int64], selectScheduled, tenantID, after, verifiedAtOnce); err != nil {
				return err
			}
			if err := s.Load(ctx, tx, employees); err != nil {
				return err
			}
			return report.compare(ctx, tx, &s, employees)
		})
		if err != nil {
			return report, fmt.Errorf("propagation: verify: %w", err)
		}
		if len(employees) < verifiedAtOnce {
			return report, nil
		}
		after = employees[len(employees)-1]
		if progress != nil {
			progress(report.Employees)
		}
	}
}

// compare compares the stored data of employees with the data that their state determines.
func (r *Report) compare(ctx context.Context, db pg.Querier, s *State, employees []int64) error {
	var resolver span.Resolver
	var edited []editedEmployee
	different := map[int64]*Difference{}
	for _, employee := range employees {
		in, hidden := s.next(employee), s.hidden.next(employee)
		expected, err := resolver.Resolve(in)
		if err != nil {
			return fmt.Errorf("employee %d: %w", employee, err)
		}
		r.Employees, r.Spans, r.Entries = r.Employees+1, r.Spans+len(in.Current), r.Entries+len(hidden)
		span.Carry(in.Current, expected, in.Assignments)
		surplus, missing := resolver.Diff(in.Current, expected)
		if len(surplus)+len(missing) > 0 {
			different[employee] = &Difference{EmployeeID: employee, Missing: slices.Clone(missing), Surplus: slices.Clone(surplus)}
			continue // Slots are computed from the spans.
		}
		if len(hidden) > 0 {
			edited = append(edited, editedEmployee{
				employee: employee, spans: slices.Clone(expected), hides: hidden, memberships: in.Memberships, locks: in.Locks,
			})
		}
	}
	if len(edited) > 0 {
		lookup, err := lookUp(ctx, db, edited)
		if err != nil {
			return err
		}
		for _, h := range movedHides(edited, lookup) {
			if different[h.EmployeeID] == nil {
				different[h.EmployeeID] = &Difference{EmployeeID: h.EmployeeID}
			}
			different[h.EmployeeID].Entries = append(different[h.EmployeeID].Entries, h.ItemID)
		}
	}
	for _, employee := range slices.Sorted(maps.Keys(different)) {
		if r.Different++; r.Different <= maxDifferences {
			r.Differences = append(r.Differences, *different[employee])
		}
	}
	return nil
}
