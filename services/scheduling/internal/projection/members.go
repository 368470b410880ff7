package projection

import (
	"context"
	"slices"
	"time"

	"github.com/rotaloom/rotaloom/pkg/pg"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
)

// countTimeout is how long timekeeping may take to say how many are on terms.
const countTimeout = 500 * time.Millisecond

// Members knows how many employees timekeeping has on terms.
type Members struct {
	pool        *pg.Pool
	assignments timekeepingv1.EmploymentTermAssignmentServiceClient
}

// NewMembers returns a Members. The client calls timekeeping; the connection under
// it hands on the tenant of the context.
func NewMembers(pool *pg.Pool, assignments timekeepingv1.EmploymentTermAssignmentServiceClient) *Members {
	return &Members{pool: pool, assignments: assignments}
}

// Expected returns how many employees are on those terms of which fewer are known
// here. It returns fewer, or none, when timekeeping does not respond within half a
// second: whoever is missing then follows by the event, so that a change can be
// accepted without.
//
// It must not be used inside a transaction.
func (m *Members) Expected(ctx context.Context, termIDs []int64) (expected []propagation.Members) {
	termIDs = slices.Compact(slices.Sorted(slices.Values(termIDs)))
	asking, cancel := context.WithTimeout(ctx, countTimeout)
	defer cancel()
	for part := range slices.Chunk(termIDs, maxPerCall) {
		response, err := m.assignments.CountMembers(asking, &timekeepingv1.CountMembersRequest{EmploymentTermIds: part})
		if err != nil {
			return expected
		}
		counts := make([]propagation.Members, len(response.GetCounts()))
		for i, c := range response.GetCounts() {
			counts[i] = propagation.Members{TermID: c.GetEmploymentTermId(), Count: c.GetPersons()}
		}
		missing, err := propagation.Missing(ctx, m.pool, counts)
		if err != nil {
			return expected
		}
		for _, c := range counts {
			if slices.ContainsFunc(missing, func(m propagation.Members) bool { return m.TermID == c.TermID }) {
				expected = append(expected, c)
			}
		}
	}
	return expected
}
