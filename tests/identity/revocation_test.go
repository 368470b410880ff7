// Package identity tests log-ins, revocations and keys, with every program as a process of its own.
package identity

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
)

const (
	// effective bounds the time until every service refuses a revoked token.
	effective = time.Second
	// bound is the staleness bound that the test sets.
	bound = 3 * time.Second
	// pause is the time between two checks of a token.
	pause = 5 * time.Millisecond
)

// services has an operation of each service that takes tokens.
var services = map[string]string{
	"commons":     "/v1/commons/persons/1",
	"timekeeping": "/v1/timekeeping/setup/employment_terms",
	"scheduling":  "/v1/scheduling/employment_term_schedule_patterns/builder",
	"platform":    "/v1/platform/rate_limits",
}

type fixture struct {
	*launch.Deployment
	t *testing.T
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	return &fixture{launch.Deployed(t, "ROTALOOM_REVOCATION_STALENESS="+bound.String(), "ROTALOOM_LOG_LEVEL=warn"), t}
}

// post sends a form and returns the JSON object.
func (w *fixture) post(path string, form url.Values) (int, map[string]any) {
	w.t.Helper()
	form.Set("client_id", w.Credentials.ClientID)
	form.Set("client_secret", w.Credentials.ClientSecret)
	response, err := w.Client.PostForm(w.BaseURL+path, form)
	require.NoError(w.t, err)
	defer response.Body.Close()
	var reply map[string]any
	require.NoError(w.t, json.NewDecoder(response.Body).Decode(&reply))
	return response.StatusCode, reply
}

func (w *fixture) login() (access, refresh string) {
	w.t.Helper()
	status, reply := w.post("/api/authentication/access_token", url.Values{
		"grant_type": {"password"}, "auth_chain": {"OAuthLdapService"},
		"username": {w.Credentials.Username}, "password": {w.Credentials.Password},
	})
	require.Equal(w.t, http.StatusOK, status, reply)
	return reply["access_token"].(string), reply["refresh_token"].(string)
}

func (w *fixture) revoke(token string) {
	w.t.Helper()
	status, reply := w.post("/api/authentication/token/revoke", url.Values{"token": {token}})
	require.Equal(w.t, http.StatusOK, status, reply)
}

// call returns the status and the Retry-After of an operation of a service.
func (w *fixture) call(service, token string) (int, string) {
	w.t.Helper()
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.BaseURL+services[service], nil)
	require.NoError(w.t, err)
	request.Header.Set("Authorization", token)
	response, err := w.Client.Do(request)
	require.NoError(w.t, err)
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	require.NoError(w.t, err)
	return response.StatusCode, response.Header.Get("Retry-After")
}

// accepts reports whether a service accepts the token, with any status after that.
func (w *fixture) accepts(service, token string) bool {
	w.t.Helper()
	status, _ := w.call(service, token)
	return status != http.StatusUnauthorized && status != http.StatusServiceUnavailable
}

// refusedAfter returns how long after a moment each service refuses the token.
func (w *fixture) refusedAfter(since time.Time, token string, within time.Duration) map[string]time.Duration {
	w.t.Helper()
	took := map[string]time.Duration{}
	for len(took) < len(services) {
		for name := range services {
			if _, done := took[name]; !done && !w.accepts(name, token) {
				took[name] = time.Since(since)
			}
		}
		require.Less(w.t, time.Since(since), within, "refused by %v only", took)
		time.Sleep(pause) // between two checks
	}
	return took
}

func TestRevocationsHoldEverywhereWithinASecond(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	slowest := map[string][]time.Duration{}
	for range 20 {
		access, refresh := w.login()
		for name := range services {
			require.True(t, w.accepts(name, access), name)
		}
		token := access
		if len(slowest["commons"])%2 == 1 {
			token = refresh
		}
		w.revoke(token)
		for name, took := range w.refusedAfter(time.Now(), access, effective) {
			slowest[name] = append(slowest[name], took)
		}
	}
	for name, took := range slowest {
		slices.Sort(took)
		t.Logf("%s refuses a revoked token after %s (median), %s (slowest of %d)",
			name, took[len(took)/2].Round(time.Microsecond), took[len(took)-1].Round(time.Microsecond), len(took))
	}
}

func TestRevocationsWithoutTheBroker(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	access, _ := w.login()
	kept, _ := w.login()
	for name := range services {
		require.True(t, w.accepts(name, access), name)
	}
	w.StopNATS()
	w.revoke(access)
	for name, took := range w.refusedAfter(time.Now(), access, bound) {
		t.Logf("%s refuses a revoked token %s after the revocation while NATS is away; the bound is %s",
			name, took.Round(time.Millisecond), bound)
	}
	for name := range services {
		assert.True(t, w.accepts(name, kept), "%s still lets others in", name)
	}

	// Without auth, services can no longer tell which tokens are revoked.
	w.Services["auth"].Stop(t)
	stopped := time.Now()
	for name, took := range w.refusedAfter(stopped, kept, bound+2*time.Second) {
		t.Logf("%s refuses all tokens %s after auth is gone, too", name, took.Round(time.Millisecond))
		status, retry := w.call(name, kept)
		assert.Equal(t, http.StatusServiceUnavailable, status, name)
		assert.NotEmpty(t, strings.TrimSpace(retry), name)
		status, _ = w.call(name, access)
		assert.Equal(t, http.StatusUnauthorized, status, "%s: a revoked token stays revoked", name)
	}

	w.StartNATS(t)
	w.Start("auth")
	for name := range services {
		launch.Await(t, time.Minute, name+" lets others in again", func() bool { return w.accepts(name, kept) })
		assert.False(t, w.accepts(name, access), name)
	}
}
