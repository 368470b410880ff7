package projection

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc"

	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// fakeMembers is timekeeping, which knows numbers of members. What then is done
// when it has answered.
type fakeMembers struct {
	timekeepingv1.EmploymentTermAssignmentServiceClient
	counts map[int64]int64
	err    error
	then   func()
	asked  [][]int64
}

func (f *fakeMembers) CountMembers(_ context.Context, req *timekeepingv1.CountMembersRequest, _ ...grpc.CallOption) (*timekeepingv1.CountMembersResponse, error) {
	f.asked = append(f.asked, req.GetEmploymentTermIds())
	answer := &timekeepingv1.CountMembersResponse{}
	for _, id := range req.GetEmploymentTermIds() {
		if n := f.counts[id]; n > 0 {
			answer.Counts = append(answer.Counts, &timekeepingv1.MemberCount{EmploymentTermId: id, Persons: n})
		}
	}
	if f.then != nil {
		f.then()
	}
	return answer, f.err
}

// await lets a Members of some patience wait for terms, and returns how long it
// took.
func (w *world) await(ctx context.Context, f *fakeMembers, patience time.Duration, terms ...int64) time.Duration {
	begun := time.Now()
	NewMembers(w.pool, f, patience).Await(ctx, terms)
	return time.Since(begun)
}

const (
	always = "3000-01-01"
	// long is what no test waits for.
	long = 5 * time.Minute
)

func TestMembersThatAreKnownAreNotWaitedFor(t *testing.T) {
	w := newWorld(t)
	w.memberships(
		on(1, 1, days(5, "2026-01-01", "2026-02-01"), days(6, "2026-02-01", "2026-03-01"), days(5, "2026-03-01", always)),
		on(2, 1, days(5, "2026-01-01", always)))
	f := &fakeMembers{counts: map[int64]int64{5: 2, 6: 0}}
	assert.Less(t, w.await(w.ctx, f, long, 6, 5, 5, 7), long, "more than enough, and a term that nobody was on")
	assert.Equal(t, [][]int64{{5, 6, 7}}, f.asked)
}

func TestLateMembersAreWaitedFor(t *testing.T) {
	w := newWorld(t)
	w.memberships(on(1, 1, days(6, "2026-01-01", always)))
	f := &fakeMembers{counts: map[int64]int64{5: 2, 6: 1}}
	came := make(chan struct{})
	f.then = func() {
		go func() {
			defer close(came)
			w.memberships(on(2, 1, days(5, "2026-01-01", always)))
			w.memberships(on(3, 1, days(5, "2026-01-01", always)))
		}()
	}
	assert.Less(t, w.await(w.ctx, f, long, 5, 6), long)
	var known int
	assert.NoError(t, w.pool.QueryRow(w.ctx, `SELECT count(*) FROM membership WHERE employment_term_id = 5`).Scan(&known))
	assert.Equal(t, 2, known, "both are there when the wait is over")
	assert.Len(t, f.asked, 1)
	<-came
}

func TestMembersThatDoNotComeHoldUpNothing(t *testing.T) {
	w := newWorld(t)
	f := &fakeMembers{counts: map[int64]int64{5: 1}}
	took := w.await(w.ctx, f, 30*time.Millisecond, 5)
	assert.GreaterOrEqual(t, took, 30*time.Millisecond)
	assert.Less(t, took, long)

	ended, cancel := context.WithCancel(w.ctx)
	f.then = cancel
	assert.Less(t, w.await(ended, f, long, 5), long, "nor when the caller has gone")

	f = &fakeMembers{counts: map[int64]int64{5: 1}, err: errors.New("down")}
	assert.Less(t, w.await(w.ctx, f, long, 5), long, "nor when timekeeping does not answer")
	assert.Len(t, f.asked, 1)
}

func TestManyTermsAreAskedForInParts(t *testing.T) {
	w := newWorld(t)
	terms := make([]int64, mostAsked+1)
	for i := range terms {
		terms[i] = int64(i + 1)
	}
	f := &fakeMembers{}
	w.await(w.ctx, f, long, terms...)
	assert.Equal(t, [][]int64{terms[:mostAsked], terms[mostAsked:]}, f.asked)
}
