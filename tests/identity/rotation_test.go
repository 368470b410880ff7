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

// Lives that let keys rotate while one looks on, as those of an installation relate.
const (
	keySetLife = 2 * time.Second
	tokenLife  = 8 * time.Second
	keyLife    = 24 * time.Second
	// rotates is how long the test goes on.
	rotates = 70 * time.Second
	// ending tokens are not presented any more: they may end on the way.
	ending = 2 * time.Second
	// every is the pause between two rounds of a caller.
	every = 200 * time.Millisecond
)

// Signing keys change, by schedule and because an operator says so, and no token is
// refused before it ends. There are two processes of auth, of which each has an edge: what
// one signs is verified by the other's edge, and by services that ask the first one for its
// keys. Meanwhile somebody presents tokens of keys that nobody has, which must not keep
// services from learning the next key.
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
		// While the first keys are used.
		launch.Await(t, time.Minute, "tokens of a second key", func() bool { return r.seen() > 1 })
		out := w.Operate(t, "auth", "signing-keys", "rotate")
		assert.Contains(t, out, "signing keys will be replaced")
	})
	all.Wait()
	assert.GreaterOrEqual(t, r.seen(), 4, "keys rotated: %v", slices.Sorted(maps.Keys(r.keys)))
	assert.Greater(t, r.calls, 500)
	t.Logf("%d calls with live tokens of %d keys, none refused", r.calls, r.seen())
}

// rotating is a run during which keys rotate.
type rotating struct {
	*fixture
	edges []string

	mu    sync.Mutex
	live  []liveToken
	keys  map[string]time.Time // of tokens, with when each came first
	calls int
}

type liveToken struct {
	text  string
	until time.Time
}

// repeat does something until a time, or until the test has failed.
func (r *rotating) repeat(end time.Time, do func()) {
	for time.Now().Before(end) && !r.t.Failed() {
		do()
		time.Sleep(every) // The pause between two rounds.
	}
}

func (r *rotating) seen() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.keys)
}

// login gets a token by an edge, and so by its process of auth.
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
		if _, known := r.keys[keyOf(r.t, got.AccessToken)]; !known {
			r.keys[keyOf(r.t, got.AccessToken)] = began
		}
		r.live = append(r.live, liveToken{got.AccessToken, began.Add(tokenLife - ending)})
	}
}

// keyOf is the id of the key that signed a token.
func keyOf(t *testing.T, token string) string {
	head, _, _ := strings.Cut(token, ".")
	text, err := base64.RawURLEncoding.DecodeString(head)
	assert.NoError(t, err)
	var header struct {
		Kid string `json:"kid"`
	}
	assert.NoError(t, json.Unmarshal(text, &header))
	return header.Kid
}

// present calls every service by an edge with the oldest live token and the newest, and one
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
			assert.NotContains(r.t, []int{http.StatusUnauthorized, http.StatusServiceUnavailable}, status, "%s by %s, key %s", service, edge, keyOf(r.t, token.text))
			r.mu.Lock()
			r.calls++
			r.mu.Unlock()
		}
	}
}

// presentForeignToken presents a token of a key that nobody has.
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
