package faults

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// rollingLoad is the minimum time that callers go on.
const rollingLoad = 60 * time.Second

// Every process is ended and started again, one after the other, while callers go on. No request
// fails, and changes that were being applied are completed.
func TestRollingRestart(t *testing.T) {
	w := newFixtureOn(t, launch.DeployedInPairs(t, withSettings()...))
	crew, assigned := w.working(300, first)
	began := time.Now()
	load := w.steadyLoad(crew)
	rounds := byForm(1, 2, 2)
	for round := range rounds {
		applied := w.recreate(crew, assigned.ID, []rotation{second, first}[round%2])
		for _, process := range w.Pairs() {
			w.Services[process].Stop(t)
			w.Start(process)
			w.AwaitReady(t, process)
		}
		w.finish(applied.Propagation, 300)
	}
	restarted := time.Since(began)
	if rounds > 1 {
		<-time.After(rollingLoad - restarted) // The channel is ready at once if the restarts took longer.
	}
	calls := load()
	assert.Greater(t, calls, 100)
	t.Logf("%d processes restarted %d times in %s, %d requests", len(w.Pairs()), rounds, restarted.Round(time.Second), calls)
	w.verify()
}

// steadyLoad begins to read and write; each request must succeed. The returned function ends the
// load, and returns the number of requests.
func (w *fixture) steadyLoad(crew *scenario.Crew) func() int {
	counted := make(chan int)
	end := make(chan struct{})
	calls := []func() error{
		func() error {
			return w.call(http.MethodPost, "/v1/scheduling/schedule/multi_read", scenario.ReadRequest(crew.Persons[:20], lookFrom, lookTo))
		},
		func() error {
			return w.call(http.MethodPost, "/v1/timekeeping/setup/employment_terms", scenario.Object{
				"name": scenario.Unique("T"), "processType": "ENFORCE_END_DATE", "versions": scenario.Object{
					"employmentTermVersion": []scenario.Object{{"startDate": "2000-01-01", "endDate": forever}},
				},
			})
		},
		func() error { return w.call(http.MethodGet, "/v1/scheduling/shift_templates", nil) },
		func() error { return launch.TryLogin(w.t, w.Client, w.Ready) },
	}
	for _, call := range calls {
		go func() {
			n := 0
			for {
				select {
				case <-end:
					counted <- n
					return
				default:
				}
				assert.NoError(w.t, call())
				n++
				time.Sleep(10 * time.Millisecond) // pace the callers
			}
		}()
	}
	return func() int {
		close(end)
		sum := 0
		for range calls {
			sum += <-counted
		}
		return sum
	}
}
