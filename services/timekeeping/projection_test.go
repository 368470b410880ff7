package timekeeping_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/testkit/bustest"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
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
}
