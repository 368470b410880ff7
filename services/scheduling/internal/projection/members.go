package projection

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

const (
	// DefaultPatience is how long Members waits at most.
	DefaultPatience = 2 * time.Second

	firstPause   = 5 * time.Millisecond
	longestPause = 100 * time.Millisecond
)

// Whom the plan of a propagation takes for the members of terms. The index by
// term holds all that is needed.
const countMembers = `
SELECT employment_term_id, count(DISTINCT employee_id) FROM membership
WHERE tenant_id = $1 AND employment_term_id = ANY($2) GROUP BY employment_term_id`

// Members waits for the members of terms. Whoever was put on a term a moment
// ago is to be among those whom a change of the term concerns, although the
// event of it may still be on its way.
type Members struct {
	pool        *pgxpool.Pool
	assignments timekeepingv1.EmploymentTermAssignmentServiceClient
	patience    time.Duration
}

// NewMembers returns a Members that waits for patience at most. The client
// calls timekeeping; the connection under it hands on the tenant of the context.
func NewMembers(pool *pgxpool.Pool, assignments timekeepingv1.EmploymentTermAssignmentServiceClient, patience time.Duration) *Members {
	return &Members{pool: pool, assignments: assignments, patience: patience}
}

// Await returns when as many employees are known of each term as timekeeping
// knows. It returns as well when its patience or ctx ends, and when timekeeping
// does not answer: whoever is still missing then follows by the event, so that
// a change can be accepted without.
//
// It must not be used inside a transaction.
func (m *Members) Await(ctx context.Context, termIDs []int64) {
	tenantID, err := tenant.Of(ctx)
	if err != nil {
		return
	}
	termIDs = slices.Compact(slices.Sorted(slices.Values(termIDs)))
	ctx, cancel := context.WithTimeout(ctx, m.patience)
	defer cancel()
	for part := range slices.Chunk(termIDs, mostAsked) {
		if m.await(ctx, tenantID, part) != nil {
			return
		}
	}
}

// await waits for the members of terms that are few enough for one call.
func (m *Members) await(ctx context.Context, tenantID int64, termIDs []int64) error {
	answer, err := m.assignments.CountMembers(ctx, &timekeepingv1.CountMembersRequest{EmploymentTermIds: termIDs})
	if err != nil {
		return fmt.Errorf("projection: count the members that timekeeping knows: %w", err)
	}
	behind := answer.GetCounts()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		if behind, err = m.behind(ctx, tenantID, behind); err != nil || len(behind) == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			m.lacks(context.WithoutCancel(ctx), tenantID)
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// lacks has memberships compared with timekeeping: they do not come by themselves.
// What cannot be noted is found by the next comparison.
func (m *Members) lacks(ctx context.Context, tenantID int64) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_ = replica.Check(ctx, m.pool, tenantID, "memberships")
}

// behind returns the counts that what is known falls short of. More than the
// count is no reason to wait: others may have come since, and a propagation may
// concern somebody whom it does not change.
func (m *Members) behind(ctx context.Context, tenantID int64, counts []*timekeepingv1.MemberCount) ([]*timekeepingv1.MemberCount, error) {
	if len(counts) == 0 {
		return nil, nil
	}
	ids := make([]int64, len(counts))
	for i, c := range counts {
		ids[i] = c.GetEmploymentTermId()
	}
	rows, err := m.pool.Query(ctx, countMembers, tenantID, ids)
	if err != nil {
		return nil, fmt.Errorf("projection: count members: %w", err)
	}
	var id, persons int64
	known := make(map[int64]int64, len(ids))
	_, err = pgx.ForEachRow(rows, []any{&id, &persons}, func() error {
		known[id] = persons
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("projection: count members: %w", err)
	}
	return slices.DeleteFunc(counts, func(c *timekeepingv1.MemberCount) bool {
		return known[c.GetEmploymentTermId()] >= c.GetPersons()
	}), nil
}
