package denial

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
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

// store keeps denials in memory.
type store struct {
	mu     sync.Mutex
	err    error
	stored []Denial
	calls  int
	log    strings.Builder
}

// Write takes lines of the log.
func (s *store) Write(line []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.Write(line)
}

// takeLog returns the log lines since its last call.
func (s *store) takeLog() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.log.Reset()
	return s.log.String()
}

func (s *store) store(ctx context.Context, denials []*Denial) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	id, _ := tenant.From(ctx)
	for _, r := range denials {
		if id != r.Tenant {
			return fmt.Errorf("denials of tenant %d for %d", r.Tenant, id)
		}
	}
	if s.err != nil {
		return s.err
	}
	for _, r := range denials {
		s.stored = append(s.stored, *r)
	}
	return nil
}

func (s *store) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

// run starts a Aggregator. Ending it waits until it has stopped.
func run(t *testing.T, s *store) (g *Aggregator, end func()) {
	t.Helper()
	g, err := New(s.store, slog.New(slog.NewTextHandler(s, nil)), prometheus.NewRegistry())
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
		assert.ElementsMatch(t, []Denial{
			{ada, 11, "request-0", began, began.Add(999 * time.Millisecond), 1000},
			{eve, 12, "request-eve", began.Add(time.Second), began.Add(time.Second), 1},
		}, s.stored)
		assert.Equal(t, 1, s.calls, "one write for both")

		g.Add(ada, 11, "last", time.Now())
		end()
		require.Len(t, s.stored, 3, "what is left is kept when the program stops")
		assert.Equal(t, "last", s.stored[2].RequestID)
		assert.Zero(t, testutil.ToFloat64(g.lost))
	})
}

// countStored returns how many requests were kept of a user of a tenant.
func (s *store) countStored(tenant int64, user string) (kinds int, times int64) {
	for _, r := range s.stored {
		if r.Tenant == tenant && r.User == user {
			kinds, times = kinds+1, times+r.Times
		}
	}
	return kinds, times
}

// One user floods with kinds, then many of a tenant do. The others are kept, and
// the flood is counted.
func TestAFloodDoesNotReplaceOtherDenials(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &store{}
		g, end := run(t, s)
		const n = 10 * maxKinds
		flood := ada
		for i := range n {
			flood.Operation = fmt.Sprint("operation ", i)
			g.Add(flood, 11, "", time.Now())
		}
		eve := ada
		eve.User = "eve"
		g.Add(eve, 12, "", time.Now())
		for i := range n {
			g.Add(Kind{Tenant: 8, User: fmt.Sprint("user ", i), Outcome: "no"}, 1, "", time.Now())
		}
		g.Add(Kind{Outcome: "no"}, 0, "", time.Now()) // Nobody's.
		end()
		kinds, times := s.countStored(7, "ada")
		assert.Equal(t, perUser+1, kinds)
		assert.EqualValues(t, n, times)
		kinds, _ = s.countStored(7, "eve")
		assert.Equal(t, 1, kinds)
		assert.Contains(t, s.stored, Denial{Kind: Kind{Tenant: 8, Outcome: Further}, First: time.Now(), Last: time.Now(), Times: n - perTenant})
		assert.Len(t, s.stored, perUser+1+1+perTenant+1)
		assert.Zero(t, testutil.ToFloat64(g.lost))
	})
}

func TestFloodedTenantsLeaveRoomForOthers(t *testing.T) {
	t.Parallel()
	g, err := New((&store{}).store, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	require.NoError(t, err)
	for i := range 100 * perTenant {
		g.Add(Kind{Tenant: int64(i%100 + 1), User: fmt.Sprint(i)}, 0, "", time.Now())
	}
	other := ada
	other.Tenant = 1000
	g.Add(other, 11, "", time.Now())
	assert.NotNil(t, g.held[other], "%d are held", len(g.held))
	for i := range 4 * maxKinds {
		g.Add(Kind{Tenant: int64(i + 1)}, 0, "", time.Now())
	}
	assert.LessOrEqual(t, len(g.held), 2*maxKinds, "all tenants together")
	assert.Positive(t, testutil.ToFloat64(g.lost))
}

// A row that cannot be stored would be retried forever, together with all other rows of its tenant.
func TestTextsCanBeStored(t *testing.T) {
	t.Parallel()
	g, err := New((&store{}).store, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	require.NoError(t, err)
	g.Add(Kind{Tenant: 1, User: "a\x00\n\xff", Client: strings.Repeat("\x01", 5000), Operation: "Zoë"}, 0, "r\x00", time.Now())
	for _, r := range g.held {
		assert.Equal(t, "a\ufffd\ufffd", r.User)
		assert.Equal(t, strings.Repeat("\ufffd", maxText/3), r.Client)
		assert.Equal(t, "Zoë", r.Operation)
		assert.Equal(t, "r\ufffd", r.RequestID)
	}
	assert.Len(t, g.held, 1)
}

func TestFailedStoresAreRetried(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &store{}
		g, end := run(t, s)
		s.fail(errors.New("away"))
		first := time.Now()
		g.Add(ada, 11, "request-1", first)
		time.Sleep(window + time.Second)
		assert.Contains(t, s.takeLog(), "error=away")
		second := time.Now()
		g.Add(ada, 11, "request-2", second)
		s.fail(nil)
		time.Sleep(window)
		synctest.Wait()
		assert.Equal(t, []Denial{{ada, 11, "request-1", first, second, 2}}, s.stored)
		assert.Empty(t, s.takeLog())

		s.fail(errors.New("away"))
		g.Add(ada, 11, "request-3", time.Now())
		end()
		assert.EqualValues(t, 1, testutil.ToFloat64(g.lost), "nobody will try again")
	})
}
