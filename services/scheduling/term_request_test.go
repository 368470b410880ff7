package scheduling_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/testkit/bustest"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// termRequests stands for the requests that commons keeps.
type termRequests struct {
	commonsv1.UnimplementedTermRequestServiceServer
	mu   sync.Mutex
	list []*commonsv1.TermRequest
}

func (r *termRequests) ListTermRequests(_ context.Context, req *commonsv1.ListTermRequestsRequest) (*commonsv1.ListTermRequestsResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := &commonsv1.ListTermRequestsResponse{}
	for _, known := range r.list {
		if slices.Contains(req.GetPersonIds(), known.GetPersonId()) {
			out.Requests = append(out.Requests, known)
		}
	}
	return out, nil
}

// addRequest adds a request for a person, with the given number.
func (b *fixture) addRequest(t *testing.T, person, number int64, terms ...*commonsv1.RequestedTerm) {
	t.Helper()
	b.requests.mu.Lock()
	b.requests.list = append(b.requests.list, &commonsv1.TermRequest{PersonId: person, Number: number, Terms: terms})
	b.requests.mu.Unlock()
	for range 2 {
		bustest.Publish(t, b.nats.Conn(), &commonsv1.TermRequestsMade{PersonIds: []int64{person}})
	}
}

func requestedTerm(term int64, from, to string) *commonsv1.RequestedTerm {
	return &commonsv1.RequestedTerm{EmploymentTermId: term, From: from, To: to}
}

func TestTermRequestsAreCarriedOut(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.run(t)
	ctx := inTenant(t, 1)
	one, two := b.createTerm(t, ctx, "One"), b.createTerm(t, ctx, "Two")
	eventually := func(want string) {
		t.Helper()
		require.Eventually(t, func() bool { return b.onTerm(ctx, t, 1) == want }, 10*time.Second, 5*time.Millisecond, want)
	}
	// heard returns the newest request that an event says is carried out.
	heard := func() (number int64) {
		for _, e := range events[*schedulingv1.MembershipsChanged](t, b) {
			for _, p := range e.GetPersons() {
				number = max(number, p.GetTermRequest())
			}
		}
		return number
	}

	b.addRequest(t, 1, 1, requestedTerm(one, "2024-01-01", "3000-01-01"))
	eventually(fmt.Sprintf("1 v1 %d:2024-01-01..3000-01-01", one))

	// A request counts once: when it comes again, it does not undo later changes through timekeeping.
	_, err := b.upsert(ctx, termsFor(1, []string{"2025-01-01", "3000-01-01"}))
	require.NoError(t, err)
	b.addRequest(t, 1, 2, requestedTerm(one, "2024-06-01", "2024-07-01"))
	require.Eventually(t, func() bool { return heard() == 2 }, 10*time.Second, 5*time.Millisecond, "it changes nothing, and commons is notified all the same")
	assert.Equal(t, fmt.Sprintf("1 v2 %d:2024-01-01..2025-01-01", one), b.onTerm(ctx, t, 1))

	b.addRequest(t, 1, 5, requestedTerm(two, "2024-12-01", "3000-01-01"), requestedTerm(0, "2024-03-01", "2024-04-01"), requestedTerm(9999, "2024-05-01", "2024-06-01"))
	eventually(fmt.Sprintf("1 v3 %d:2024-01-01..2024-03-01 %d:2024-04-01..2024-12-01 %d:2024-12-01..3000-01-01", one, one, two))

	b.addRequest(t, 1, 6, &commonsv1.RequestedTerm{OriginalFrom: "2024-12-01"},
		&commonsv1.RequestedTerm{EmploymentTermId: two, From: "2024-04-15", To: "2024-05-01", OriginalFrom: "2024-04-01"})
	eventually(fmt.Sprintf("1 v4 %d:2024-01-01..2024-03-01 %d:2024-04-15..2024-05-01", one, two))

	// Nobody works under a term after the employment.
	b.publishPerson(t, &commonsv1.PersonState{PersonId: 1, PersonNumber: "P1", Version: 7, Terminated: []*commonsv1.PersonDays{{From: "2026-01-01", To: "3000-01-01"}}})
	require.Eventually(t, func() bool {
		var n int
		require.NoError(t, b.pool.QueryRow(ctx, `SELECT count(*) FROM employee WHERE tenant_id = 1 AND id = 1 AND terminated_from <> '{}'`).Scan(&n))
		return n == 1
	}, 10*time.Second, 5*time.Millisecond)
	b.addRequest(t, 1, 8, requestedTerm(one, "2024-01-01", "3000-01-01"))
	eventually(fmt.Sprintf("1 v5 %d:2024-01-01..2026-01-01", one))
	require.Eventually(t, func() bool { return heard() == 8 }, 10*time.Second, 5*time.Millisecond)
}
