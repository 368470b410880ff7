package refusal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// store keeps refusals in memory.
type store struct {
	mu    sync.Mutex
	err   error
	kept  []Refusal
	calls int
}

func (s *store) keep(ctx context.Context, refusals []*Refusal) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	id, _ := tenant.From(ctx)
	for _, r := range refusals {
		if id != r.Tenant {
			return fmt.Errorf("refusals of tenant %d for %d", r.Tenant, id)
		}
	}
	if s.err != nil {
		return s.err
	}
	for _, r := range refusals {
		s.kept = append(s.kept, *r)
	}
	return nil
}

func (s *store) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

// run starts a Gatherer. Ending it waits until it has stopped.
func run(t *testing.T, s *store) (g *Gatherer, end func()) {
	t.Helper()
	g, err := New(s.keep, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- g.Run(ctx) }()
	return g, func() {
		cancel()
		assert.NoError(t, <-ended)
	}
}

var ada = Kind{Tenant: 7, User: "ada", Client: "web", Operation: "s/M", Outcome: "WFP-90012"}

func TestRefusalsOfOneKindShareAnEntry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &store{}
		g, end := run(t, s)
		began := time.Now()
		for i := range 1000 {
			g.Add(ada, 11, fmt.Sprint("request-", i), time.Now())
			time.Sleep(time.Millisecond)
		}
		eve := ada
		eve.User = "eve"
		g.Add(eve, 12, "request-eve", time.Now())
		time.Sleep(window)
		synctest.Wait()
		assert.ElementsMatch(t, []Refusal{
			{ada, 11, "request-0", began, began.Add(999 * time.Millisecond), 1000},
			{eve, 12, "request-eve", began.Add(time.Second), began.Add(time.Second), 1},
		}, s.kept)
		assert.Equal(t, 1, s.calls, "one write for both")

		g.Add(ada, 11, "last", time.Now())
		end()
		require.Len(t, s.kept, 3, "what is left is kept when the program stops")
		assert.Equal(t, "last", s.kept[2].RequestID)
		assert.Zero(t, testutil.ToFloat64(g.lost))
	})
}

func TestNobodyTakesThePlacesOfOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &store{}
		g, end := run(t, s)
		flood := ada
		for i := range 10 * maxKinds {
			flood.Operation = fmt.Sprint("operation ", i)
			g.Add(flood, 0, "", time.Now())
		}
		other := ada
		other.Tenant = 8
		g.Add(other, 0, "", time.Now())
		nobody := ada
		nobody.Tenant = 0
		g.Add(nobody, 0, "", time.Now())
		end()
		assert.Len(t, s.kept, perTenant+1)
		assert.EqualValues(t, 10*maxKinds-perTenant, testutil.ToFloat64(g.lost))

		for i := range 2 * maxKinds {
			g.Add(Kind{Tenant: int64(i + 1)}, 0, "", time.Now())
		}
		assert.Len(t, g.held, maxKinds, "all tenants together")
	})
}

func TestWhatCannotBeKeptIsTriedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &store{}
		g, end := run(t, s)
		s.fail(errors.New("away"))
		first := time.Now()
		g.Add(ada, 11, "request-1", first)
		time.Sleep(window + time.Second)
		second := time.Now()
		g.Add(ada, 11, "request-2", second)
		s.fail(nil)
		time.Sleep(window)
		synctest.Wait()
		assert.Equal(t, []Refusal{{ada, 11, "request-1", first, second, 2}}, s.kept)

		s.fail(errors.New("away"))
		g.Add(ada, 11, "request-3", time.Now())
		end()
		assert.EqualValues(t, 1, testutil.ToFloat64(g.lost), "nobody will try again")
	})
}
