package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/contract"
	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

const builder = patterns + "/builder" // needs no database

// While the database is away, callers are asked to retry later. No accepted change is lost, and
// none of our processes needs a restart.
func TestDatabaseIsAway(t *testing.T) {
	w := newFixture(t)
	joining := w.crew(50)
	crew, assigned := w.working(500, first)
	rotations := []rotation{second, first}
	for round := range shortOrLong(2, 10) {
		r := rotations[round%2]
		traffic := w.traffic(crew)
		applied := w.recreate(crew, assigned.ID, r)
		if round == 0 {
			w.putOnTerm(crew.TermID, joining.Persons)
		}
		w.StopPostgres(t) // while the change is being propagated

		w.requireUnavailable(crew)
		require.NoError(t, w.call(http.MethodGet, builder, nil), "a token is verified without the database")
		w.StartPostgres(t)
		w.retry("it works again", func() error { return w.call(http.MethodGet, applied.Propagation, nil) })
		traffic.stop()

		launch.Await(t, waitTimeout, "the change is applied", func() bool { return w.populatedThrough(assigned.ID) == forever })
		w.awaitShifts(r, append(sample(crew.Persons, 50), joining.Persons...))
		w.verify()
		require.True(t, launch.LoginWorks(t, w.Client, w.Ready))
	}
}

// requireUnavailable asks every service for data that only the database has.
func (w *fixture) requireUnavailable(crew *scenario.Crew) {
	w.t.Helper()
	person := scenario.Object{"personInformation": scenario.Object{"person": scenario.Object{
		"personNumber": scenario.Unique("P"), "firstName": "A", "lastName": "B", "hireDate": hired,
	}}}
	for _, c := range []struct {
		method, path string
		body         any
	}{
		{http.MethodPost, "/v1/commons/persons", person},
		{http.MethodPost, "/v1/commons/persons/multi_create", []scenario.Object{person}},
		{http.MethodGet, fmt.Sprint("/v1/timekeeping/setup/employment_terms/", crew.TermID), nil},
		{http.MethodPost, "/v1/timekeeping/setup/employment_terms", scenario.Object{
			"name":        scenario.Unique("T"),
			"processType": "ENFORCE_END_DATE", "versions": scenario.Object{
				"employmentTermVersion": []scenario.Object{{"startDate": "2000-01-01", "endDate": forever}},
			},
		}},
		{http.MethodPost, "/v1/scheduling/schedule/multi_read", scenario.ReadRequest(crew.Persons[:1], lookFrom, lookTo)},
		{http.MethodGet, "/v1/scheduling/shift_templates", nil},
		{http.MethodPost, patterns + "/apply_create", applyCreate(crew)},
	} {
		err := w.call(c.method, c.path, c.body)
		require.Error(w.t, err, c.path)
		require.NoError(w.t, checkRetryLater(err))
	}
	w.requireLoginUnavailable()
}

func applyCreate(crew *scenario.Crew) scenario.Object {
	return scenario.Object{"groupSchedulePatterns": scenario.Object{"do": scenario.Object{
		"groupSchedulePatternCreates": []scenario.Object{{"override": true, "groupSchedulePattern": scenario.Object{
			"groupRef": scenario.Object{"id": crew.TermID}, "startDate": monday, "schedulePattern": first.pattern(),
		}}},
	}}}
}

// requireLoginUnavailable requires that a log-in fails with an OAuth error, because it needs the
// database.
func (w *fixture) requireLoginUnavailable() {
	w.t.Helper()
	target := contract.Target{BaseURL: w.BaseURL, Client: w.Client, Values: map[string]string{
		"username": w.Credentials.Username, "password": w.Credentials.Password,
		"client_id": w.Credentials.ClientID, "client_secret": w.Credentials.ClientSecret,
	}}
	_, err := contract.Login(w.ctx, target)
	require.ErrorContains(w.t, err, "returned 503")
	require.ErrorContains(w.t, err, `"error":"temporarily_unavailable"`)
}

func (w *fixture) call(method, path string, body any) error {
	_, err := w.api.Call(w.ctx, method, path, body, nil)
	return err
}

// checkRetryLater returns an error unless the response asks the caller to retry later.
func checkRetryLater(err error) error {
	var refused *scenario.Refused
	if !errors.As(err, &refused) || refused.Status != http.StatusServiceUnavailable {
		return err
	}
	if seconds, bad := strconv.Atoi(refused.Header.Get("Retry-After")); bad != nil || seconds < 1 {
		return fmt.Errorf("Retry-After is %q: %w", refused.Header.Get("Retry-After"), err)
	}
	var body struct{ ErrorCode, Message string }
	if bad := json.NewDecoder(bytes.NewReader(refused.Body)).Decode(&body); bad != nil || body.ErrorCode == "" || body.Message == "" {
		return fmt.Errorf("the body is not an error: %w", err)
	}
	return nil
}

// traffic holds callers that go on after errors.
type traffic struct {
	cancel  context.CancelFunc
	callers sync.WaitGroup
}

// traffic begins to read and write. Each failed request must ask the caller to retry later.
func (w *fixture) traffic(crew *scenario.Crew) *traffic {
	ctx, cancel := context.WithCancel(w.ctx)
	running := &traffic{cancel: cancel}
	w.t.Cleanup(running.stop)
	read := scenario.ReadRequest(crew.Persons[:20], lookFrom, lookTo)
	for _, call := range []func() error{
		func() error {
			_, err := w.api.Call(ctx, http.MethodPost, "/v1/scheduling/schedule/multi_read", read, nil)
			return err
		},
		func() error {
			return scenario.PutOnTerm(ctx, w.api, crew.TermID, crew.Persons[:5], hired, forever)
		},
		func() error {
			_, err := w.api.Call(ctx, http.MethodGet, "/v1/scheduling/shift_templates", nil, nil)
			return err
		},
	} {
		running.callers.Go(func() {
			for ctx.Err() == nil {
				if err := call(); err != nil && ctx.Err() == nil {
					assert.NoError(w.t, checkRetryLater(err))
				}
				time.Sleep(5 * time.Millisecond) // pace the callers
			}
		})
	}
	return running
}

func (r *traffic) stop() {
	r.cancel()
	r.callers.Wait()
}
