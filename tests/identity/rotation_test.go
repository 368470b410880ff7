package identity

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/rotaloom/rotaloom/tests/launch"
)

// These lives are short enough to watch keys rotate. An installation uses longer ones in the same
// ratios.
const (
	keySetLife = 2 * time.Second
	tokenLife  = 8 * time.Second
	keyLife    = 24 * time.Second
	// rotates is the length of the test.
	rotates = 70 * time.Second
	// Tokens with less than this time left are not presented: they could end on the way.
	ending = 2 * time.Second
	// every is the pause between two rounds of a caller.
	every = 200 * time.Millisecond
)

// Signing keys change, by schedule and on an operator's command, and no token is refused before it
// ends. There are two auth processes, each behind its own edge. The tokens of one process are
// verified by the other's edge, and by services that ask the first process for keys. At the same
// time, a caller presents tokens of unknown keys, which must not keep services from learning the
// next key.
func TestKeysRotateWhileEverybodyCalls(t *testing.T) {
	t.Parallel()
	w := &fixture{launch.Deployed(t, "ROTALOOM_LOG_LEVEL=warn",
		"ROTALOOM_KEY_SET_LIFE="+keySetLife.String(), "ROTALOOM_TOKEN_LIFE="+tokenLife.String(), "ROTALOOM_SIGNING_KEY_LIFE="+keyLife.String()), t}
	second := w.Edge(t, "gateway-2", "ROTALOOM_AUTH_TARGET="+w.Replica(t, "auth", "auth-2"))
	ready := w.Ready
	ready.BaseURL = second
	launch.Await(t, time.Minute, "the second edge lets the administrator in", func() bool { return launch.LoginWorks(t, w.Client, ready) })

	r := &rotating{fixture: w, edges: []string{w.BaseURL, second}, keys: map[string]time.Time{}}
	end := time.Now().Add(rotates)
	var all sync.WaitGroup
	for i := range r.edges {
		all.Go(func() { r.repeat(end, func() { r.login(r.edges[i]) }) })
		all.Go(func() { r.repeat(end, func() { r.present(r.edges[i]) }) })
	}
	all.Go(func() { r.repeat(end, r.presentForeignToken) })
	all.Go(func() {
		// while the first keys are used
		launch.Await(t, time.Minute, "tokens of a second key", func() bool { return r.countKeys() > 1 })
		out := w.Operate(t, "auth", "signing-keys", "rotate")
		assert.Contains(t, out, "signing keys will be replaced")
	})
	all.Wait()
	assert.GreaterOrEqual(t, r.countKeys(), 4, "keys rotated: %v", slices.Sorted(maps.Keys(r.keys)))
	assert.Greater(t, r.calls, 500)
	t.Logf("%d calls with live tokens of %d keys, none refused", r.calls, r.countKeys())
}

// rotating is a test run with rotating keys.
type rotating struct {
	*fixture
	edges []string

	mu    sync.Mutex
	live  []liveToken
	keys  map[string]time.Time // of tokens, with the time when each key came first
	calls int
}

type liveToken struct {
	text  string
	until time.Time
}

// repeat calls a function until a time, or until the test has failed.
func (r *rotating) repeat(end time.Time, do func()) {
	for time.Now().Before(end) && !r.t.Failed() {
		do()
		time.Sleep(every) // the pause between two rounds
	}
}

func (r *rotating) countKeys() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.keys)
}

// login gets a token through an edge, and so from its auth process.
func (r *rotating) login(edge string) {
	began := time.Now()
	response, err := r.Client.PostForm(edge+"/api/authentication/access_token", url.Values{
		"grant_type": {"password"}, "auth_chain": {"OAuthLdapService"},
		"username": {r.Credentials.Username}, "password": {r.Credentials.Password},
		"client_id": {r.Credentials.ClientID}, "client_secret": {r.Credentials.ClientSecret},
	})
	if !assert.NoError(r.t, err) {
		return
	}
	defer response.Body.Close()
	var got struct {
		AccessToken string `json:"access_token"`
	}
	if assert.NoError(r.t, json.NewDecoder(response.Body).Decode(&got)) && assert.Equal(r.t, http.StatusOK, response.StatusCode) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if _, known := r.keys[keyID(r.t, got.AccessToken)]; !known {
			r.keys[keyID(r.t, got.AccessToken)] = began
		}
		r.live = append(r.live, liveToken{got.AccessToken, began.Add(tokenLife - ending)})
	}
}

// keyID returns the id of the key that signed a token.
func keyID(t *testing.T, token string) string {
	head, _, _ := strings.Cut(token, ".")
	text, err := base64.RawURLEncoding.DecodeString(head)
	assert.NoError(t, err)
	var header struct {
		Kid string `json:"kid"`
	}
	assert.NoError(t, json.Unmarshal(text, &header))
	return header.Kid
}

// present calls every service through an edge with the oldest live token, the newest, and one
// between them.
func (r *rotating) present(edge string) {
	r.mu.Lock()
	now := time.Now()
	r.live = slices.DeleteFunc(r.live, func(t liveToken) bool { return now.After(t.until) })
	var tokens []liveToken
	if n := len(r.live); n > 0 {
		tokens = []liveToken{r.live[0], r.live[n/2], r.live[n-1]}
	}
	r.mu.Unlock()
	for _, token := range tokens {
		for service := range services {
			if time.Now().After(token.until) {
				continue
			}
			status := r.status(edge, service, token.text)
			assert.NotContains(r.t, []int{http.StatusUnauthorized, http.StatusServiceUnavailable}, status, "%s by %s, key %s", service, edge, keyID(r.t, token.text))
			r.mu.Lock()
			r.calls++
			r.mu.Unlock()
		}
	}
}

// presentForeignToken presents a token of an unknown key.
func (r *rotating) presentForeignToken() {
	part := func(v any) string {
		text, err := json.Marshal(v)
		assert.NoError(r.t, err)
		return base64.RawURLEncoding.EncodeToString(text)
	}
	now := time.Now()
	token := part(map[string]any{"alg": "EdDSA", "typ": "JWT", "kid": fmt.Sprint(now.UnixNano())}) + "." +
		part(map[string]any{"iss": "rotaloom", "aud": "rotaloom", "sub": "1", "exp": now.Add(time.Hour).Unix()}) + "." +
		base64.RawURLEncoding.EncodeToString(make([]byte, 64))
	for _, edge := range r.edges {
		assert.Equal(r.t, http.StatusUnauthorized, r.status(edge, "commons", token))
	}
}

func (r *rotating) status(edge, service, token string) int {
	request, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, edge+services[service], nil)
	if !assert.NoError(r.t, err) {
		return 0
	}
	request.Header.Set("Authorization", token)
	response, err := r.Client.Do(request)
	if !assert.NoError(r.t, err) {
		return 0
	}
	defer response.Body.Close()
	return response.StatusCode
}
