package projection

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
)

// fakeMembers is timekeeping, which knows numbers of members.
type fakeMembers struct {
	timekeepingv1.EmploymentTermAssignmentServiceClient
	counts   map[int64]int64
	err      error
	requests [][]int64
}

func (f *fakeMembers) CountMembers(_ context.Context, req *timekeepingv1.CountMembersRequest, _ ...grpc.CallOption) (*timekeepingv1.CountMembersResponse, error) {
	f.requests = append(f.requests, req.GetEmploymentTermIds())
	response := &timekeepingv1.CountMembersResponse{}
	for _, id := range req.GetEmploymentTermIds() {
		if n := f.counts[id]; n > 0 {
			response.Counts = append(response.Counts, &timekeepingv1.MemberCount{EmploymentTermId: id, Persons: n})
		}
	}
	return response, f.err
}

// expected asks a Members for terms.
func (w *fixture) expected(f *fakeMembers, terms ...int64) []propagation.Members {
	return NewMembers(w.pool, f).Expected(w.ctx, terms)
}

const always = "3000-01-01"

func TestMembersThatAreKnownAreNotExpected(t *testing.T) {
	w := newFixture(t)
	w.memberships(
		on(1, 1, days(5, "2026-01-01", "2026-02-01"), days(6, "2026-02-01", "2026-03-01"), days(5, "2026-03-01", always)),
		on(2, 1, days(5, "2026-01-01", always)))
	f := &fakeMembers{counts: map[int64]int64{5: 2, 6: 0}}
	assert.Empty(t, w.expected(f, 6, 5, 5, 7), "more than enough, and a term that nobody was on")
	assert.Equal(t, [][]int64{{5, 6, 7}}, f.requests)
}

func TestMembersWhoAreOnTheirWayAreExpected(t *testing.T) {
	w := newFixture(t)
	w.memberships(on(1, 1, days(6, "2026-01-01", always)))
	f := &fakeMembers{counts: map[int64]int64{5: 2, 6: 1}}
	assert.Equal(t, []propagation.Members{{TermID: 5, Count: 2}}, w.expected(f, 5, 6))
}

func TestNobodyIsExpectedWhileTimekeepingDoesNotRespond(t *testing.T) {
	w := newFixture(t)
	f := &fakeMembers{counts: map[int64]int64{5: 1}, err: errors.New("down")}
	assert.Empty(t, w.expected(f, 5))
	assert.Len(t, f.requests, 1)
}

// Whoever does not come is not waited for a second time: a change of the term
// does not take longer for ever because an event is lost.
func TestMembersWhoDidNotComeAreNotExpectedAgain(t *testing.T) {
	w := newFixture(t)
	_, err := w.pool.Exec(w.ctx, "INSERT INTO membership_shortage (tenant_id, employment_term_id, members) VALUES (1, 5, 1)")
	require.NoError(t, err)
	f := &fakeMembers{counts: map[int64]int64{5: 1}}
	assert.Empty(t, w.expected(f, 5))
	f.counts[5] = 2
	assert.Equal(t, []propagation.Members{{TermID: 5, Count: 2}}, w.expected(f, 5), "another one is on the way")

	w.memberships(on(1, 1, days(5, "2026-01-01", always)), on(2, 1, days(5, "2026-01-01", always)))
	assert.Empty(t, w.expected(f, 5))
	f.counts[5] = 3
	assert.Equal(t, []propagation.Members{{TermID: 5, Count: 3}}, w.expected(f, 5), "all had come, so this is a new one")
}

func TestManyTermsAreAskedForInParts(t *testing.T) {
	w := newFixture(t)
	terms := make([]int64, maxPerCall+1)
	for i := range terms {
		terms[i] = int64(i + 1)
	}
	f := &fakeMembers{}
	w.expected(f, terms...)
	assert.Equal(t, [][]int64{terms[:maxPerCall], terms[maxPerCall:]}, f.requests)
}
