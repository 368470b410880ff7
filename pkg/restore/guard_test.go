package restore_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/testkit/natstest"
)

// wideLeap is more than any test writes: ids that come after a leap are above it.
const wideLeap = 1 << 19

func TestANewInstallationBeginsAtTheFirstId(t *testing.T) {
	t.Parallel()
	f := newFixture(t, natstest.New(t), "one")
	f.start()
	require.NoError(t, f.guard.CheckWrite(t.Context()), "the first write waits for the evidence")
	id, block := f.write(1)
	assert.EqualValues(t, 1, id)
	assert.EqualValues(t, 1024, block)
	assert.Empty(t, f.guard.Notice())
}

func TestARestartLeavesNoIdsOut(t *testing.T) {
	t.Parallel()
	f := newFixture(t, natstest.New(t), "one")
	f.start()
	f.awaitOpen()
	last, _ := f.write(10)
	other := newFixture(t, f.nats, "two")
	other.start()
	other.awaitWitness("one", last)
	f.stop()
	f.start()
	f.awaitOpen()
	id, _ := f.write(1)
	assert.Equal(t, last+1, id)
}

func TestADatabaseThatWentBackIsNoticed(t *testing.T) {
	t.Parallel()
	for name, emptied := range map[string]bool{"by the broker": false, "by a neighbour": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, natstest.New(t), "one")
			neighbour := newFixture(t, f.nats, "two")
			f.start()
			neighbour.start()
			f.awaitOpen()
			f.write(5)
			before := f.save()
			last, _ := f.write(100)
			neighbour.awaitWitness("one", last)
			f.stop()
			f.rewind(before)
			if emptied {
				f.nats.Stop()
				f.nats.Wipe()
				f.nats.Start()
			}
			f.start()
			f.awaitRestored()
			f.stop()
			f.start()
			f.awaitRestored()
			require.NoError(t, neighbour.guard.CheckWrite(t.Context()), "the neighbour goes on")
		})
	}
}

func TestADatabaseThatWentBackWhileItIsUsedIsNoticed(t *testing.T) {
	t.Parallel()
	f := newFixture(t, natstest.New(t), "one")
	f.start()
	f.awaitOpen()
	f.write(1)
	begun, ended := make(chan struct{}), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	finished := make(chan error, 1)
	go func() {
		finished <- f.guard.Pause(func(ctx context.Context) error {
			close(begun)
			<-ctx.Done()
			close(ended)
			return nil
		})(ctx)
	}()
	<-begun
	before := f.save()
	f.write(100)
	require.Eventually(t, func() bool { return f.save().progress > before.progress }, waitTimeout, 5*time.Millisecond)
	f.rewind(before)
	f.awaitRestored()
	<-ended
	cancel()
	require.NoError(t, <-finished)
}

func TestWithoutMarksThePlaceDecides(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sql      string
		restored bool
	}{
		"in the same place":          {"SELECT 1", false},
		"on another timeline":        {"UPDATE restore_state SET timeline = 'before'", true},
		"as a copy":                  {"UPDATE restore_state SET place = 'elsewhere'", true},
		"of an older program's dump": {"UPDATE restore_state SET place = '', timeline = '', fresh = false", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, natstest.New(t), "one")
			f.start()
			f.awaitOpen()
			last, block := f.write(10)
			f.stop()
			f.exec(c.sql)
			f.nats.Stop()
			f.nats.Wipe()
			f.nats.Start()
			f.start()
			if c.restored {
				f.awaitRestored()
				return
			}
			f.awaitOpen()
			id, next := f.write(1)
			assert.Greater(t, id, last+wideLeap)
			assert.Greater(t, next, block+1<<23)
			assert.Zero(t, next%1024, "blocks begin where they did")
		})
	}
}

func TestAMoveWithoutALossLeavesTheLastIdsOut(t *testing.T) {
	t.Parallel()
	f := newFixture(t, natstest.New(t), "one")
	f.start()
	f.awaitOpen()
	last, _ := f.write(10)
	before := f.save()
	require.Eventually(t, func() bool { return f.save().progress > before.progress }, waitTimeout, 5*time.Millisecond)
	f.stop()
	f.exec("UPDATE restore_state SET timeline = 'before'")
	f.start()
	f.awaitOpen()
	id, _ := f.write(1)
	assert.Greater(t, id, last+1000)
	assert.Less(t, id, last+wideLeap)
}

func TestABrokerThatIsAwayStopsNoWritesForLong(t *testing.T) {
	t.Parallel()
	f := newFixture(t, natstest.New(t), "one")
	f.start()
	f.awaitOpen()
	last, _ := f.write(10)
	before := f.save()
	f.stop()
	conn := f.nats.Conn()
	f.nats.Stop()
	f.startOn(conn)
	f.awaitOpen()
	id, _ := f.write(1)
	assert.Greater(t, id, last+wideLeap)

	// The broker comes back without events that the database lacks.
	f.nats.Start()
	require.Eventually(t, func() bool { return f.save().progress > before.progress+1 }, waitTimeout, 5*time.Millisecond)
	require.NoError(t, f.guard.CheckWrite(t.Context()))
}
