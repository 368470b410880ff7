package reconcile

import (
	"context"
	"fmt"
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
) AS e ORDER BY 1 LIMIT $3`

	countUnfinished = `SELECT count(*) FROM propagation WHERE tenant_id = $1 AND state <> 'FINISHED'`

	// verifiedAtOnce is how many employees are read in one view of the database.
	verifiedAtOnce = 1000

	// maxDifferences bounds the differences that a report spells out.
	maxDifferences = 100
)

// Difference is an employee whose spans are not what they should be.
type Difference struct {
	EmployeeID int64
	// Missing should be there, Surplus should not.
	Missing, Surplus []span.Span
}

// Report is what [Verify] found.
type Report struct {
	// Employees and Spans that were looked at.
	Employees, Spans int
	// Unfinished propagations; while there are any, differences are no fault.
	Unfinished int
	// Different counts the employees with differences, of which Differences
	// holds the first.
	Different   int
	Differences []Difference
}

// Verify computes the spans of every employee of a tenant from assignments,
// memberships and locks, and compares them with those that are stored. It reads
// a thousand employees at a time, each thousand in one view of the database, and
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
		err := pg.InSnapshot(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
			rows, err := tx.Query(ctx, selectScheduled, tenantID, after, verifiedAtOnce)
			if err != nil {
				return err
			}
			if employees, err = pgx.CollectRows(rows, pgx.RowTo[int64]); err != nil {
				return err
			}
			return s.Load(ctx, tx, tenantID, employees)
		})
		if err == nil {
			err = report.compare(&s, employees)
		}
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

func (r *Report) compare(s *State, employees []int64) error {
	var resolver span.Resolver
	for _, employee := range employees {
		in := s.next(employee)
		wanted, err := resolver.Resolve(in)
		if err != nil {
			return fmt.Errorf("employee %d: %w", employee, err)
		}
		r.Employees, r.Spans = r.Employees+1, r.Spans+len(in.Current)
		span.Carry(in.Current, wanted, in.Assignments)
		surplus, missing := resolver.Diff(in.Current, wanted)
		if len(surplus)+len(missing) == 0 {
			continue
		}
		if r.Different++; r.Different <= maxDifferences {
			r.Differences = append(r.Differences, Difference{
				EmployeeID: employee, Missing: slices.Clone(missing), Surplus: slices.Clone(surplus),
			})
		}
	}
	return nil
}
