package attack

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/contract"
	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// password is the password of every user that a fixture creates.
const password = "Correct-horse-battery-41"

// long reports whether the attacks run in their long form.
func long() bool { return os.Getenv("ROTALOOM_ATTACK") == "long" }

// shared lists the attacks that run on the one server of TestAttacks.
var shared []struct {
	name string
	run  func(t *testing.T, w *fixture)
}

// attack registers an attack on the shared server. Attacks run side by side: each creates its own
// objects under unique names (scenario.Unique), and uses up nothing that others need.
func attack(name string, run func(t *testing.T, w *fixture)) {
	shared = append(shared, struct {
		name string
		run  func(t *testing.T, w *fixture)
	}{name, run})
}

func TestAttacks(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	t.Run("attack", func(t *testing.T) {
		for _, a := range shared {
			t.Run(a.name, func(t *testing.T) {
				t.Parallel()
				a.run(t, w)
			})
		}
	})
	w.requireUnharmed(t)
}

// fixture is the product in one process, with a client of its administrator.
type fixture struct {
	*launch.Server
	admin scenario.API
}

// newFixture starts a server with settings, "--name=value" each.
func newFixture(t *testing.T, settings ...string) *fixture {
	t.Helper()
	w := &fixture{Server: launch.Standalone(t, settings...)}
	w.admin = scenario.API{Target: w.Target(t)}
	return w
}

// requireUnharmed requires that the administrator can still log in, and that nothing in the server
// panicked or failed with 500.
func (w *fixture) requireUnharmed(t *testing.T) {
	t.Helper()
	assert.NoError(t, launch.TryLogin(t, w.Client, w.Ready), "the administrator can log in")
	log, err := os.ReadFile(w.Log)
	require.NoError(t, err)
	for line := range strings.Lines(string(log)) {
		var entry struct {
			Msg    string `json:"msg"`
			Status int    `json:"status"`
		}
		if json.Unmarshal([]byte(line), &entry) != nil {
			assert.NotContains(t, line, "panic")
			continue
		}
		assert.NotEqual(t, "panic", entry.Msg, line)
		assert.NotEqual(t, http.StatusInternalServerError, entry.Status, line)
	}
}

// person creates a person with a user account and an access profile, and logs the user in.
func (w *fixture) person(t *testing.T, profile string) (id int64, api scenario.API) {
	t.Helper()
	name := scenario.Unique(strings.ToLower(profile))
	var made struct {
		PersonIdentity struct {
			PersonKey int64 `json:"personKey"`
		} `json:"personIdentity"`
	}
	_, err := w.admin.Call(t.Context(), http.MethodPost, "/v1/commons/persons", scenario.Object{
		"personInformation": scenario.Object{
			"person":           scenario.Object{"personNumber": name, "firstName": "Ada", "lastName": profile, "hireDate": "2021-05-03"},
			"accessAssignment": scenario.Object{"accessProfileName": profile},
		},
		"user": scenario.Object{"userAccount": scenario.Object{"userName": name, "userPassword": password}},
	}, &made)
	require.NoError(t, err)
	return made.PersonIdentity.PersonKey, w.login(t, name)
}

// login logs in a user that has the password of this package.
func (w *fixture) login(t *testing.T, user string) scenario.API {
	t.Helper()
	ready := w.Ready
	ready.Credentials.Username, ready.Credentials.Password = user, password
	return scenario.API{Target: launch.Login(t, w.Client, ready)}
}

// tenant creates a tenant, and returns a logged-in client of its administrator that uses the
// tenant's host name.
func (w *fixture) tenant(t *testing.T, name string) scenario.API {
	t.Helper()
	host := name + ".example.org"
	binary := launch.Build(t, "services/standalone/cmd/rotaloom")
	out, errs, code := launch.Run(t, binary, nil, "tenant", "create", name, "--host", host, "--state-dir", w.StateDir)
	require.Zero(t, code, errs)
	values := map[string]string{}
	for line := range strings.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		values[key] = value
	}
	client := &http.Client{Transport: hosted{host, w.Client.Transport}, Timeout: time.Minute}
	target := contract.Target{BaseURL: w.BaseURL, Client: client, Values: values}
	launch.Await(t, time.Minute, "the tenant's administrator can log in", func() bool {
		token, err := contract.Login(t.Context(), target)
		target.Token = token
		return err == nil
	})
	return scenario.API{Target: target}
}

// hosted sends requests with a host name.
type hosted struct {
	host string
	http.RoundTripper
}

func (h hosted) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Host = h.host
	return h.RoundTripper.RoundTrip(r)
}

// reply is a response with its whole body, without the request id, which is another one in each response.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// send sends a request; the token and the body may be empty.
func (w *fixture) send(ctx context.Context, token, method, path string, body []byte) (reply, error) {
	return w.sendAs(ctx, token, method, path, "application/json", body)
}

// sendAs sends a body of a media type.
func (w *fixture) sendAs(ctx context.Context, token, method, path, contentType string, body []byte) (reply, error) {
	return ask(ctx, scenario.API{Target: contract.Target{BaseURL: w.BaseURL, Client: w.Client, Token: token}}, method, path, contentType, body)
}

// ask sends a request of a client, which may have a host name of its own.
func ask(ctx context.Context, api scenario.API, method, path, contentType string, body []byte) (reply, error) {
	r, err := http.NewRequestWithContext(ctx, method, api.BaseURL+path, bytes.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	if api.Token != "" {
		r.Header.Set("Authorization", "Bearer "+api.Token)
	}
	r.Header.Set("Content-Type", contentType)
	response, err := api.Client.Do(r)
	if err != nil {
		return reply{}, err
	}
	return readReply(response)
}

// readReply reads and closes a response.
func readReply(response *http.Response) (reply, error) {
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if id := response.Header.Get("X-Request-Id"); id != "" {
		text = bytes.ReplaceAll(text, []byte(id), nil)
	}
	return reply{response.StatusCode, response.Header, text}, err
}

// memory returns the resident memory of a process in bytes (VmRSS of Linux).
func memory(t *testing.T, pid int) int64 {
	t.Helper()
	status, err := os.ReadFile(filepath.Join("/proc", fmt.Sprint(pid), "status"))
	require.NoError(t, err)
	for line := range strings.Lines(string(status)) {
		var kilobytes int64
		if n, _ := fmt.Sscanf(line, "VmRSS: %d kB", &kilobytes); n == 1 {
			return kilobytes << 10
		}
	}
	t.Fatalf("process %d has no VmRSS: %s", pid, status)
	return 0
}
