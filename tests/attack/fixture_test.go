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

// password is what everybody logs in with whom a fixture makes.
const password = "Correct-horse-battery-41"

// long reports whether the attacks run in their long form.
func long() bool { return os.Getenv("ROTALOOM_ATTACK") == "long" }

// shared are the attacks on the one server of TestAttacks.
var shared []struct {
	name string
	run  func(t *testing.T, w *fixture)
}

// attack registers an attack on the shared server. Attacks run side by side: each makes
// what it works on, with names of its own (scenario.Unique), and uses up nothing that
// others need.
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

// fixture is the product in one process, and its administrator.
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

// requireUnharmed holds that the server still lets its administrator in, and that
// nothing in it panicked or failed with 500.
func (w *fixture) requireUnharmed(t *testing.T) {
	t.Helper()
	assert.NoError(t, launch.TryLogin(t, w.Client, w.Ready), "the administrator is let in")
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

// person makes a person with a user account and an access profile, who is logged in.
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

// login logs a user in whose password is the one of this package.
func (w *fixture) login(t *testing.T, user string) scenario.API {
	t.Helper()
	ready := w.Ready
	ready.Credentials.Username, ready.Credentials.Password = user, password
	return scenario.API{Target: launch.Login(t, w.Client, ready)}
}

// tenant makes a tenant, and returns its administrator, who is logged in and calls by
// the tenant's host name.
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
	launch.Await(t, time.Minute, "the tenant's administrator is let in", func() bool {
		token, err := contract.Login(t.Context(), target)
		target.Token = token
		return err == nil
	})
	return scenario.API{Target: target}
}

// hosted calls by a host name.
type hosted struct {
	host string
	http.RoundTripper
}

func (h hosted) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Host = h.host
	return h.RoundTripper.RoundTrip(r)
}

// reply is what came back.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// send makes a request as it is described; the token and the body may be empty.
func (w *fixture) send(ctx context.Context, token, method, path string, body []byte) (reply, error) {
	r, err := http.NewRequestWithContext(ctx, method, w.BaseURL+path, bytes.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := w.Client.Do(r)
	if err != nil {
		return reply{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return reply{response.StatusCode, response.Header, text}, err
}

// memory is what a process holds at a time, in bytes (VmRSS of Linux).
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
