package replica_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	replicationv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/replication/v1"
)

// The copy finds states that were never published at its start, and repairs them, for every tenant,
// also if they need several requests and responses.
func TestMissingStatesAreFoundAndRepaired(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.change(1, true, ids(1, 20_000)...)
	w.change(2, true, ids(5, 9)...)
	w.change(2, false, ids(7, 12)...)
	w.serve(time.Hour)
	w.equal()
}

func TestLaterLossesAreFoundRegularly(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.change(1, false, ids(1, 50)...)
	w.serve(200 * time.Millisecond)
	w.equal()

	w.change(1, true, 3, 4, 60)
	w.equal()

	// A deletion was not published.
	w.exec(`DELETE FROM thing WHERE id IN (7, 50)`)
	w.equal()
	// A thing that is created again later is not taken for an old state.
	w.change(1, true, 7)
	w.equal()
}

// The owner's database is restored. The copy deletes the things that the owner no longer has, and
// receives later changes of the owner.
func TestOwnerIsRestoredFromABackup(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.change(1, false, ids(1, 20)...)
	w.serve(200 * time.Millisecond)
	w.equal()
	w.exec(`CREATE TABLE backup AS SELECT * FROM thing`)
	for range 5 {
		w.change(1, false, ids(10, 30)...)
	}
	w.equal()

	w.exec(`DELETE FROM thing`)
	w.exec(`INSERT INTO thing SELECT * FROM backup`)
	w.equal()
	w.change(1, false, ids(15, 25)...)
	w.equal()
}

// The broker loses all its data, and the owner does not publish the changes again.
func TestBrokerLosesUnrepeatedChanges(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.change(1, false, ids(1, 10)...)
	w.serve(time.Hour)
	w.equal()

	w.change(1, true, ids(8, 15)...) // As if it had been in the broker only.
	w.server.Stop()
	w.server.Wipe()
	w.server.Start()
	w.equal()
}

func TestOperatorsAskForABackfill(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.change(1, false, ids(1, 400)...)
	w.serve(time.Hour)
	w.equal()
	// The versions say that all is well.
	w.exec(`DELETE FROM copy WHERE id > 100`)
	w.exec(`UPDATE copy SET value = 0 WHERE id = 1`)
	require.NoError(t, replica.Backfill(tenant.With(t.Context(), 1), w.pool, "things"))
	w.equal()

	require.Eventually(t, func() bool {
		var open int
		err := w.pool.QueryRow(tenant.All(t.Context()), `SELECT count(*) FROM replica_gap`).Scan(&open)
		return err == nil && open == 0
	}, waitTimeout, 20*time.Millisecond, "nothing is asked for for ever")
}

// A state that an owner has not published stays a gap, also if an older state arrives during the
// request.
func TestGapsThatTheOwnerDoesNotFillStay(t *testing.T) {
	t.Parallel()
	refusal, err := proto.Marshal(&replicationv1.BackfillResponse{Error: "no"})
	require.NoError(t, err)
	for name, response := range map[string][]byte{"refused": refusal, "not understood": []byte("?")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t)
			known := announce(things, thing{id: 1, version: 1, value: 1})
			require.NoError(t, deliver(t, w.copied, 1, known))
			requests := make(chan *nats.Msg, 100)
			subscription, err := w.conn.ChanSubscribe("rotaloom_replica.test.things.backfill", requests)
			require.NoError(t, err)
			t.Cleanup(func() { _ = subscription.Unsubscribe() })
			require.NoError(t, replica.Backfill(tenant.With(t.Context(), 1), w.pool, "things"))
			_, err = w.pool.Exec(tenant.With(t.Context(), 1), `DELETE FROM replica_gap WHERE key = 0`) // Not a comparison too.
			require.NoError(t, err)
			r, err := replica.NewReplicator(replica.Options{
				Pool: w.pool, Bus: w.bus, Log: pgtest.Log(t), Registry: prometheus.NewRegistry(),
			}, []*replica.Replica{w.copied}, nil)
			require.NoError(t, err)
			w.run(r.Run)
			request := <-requests
			require.NoError(t, deliver(t, w.copied, 1, known))
			require.NotContains(t, countGaps(t, w.pool, 1), int64(1), "it was asked for")
			require.NoError(t, request.Respond(response))
			require.Eventually(t, func() bool { return slices.Contains(countGaps(t, w.pool, 1), 1) }, waitTimeout, 10*time.Millisecond)
		})
	}
}

// A gap is due within an hour. A clock that was ahead leaves a later time, which counts for
// nothing.
func TestGapsFromAClockThatWasAheadAreDue(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.change(1, false, ids(1, 3)...)
	_, err := w.pool.Exec(tenant.With(t.Context(), 1), `INSERT INTO replica_gap (tenant_id, topic, key, due_at)
		VALUES (1, 'things', 2, clock_timestamp() + interval '60 days')`)
	require.NoError(t, err)
	w.serve(time.Hour)
	require.Eventually(t, func() bool { return len(countGaps(t, w.pool, 1)) == 0 }, waitTimeout, 10*time.Millisecond)
	w.equal()
}

// Operators' commands that reach both databases need no broker.
func TestCountDifferencesFromReadsTheOwnersDatabase(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.change(1, false, ids(1, 10)...)
	count := func(tenantID int64) int {
		n, err := w.copied.CountDifferencesFrom(tenant.With(t.Context(), tenantID), thingTopic(), w.pool, 20*time.Millisecond)
		require.NoError(t, err)
		return n
	}
	assert.Equal(t, 10, count(1), "nothing has come")
	assert.Zero(t, count(2))
	assert.Equal(t, 10, w.differing(), "it changes nothing")
	w.serve(time.Hour)
	w.equal()
	assert.Zero(t, count(1))
}

func TestCountDifferencesComparesAndChangesNothing(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.change(1, false, ids(1, 10)...)
	w.serve(time.Hour)
	w.equal()
	missing := func() int {
		n, err := w.copied.CountDifferences(tenant.With(t.Context(), 1), w.bus, 20*time.Millisecond)
		require.NoError(t, err)
		return n
	}
	assert.Zero(t, missing())
	w.change(1, true, 2, 11)
	w.exec(`DELETE FROM thing WHERE id = 5`)
	assert.Equal(t, 3, missing())
	assert.Equal(t, 3, missing())
	assert.Equal(t, 3, w.differing())
}

// Many keys are compared by digests of pages; one that differs is found in them.
func TestManyKeysCompareCheaply(t *testing.T) {
	t.Parallel()
	const many = 200_000
	w := newFixture(t)
	w.serve(time.Hour)
	w.exec(`INSERT INTO thing SELECT 1, id, id % 7 + 1, id FROM generate_series(1, $1::int) AS id`, many)
	w.exec(`INSERT INTO copy SELECT tenant_id, id, value FROM thing`)
	_, err := w.pool.Exec(tenant.With(t.Context(), 1), `INSERT INTO replica_head SELECT tenant_id, 'things', id, version, version, false FROM thing`)
	require.NoError(t, err)
	w.exec(`UPDATE thing SET version = version + 1 WHERE id = 123456`)
	began := time.Now()
	n, err := w.copied.CountDifferences(tenant.With(t.Context(), 1), w.bus, time.Millisecond)
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	t.Logf("%d keys were compared in %s", many, time.Since(began))
}

// An event that its consumer gave up leaves a gap like a lost event.
func TestDeadLettersAreRepaired(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.exec(`ALTER TABLE copy ADD CONSTRAINT never CHECK (id <> 7)`)
	var given atomic.Bool
	w.copied = refusing(w.pool, func(err error) error {
		given.Store(true)
		return bus.Permanent(err)
	})
	w.change(1, false, ids(5, 9)...)
	w.serve(200 * time.Millisecond)
	require.Eventually(t, given.Load, waitTimeout, 10*time.Millisecond)
	w.exec(`ALTER TABLE copy DROP CONSTRAINT never`)
	w.equal()
	var dead int
	require.NoError(t, w.pool.QueryRow(tenant.All(t.Context()), `SELECT count(*) FROM dead_letter`).Scan(&dead))
	assert.Positive(t, dead)
}

// An operator follows a backfill, from before anybody serves until nothing is missing.
func TestABackfillIsFollowed(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.change(1, true, ids(1, 300)...)
	var kept []thing
	for _, id := range ids(1, 300) {
		kept = append(kept, thing{id: id, version: 1, value: 1})
	}
	require.NoError(t, deliver(t, w.copied, 1, announce(things, kept...)))

	printed, out := io.Pipe()
	command := replica.BackfillCommand{Topics: []string{"things"}, Tenant: 1, Follow: true}
	w.run(func(context.Context) error {
		return errors.Join(command.Do(t.Context(), w.pool.Config(), []*replica.Replica{w.copied}, pgtest.Log(t), out), out.Close())
	})
	lines := bufio.NewScanner(printed)
	for _, line := range []string{"tenant 1: the service requests things within seconds", "tenant 1: still missing: things 300"} {
		require.True(t, lines.Scan(), line)
		require.Equal(t, line, lines.Text())
	}
	w.serve(time.Hour)
	last := ""
	for lines.Scan() {
		last = lines.Text()
	}
	require.Equal(t, "tenant 1: nothing is missing", last)
	require.Zero(t, w.differing())
}
