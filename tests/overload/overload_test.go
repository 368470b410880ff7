// Package overload sends more requests than the product can serve, with every program as a process
// of its own. Accepted requests are served soon, the others are refused, and no process fails.
// ROTALOOM_FAULTS=long or ci makes the load last a minute.
package overload

import (
	"context"
	"net/http"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

const (
	slots = 4
	times = 4
	// soon bounds the response time of 99 of 100 accepted requests. Here the load, the product and its
	// database share the processors.
	soon = 5 * time.Second
)

func lasts() time.Duration {
	if form := os.Getenv("ROTALOOM_FAULTS"); form == "long" || form == "ci" {
		return time.Minute
	}
	return 8 * time.Second
}

func TestFourTimesTheCapacity(t *testing.T) {
	w := newFixture(t)
	capacity := w.capacity(2 * time.Second)
	require.Positive(t, capacity)

	ctx, cancel := context.WithCancel(t.Context())
	health := w.watchHealth(ctx)
	var loggedIn atomic.Int64
	go func() {
		for ctx.Err() == nil {
			if launch.LoginWorks(t, w.Client, w.Ready) {
				loggedIn.Add(1)
			}
		}
	}()
	s := w.load(times*capacity, lasts())
	cancel()
	failing := <-health
	began := time.Now()
	assert.Equal(t, http.StatusOK, w.ask(t.Context(), 0).status, "requests succeed as soon as the load ends")
	assert.Less(t, time.Since(began), soon)

	t.Logf("capacity %.0f requests/s; offered %.0f/s, which is %.1f times as many, for %s: accepted %.0f/s with p50 %s and p99 %s; refused %d with 429, %d with 503 (p99 %s); %d log-ins succeeded; %d checks of /livez and /readyz",
		capacity, s.offeredRate(), s.offeredRate()/capacity, s.took.Round(time.Second), s.acceptedRate(), s.quantile(0.5), s.quantile(0.99),
		s.statuses[http.StatusTooManyRequests], s.statuses[http.StatusServiceUnavailable], s.refusedQuantile(0.99), loggedIn.Load(), failing.looks)

	assert.Empty(t, s.wrong, "every response is a success, or a refusal that says when to come again")
	assert.Positive(t, s.statuses[http.StatusServiceUnavailable]+s.statuses[http.StatusTooManyRequests], "there was too much")
	assert.Greater(t, s.acceptedRate(), capacity/10, "work goes on")
	assert.Less(t, s.quantile(0.99), soon)
	assert.Positive(t, loggedIn.Load(), "users can log in")
	assert.Empty(t, failing.what, "health stays green")
	for name, p := range w.Services {
		select {
		case <-p.Exited():
			t.Errorf("%s ended with %d", name, p.ExitCode())
		default:
		}
	}
}

// fixture is the product with employees who work.
type fixture struct {
	*launch.Deployment
	t       *testing.T
	api     scenario.API
	client  *http.Client
	persons []int64
	admin   map[string]string // addresses of /livez, by name of the process
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	// A client may open a connection ahead of a request and then use another one. The header timeout
	// ends the unused connection. A request that is sent on it in that moment is lost, because a POST
	// is not sent twice. Other tests cover that.
	d := launch.Deployed(t, "ROTALOOM_ADMIN_ADDRESS=127.0.0.1:0", "ROTALOOM_THROTTLE=false", "ROTALOOM_HEADER_TIMEOUT=1h",
		"ROTALOOM_MAX_IN_FLIGHT=4", "ROTALOOM_QUEUE_WAIT=500ms")
	w := &fixture{Deployment: d, t: t, api: scenario.API{Target: launch.Login(t, d.Client, d.Ready)}, admin: map[string]string{}}
	transport := d.Client.Transport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = maxOutstanding
	t.Cleanup(transport.CloseIdleConnections)
	w.client = &http.Client{Transport: transport, Timeout: time.Minute}
	for name, p := range d.Services {
		w.admin[name] = adminAddress(t, p)
	}
	crew, err := scenario.NewCrew(t.Context(), w.api, 50, "2026-01-01")
	require.NoError(t, err)
	w.persons = crew.Persons
	pattern := scenario.Pattern("E", map[string]scenario.Object{"E": scenario.Shift("E", "06:00", "14:00", false)})
	a, err := crew.Assign(t.Context(), w.api, pattern, "2026-01-05", "", 0)
	require.NoError(t, err)
	_, err = scenario.Finish(t.Context(), w.api, a.Propagation)
	require.NoError(t, err)
	launch.Await(t, time.Minute, "everybody works", func() bool {
		shifts, err := scenario.ReadShifts(t.Context(), w.api, w.persons, "2026-01-05", "2026-01-05")
		require.NoError(t, err)
		return len(shifts) == len(w.persons)
	})
	return w
}
