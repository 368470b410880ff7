package timekeeping_test

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/testkit/bustest"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// run runs the parts of the service until the test ends.
func (b *fixture) run(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 2)
	go func() { done <- b.service.Run(ctx) }()
	go func() { done <- b.service.Relay(ctx) }()
	t.Cleanup(func() {
		stop()
		for range 2 {
			if err := <-done; err != nil {
				assert.ErrorIs(t, err, context.Canceled)
			}
		}
	})
}

func TestPersonsFollowEvents(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.run(t)
	ctx := inTenant(t, 1)
	publish := func(version int64, number string) {
		t.Helper()
		bustest.Publish(t, b.nats.Conn(), &commonsv1.PersonsChanged{Persons: []*commonsv1.PersonState{
			{PersonId: 500, PersonNumber: number, Version: version},
		}})
	}
	number := func() string {
		var found string
		err := b.pool.QueryRow(ctx, `SELECT coalesce(max(person_number), '') FROM person WHERE tenant_id = 1 AND id = 500`).Scan(&found)
		require.NoError(t, err)
		return found
	}
	eventually := func(want string) {
		require.Eventually(t, func() bool { return number() == want }, 10*time.Second, 5*time.Millisecond)
	}
	publish(2, "second")
	eventually("second")
	publish(1, "first")
	publish(2, "second, again")
	publish(3, "third")
	eventually("third")

	read, err := b.assignments.GetEmploymentTermAssignments(ctx, &timekeepingv1.GetEmploymentTermAssignmentsRequest{PersonId: 500})
	require.NoError(t, err)
	assert.Equal(t, "third", read.GetPersonIdentity().GetPersonNumber())
	assert.Zero(t, b.commons.requests.Load(), "the projection knew them")
}

func TestEventsReachTheBroker(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.run(t)
	ctx := inTenant(t, 1)
	term := b.createTerm(t, ctx, "Term")
	_, err := b.upsert(ctx, of(1, nil, on(term, "2024-01-01", "2025-01-01")))
	require.NoError(t, err)
	js, err := jetstream.New(b.nats.Conn())
	require.NoError(t, err)
	for _, subject := range []string{"rotaloom.timekeeping.employment_term.changed", "rotaloom.timekeeping.membership.changed"} {
		t.Run(subject, func(t *testing.T) {
			require.Eventually(t, func() bool {
				stream, err := js.Stream(t.Context(), "TIMEKEEPING")
				if err != nil {
					return false
				}
				message, err := stream.GetLastMsgForSubject(t.Context(), subject)
				return err == nil && message.Header.Get(bus.HeaderTenant) == "1"
			}, 10*time.Second, 10*time.Millisecond, subject)
		})
	}
}
