package faults

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

const (
	// hireClients is the number of clients that hire at the same time.
	hireClients = 4
	// scarcePositions is the number of positions of the opportunity that has more applications.
	scarcePositions = 5
)

// Recruiting, commons and timekeeping are killed at random moments while clients hire candidates. A hire that a
// client began is completed, also without the client: each hired application has one person, and no application
// that is not hired has one.
func TestHiresAreKilled(t *testing.T) {
	w := newHires(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	var clients errgroup.Group
	for client := range hireClients {
		own := rand.New(rand.NewPCG(seed, uint64(client+1)))
		clients.Go(func() error { return w.hireUntilStopped(client, own) })
	}

	kills, hits := byForm(6, 20, 100), 0
	for round := 0; hits < kills; round++ {
		require.Less(t, round, 6*kills, "the moments are never while a hire is going on")
		name := []string{"recruiting", "commons", "timekeeping"}[round%3]
		before := w.countHires("STARTED")
		time.Sleep(100*time.Millisecond + time.Duration(random.Int64N(int64(time.Second)))) // until the crash
		w.Services[name].Kill(t)
		if w.countHires("STARTED") > before || name == "timekeeping" {
			hits++
		}
		time.Sleep(time.Duration(random.Int64N(int64(200 * time.Millisecond)))) // the time without the process
		w.Start(name)
	}
	w.stop.Store(true)
	require.NoError(t, clients.Wait())
	interrupted := w.countHires("STARTED")
	launch.Await(t, waitTimeout, "no hire is half done", func() bool { return w.countHires("STARTED") == 0 })
	w.retryInterrupted()
	w.requireHired()
	t.Logf("%d applications, %d hires; %d were half done after the last kill", len(w.applicants), w.countHires("DONE"), interrupted)
}

// countHires counts the hires in a state.
func (w *hires) countHires(state string) (n int) {
	w.t.Helper()
	w.read("recruiting", fmt.Sprintf(`SELECT count(*) FROM hire WHERE state = '%s'`, state), &n)
	return n
}

// retryInterrupted repeats the hires without a known result.
func (w *hires) retryInterrupted() {
	w.t.Helper()
	for _, a := range w.applicants {
		launch.Await(w.t, waitTimeout, "the result of "+a.email, func() bool {
			require.NoError(w.t, w.hire(a))
			return a.result != ""
		})
	}
}

// requireHired compares the applications and the persons with the results that the clients received.
func (w *hires) requireHired() {
	w.t.Helper()
	require.Zero(w.t, w.countHires("FAILED"))
	var persons map[string][]int64
	w.read("commons", `SELECT coalesce(jsonb_object_agg(address, ids), '{}') FROM
		(SELECT address, jsonb_agg(person_id) AS ids FROM email_address GROUP BY address) AS mails`, &persons)
	var numbered int
	w.read("commons", `SELECT count(*) FROM person WHERE person_number ~ '^H[0-9]{8}$'`, &numbered)
	var working, idle []int64
	hired := map[string]int32{}
	for _, a := range w.applicants {
		require.Equal(w.t, a.result == hiredOnce, w.isProcessed(a), a.email)
		ids := persons[a.email]
		if a.result != hiredOnce {
			require.Empty(w.t, ids, "%s is not hired", a.email)
			continue
		}
		require.Len(w.t, ids, 1, "%s is one person", a.email)
		hired[a.opportunity]++
		if a.term == "" {
			idle = append(idle, ids...)
		} else {
			working = append(working, ids...)
		}
		again, err := w.try(http.MethodPost, "applications/"+a.application+"/hire", hireRequest(a), nil)
		require.NoError(w.t, err)
		require.Equal(w.t, codeHired, again, "a second hire of %s", a.email)
	}
	assert.Equal(w.t, len(working)+len(idle), numbered, "no other person was created")
	assert.EqualValues(w.t, scarcePositions, hired[w.scarce], "all positions are filled, none twice")
	for _, id := range []string{w.scarce, w.plenty} {
		var opportunity struct {
			HeadCount struct{ Hired int32 } `json:"head_count"`
		}
		_, err := w.api.Call(w.ctx, http.MethodGet, recruiting+"opportunities/"+id, nil, &opportunity)
		require.NoError(w.t, err)
		assert.Equal(w.t, hired[id], opportunity.HeadCount.Hired)
	}
	require.NotEmpty(w.t, working)
	for some := range slices.Chunk(working, 100) {
		w.awaitShifts(first, some)
	}
	for some := range slices.Chunk(idle, 100) {
		w.requireShifts(rotation{cycle: "-"}, some)
	}
	w.verify()
}

// isProcessed reports whether an application is hired. It requires that the candidate has no other application.
func (w *hires) isProcessed(a *applicant) bool {
	w.t.Helper()
	var candidates []struct{ ID string }
	_, err := w.api.Call(w.ctx, http.MethodPost, recruiting+"candidates-lookup", scenario.Object{"email": a.email}, &candidates)
	require.NoError(w.t, err)
	require.Len(w.t, candidates, 1)
	var applications []struct {
		ID          string
		IsProcessed bool `json:"is_processed"`
		Step        struct{ Name string }
	}
	_, err = w.api.Call(w.ctx, http.MethodGet, recruiting+"applications/candidate/"+candidates[0].ID, nil, &applications)
	require.NoError(w.t, err)
	require.Len(w.t, applications, 1, "%s applied once", a.email)
	require.Equal(w.t, a.application, applications[0].ID)
	require.Equal(w.t, applications[0].IsProcessed, applications[0].Step.Name == "Hired", "an application moves to the last step when it is hired")
	return applications[0].IsProcessed
}
