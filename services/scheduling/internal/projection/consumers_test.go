package projection

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/testkit/bustest"
	"github.com/rotaloom/rotaloom/pkg/testkit/natstest"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// What other services publish arrives in the projections, newest state last,
// whatever the order; a message that cannot be read does not hold up the rest.
func TestConsumersKeepTheProjections(t *testing.T) {
	w := newFixture(t)
	conn := natstest.New(t).Conn()
	b, err := bus.New(bus.Options{
		Conn: conn, DeadLetters: outbox.NewDeadLetters(w.pool), Transient: pgerr.Unavailable,
		Log: pgtest.Log(t), Registry: prometheus.NewRegistry(),
	})
	require.NoError(t, err)
	require.NoError(t, b.EnsureStreams(t.Context()))
	bustest.Publish(t, conn, &commonsv1.PersonsChanged{Persons: []*commonsv1.PersonState{person(7, 2, "P7b"), person(8, 1, "P8")}})
	bustest.Publish(t, conn, &commonsv1.PersonsChanged{Persons: []*commonsv1.PersonState{person(7, 1, "P7a")}})
	broken := person(9, 1, "P9")
	broken.HireDate = "bad"
	bustest.Publish(t, conn, &commonsv1.PersonsChanged{Persons: []*commonsv1.PersonState{broken}})

	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	var consumers []bus.Consumer
	for _, c := range w.copies.All() {
		consumers = append(consumers, c.Consumer())
	}
	go func() { done <- b.Run(ctx, consumers...) }()
	require.Eventually(t, func() bool {
		var people, dead int
		err := w.pool.QueryRow(w.ctx, `SELECT (SELECT count(*) FROM employee), (SELECT count(*) FROM dead_letter)`).Scan(&people, &dead)
		return err == nil && people == 2 && dead == 1
	}, 20*time.Second, 5*time.Millisecond)
	cancel()
	require.NoError(t, <-done)

	found, err := w.EmployeesByList(w.ctx, nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"P7b", "P8"}, numbers(found))
}
