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

	// verifiedAtOnce is how many employees are read in one view of the database.
	verifiedAtOnce = 1000

	// maxDifferences bounds the differences that a report spells out.
	maxDifferences = 100
)

// Difference is an employee whose spans or entries are not what they should be.
type Difference struct {
	EmployeeID int64
	// Missing should be there, Surplus should not.
	Missing, Surplus []span.Span
	// Entries are the ids of those that people changed or deleted and that hide another
	// generated entry than they should, or none, or are shown when they should not be, or
	// not shown when they should.
	Entries []int64
}

// Report is what [Verify] found.
type Report struct {
	// Employees, Spans and Entries that were looked at. Entries are those that people
	// changed or deleted.
	Employees, Spans, Entries int
	// Unfinished propagations; while there are any, differences are no fault.
	Unfinished int
	// Different counts the employees with differences, of which Differences
	// holds the first.
	Different   int
	Differences []Difference
}

// Verify computes the spans of every employee of a tenant from assignments,
// memberships and locks, and what each entry that people changed or deleted hides and
// whether it is shown, and compares them with what is stored: that is all that reads
// go by. It reads a thousand employees at a time, each thousand in one view of the database, and
// changes nothing. After each thousand it says to progress, unless that is nil, how
// many it has looked at.
func Verify(ctx context.Context, pool *pg.Pool, tenantID int64, progress func(employees int)) (Report, error) {
	ctx = tenant.With(ctx, tenantID)
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
			if err := s.Load(ctx, tx, tenantID, employees); err != nil {
				return err
			}
			return report.compare(ctx, tx, tenantID, &s, employees)
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

// compare compares what is stored of employees with what follows from their state.
func (r *Report) compare(ctx context.Context, db pg.Querier, tenantID int64, s *State, employees []int64) error {
	var resolver span.Resolver
	var edited []editedEmployee
	different := map[int64]*Difference{}
	for _, employee := range employees {
		in, hidden := s.next(employee), s.hidden.next(employee)
		wanted, err := resolver.Resolve(in)
		if err != nil {
			return fmt.Errorf("employee %d: %w", employee, err)
		}
		r.Employees, r.Spans, r.Entries = r.Employees+1, r.Spans+len(in.Current), r.Entries+len(hidden)
		span.Carry(in.Current, wanted, in.Assignments)
		surplus, missing := resolver.Diff(in.Current, wanted)
		if len(surplus)+len(missing) > 0 {
			different[employee] = &Difference{EmployeeID: employee, Missing: slices.Clone(missing), Surplus: slices.Clone(surplus)}
			continue // Where the entries stand follows from the spans.
		}
		if len(hidden) > 0 {
			edited = append(edited, editedEmployee{slices.Clone(wanted), hidden, in.Memberships, in.Locks})
		}
	}
	if len(edited) > 0 {
		lookup, err := lookUp(ctx, db, tenantID, edited)
		if err != nil {
			return err
		}
		for _, h := range moves(edited, lookup) {
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
