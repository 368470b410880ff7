package faults

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// The database server dies while changes run, and its standby is promoted. Callers are asked to
// retry later. No acknowledged change is lost, and none of our processes needs a restart.
func TestStandbyIsPromoted(t *testing.T) {
	w := newFixtureOn(t, launch.DeployedWithStandby(t, withSettings()...))
	joining := w.crew(50)
	crew, assigned := w.working(shortOrLong(300, 5000), first)
	traffic, terms := w.traffic(crew), w.createTerms()
	applied := w.recreate(crew, assigned.ID, second)
	w.putOnTerm(crew.TermID, joining.Persons)
	before := terms.count()
	launch.Await(t, waitTimeout, "more is written", func() bool { return terms.count() > before })
	w.KillPostgres(t) // while the changes are being propagated

	w.requireUnavailable(crew)
	w.Promote(t)
	promoted := time.Now()
	w.retry("it works again", func() error { return w.call(http.MethodGet, applied.Propagation, nil) })
	t.Logf("it works again %s after the promotion", time.Since(promoted))
	before = terms.count()
	launch.Await(t, waitTimeout, "more is written", func() bool { return terms.count() > before })
	traffic.stop()
	for _, id := range terms.stop() {
		w.retry("a term that was acknowledged is there", func() error {
			return w.call(http.MethodGet, fmt.Sprint("/v1/timekeeping/setup/employment_terms/", id), nil)
		})
	}

	launch.Await(t, waitTimeout, "the change is applied", func() bool { return w.populatedThrough(assigned.ID) == forever })
	w.awaitShifts(second, append(sample(crew.Persons, 50), joining.Persons...))
	w.verify()
	// Each service compares the new database before it goes on, including auth.
	launch.Await(t, waitTimeout, "users log in", func() bool { return launch.LoginWorks(t, w.Client, w.Ready) })
}

// terms creates employment terms one after the other.
type terms struct {
	cancel  context.CancelFunc
	running sync.WaitGroup
	mu      sync.Mutex
	ids     []int64
}

// createTerms begins to create terms, and records the acknowledged ones. Each failed request must
// ask the caller to retry later.
func (w *fixture) createTerms() *terms {
	ctx, cancel := context.WithCancel(w.ctx)
	made := &terms{cancel: cancel}
	w.t.Cleanup(func() { made.stop() })
	made.running.Go(func() {
		pace := time.NewTicker(5 * time.Millisecond) // pace the caller
		defer pace.Stop()
		for ctx.Err() == nil {
			var created struct{ ID int64 }
			_, err := w.api.Call(ctx, http.MethodPost, "/v1/timekeeping/setup/employment_terms", scenario.Object{
				"name": scenario.Unique("T"), "processType": "ENFORCE_END_DATE", "versions": scenario.Object{
					"employmentTermVersion": []scenario.Object{{"startDate": "2000-01-01", "endDate": forever}},
				},
			}, &created)
			switch {
			case err == nil:
				made.add(created.ID)
			case ctx.Err() == nil:
				assert.NoError(w.t, checkRetryLater(err))
			}
			<-pace.C
		}
	})
	return made
}

func (m *terms) add(id int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ids = append(m.ids, id)
}

func (m *terms) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.ids)
}

// stop stops creating terms, and returns the ids of the acknowledged ones.
func (m *terms) stop() []int64 {
	m.cancel()
	m.running.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ids
}
