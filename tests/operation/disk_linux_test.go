package operation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/localpg"
	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// The file system of the state folder (the database, the streams of NATS and all other files) is
// full while clients work. Failing requests get 503 with Retry-After, including log-ins, and
// readiness names the reason. When there is room again the server recovers without help, and all
// acknowledged changes are there. When the log of the database has no room either, the database
// ends, and does not start until there is some.
func TestWritesAreRefusedWhileTheDiskIsFull(t *testing.T) {
	t.Parallel()
	if !withMounts(t) {
		return
	}
	w := newWorkplace(t, func(state string) { mountTmpfs(t, state, "400") })
	stop := w.start()
	changed := w.change(late)

	free := fill(t, w.server.StateDir)
	w.await(http.StatusServiceUnavailable, "each kind of request is refused")
	w.awaitReadiness(`"failing"`, "disk", "full")
	free()
	w.await(http.StatusOK, "all requests succeed again")
	w.awaitReadiness(`"state":"ready"`)
	w.finish(changed)

	changed = w.change(early)
	free = fill(t, w.server.StateDir)
	w.fillLog()
	w.await(http.StatusServiceUnavailable, "each kind of request is refused by a database that is away")
	w.awaitReadiness(`"failing"`, "disk", "full")
	free()
	w.await(http.StatusOK, "all requests succeed once more")
	w.awaitReadiness(`"state":"ready"`)
	stop()
	w.finish(changed)
	w.finish(w.change(late))
	w.requireAcknowledged()
}

// The broker's streams have no room while the database has. Changes are accepted, readiness names
// the reason, and everything is applied when there is room again.
func TestAFullDiskOfTheBrokerOnlyDelays(t *testing.T) {
	t.Parallel()
	if !withMounts(t) {
		return
	}
	var streams string
	w := newWorkplace(t, func(state string) {
		streams = filepath.Join(state, "nats")
		require.NoError(t, os.MkdirAll(state, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(state, "VERSION"), []byte("rotaloom-state 2\n"), 0o600))
		mountTmpfs(t, streams, "20")
	})
	stop := w.start()
	free := fill(t, streams)
	changed := w.change(late)
	w.awaitReadiness(`"failing"`, "NATS", "full")
	w.await(http.StatusOK, "all requests succeed")
	free()
	w.awaitReadiness(`"state":"ready"`)
	w.finish(changed)
	stop()
	w.finish(w.change(early))
	w.requireAcknowledged()
}

// workplace is a server on a small file system, with a writer that calls it.
type workplace struct {
	*writer
	readyz   string
	crew     *scenario.Crew
	assigned int64
}

// newWorkplace starts a server in a state folder that prepare creates.
func newWorkplace(t *testing.T, prepare func(state string)) *workplace {
	t.Helper()
	dir := t.TempDir()
	// Root runs the database as another user, who needs access to the folder.
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
	state := filepath.Join(dir, "state")
	prepare(state)
	server := launch.StandaloneIn(t, state, shortTimeouts, "--admin-address", "127.0.0.1:0")
	api := scenario.API{Target: server.Target(t)}
	crew, assigned := working(t, api, 50)
	w := &workplace{writer: &writer{t: t, api: api, server: server}, readyz: adminURL(t, server) + "/readyz", crew: crew, assigned: assigned.ID}
	w.awaitReadiness(`"state":"ready"`)
	return w
}

// change puts the crew on another pattern, and returns the propagation.
func (w *workplace) change(pattern scenario.Object) (propagation string) {
	w.t.Helper()
	changed, err := w.crew.Recreate(w.t.Context(), w.api, w.assigned, pattern, day)
	require.NoError(w.t, err)
	w.assigned = changed.ID
	return changed.Propagation
}

// finish waits until a change is applied to all employees.
func (w *workplace) finish(propagation string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 2*time.Minute)
	defer cancel()
	p, err := scenario.Finish(ctx, w.api, propagation)
	require.NoError(w.t, err)
	assert.EqualValues(w.t, 50, p.EmployeesDone)
	shifts, err := scenario.ReadShifts(w.t.Context(), w.api, w.crew.Persons, day, day)
	require.NoError(w.t, err)
	require.Len(w.t, shifts, 50)
}

// await waits until each kind of request has the status.
func (w *workplace) await(status int, what string) {
	w.t.Helper()
	w.forget()
	launch.Await(w.t, 2*time.Minute, what, func() bool { return w.allReturn(status) })
	require.Empty(w.t, w.mistakes())
}

// awaitReadiness waits until /readyz contains all of the texts.
func (w *workplace) awaitReadiness(texts ...string) {
	w.t.Helper()
	said := ""
	launch.Await(w.t, 2*time.Minute, "readiness says "+strings.Join(texts, ", "), func() bool {
		said = readiness(w.t, w.readyz)
		return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(said, text) })
	})
	w.t.Log(said)
}

// fillLog writes to the log of the private database until its disk is full.
func (w *workplace) fillLog() {
	w.t.Helper()
	where, err := localpg.RunningURL(filepath.Join(w.server.StateDir, "postgresql"), "rotaloom_platform")
	require.NoError(w.t, err)
	conn, err := pgx.Connect(w.t.Context(), where)
	require.NoError(w.t, err)
	defer conn.Close(context.WithoutCancel(w.t.Context()))
	launch.Await(w.t, 2*time.Minute, "the log has no room", func() bool {
		_, err := conn.Exec(w.t.Context(), `SELECT pg_logical_emit_message(false, 'test', repeat('x', 1 << 20))`)
		return err != nil
	})
	launch.Await(w.t, 10*time.Second, "the database has ended", func() bool { return w.server.Wrote("PANIC") })
}

// readiness returns the text of /readyz.
func readiness(t *testing.T, url string) string {
	t.Helper()
	response, err := http.Get(url) //nolint:noctx // a probe
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Equal(t, response.StatusCode == http.StatusOK, strings.Contains(string(text), `"state":"ready"`), string(text))
	return string(text)
}

// writer calls the product without a pause, and records the acknowledged changes.
type writer struct {
	t      *testing.T
	api    scenario.API
	server *launch.Server

	mu    sync.Mutex
	seen  map[string]map[int]int
	wrong []string
	// templates are the names of the templates whose creation was acknowledged.
	templates []string
	// persons are the numbers of the persons whose creation was acknowledged.
	persons []string
}

// requestInterval is the least time between two requests of a kind.
const requestInterval = 20 * time.Millisecond

// start starts one worker for each kind of request.
func (w *writer) start() (stop func()) {
	w.forget()
	ctx, cancel := context.WithCancel(w.t.Context())
	var workers sync.WaitGroup
	for kind, do := range map[string]func(ctx context.Context, name string) (int, error){
		"log in": w.logIn, "create a template": w.createTemplate, "create a person": w.createPerson,
	} {
		workers.Go(func() {
			ticks := time.NewTicker(requestInterval)
			defer ticks.Stop()
			for ctx.Err() == nil {
				<-ticks.C
				status, err := do(ctx, scenario.Unique("disk"))
				if ctx.Err() == nil {
					w.note(kind, status, err)
				}
			}
		})
	}
	return func() { cancel(); workers.Wait() }
}

func (w *writer) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = map[string]map[int]int{"log in": {}, "create a template": {}, "create a person": {}}
}

// mistakes returns the forbidden responses.
func (w *writer) mistakes() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.wrong)
}

// allReturn reports whether the latest requests of each kind had the status.
func (w *writer) allReturn(status int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, statuses := range w.seen {
		if statuses[status] == 0 {
			return false
		}
	}
	return true
}

func (w *writer) note(kind string, status int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen[kind][status]++
	if err != nil && len(w.wrong) < 10 {
		w.wrong = append(w.wrong, kind+": "+err.Error())
	}
}

func (w *writer) logIn(ctx context.Context, _ string) (int, error) {
	c := w.server.Credentials
	form := url.Values{
		"grant_type": {"password"}, "auth_chain": {"OAuthLdapService"}, "username": {c.Username}, "password": {c.Password},
		"client_id": {c.ClientID}, "client_secret": {c.ClientSecret},
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.server.BaseURL+"/api/authentication/access_token", strings.NewReader(form.Encode()))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := w.server.Client.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err
	}
	return response.StatusCode, checkStatus(response.StatusCode, response.Header, text)
}

func (w *writer) createTemplate(ctx context.Context, name string) (int, error) {
	status, err := w.create(ctx, "/v1/scheduling/shift_templates", scenario.Object{
		"name": name, "startDateTime": "1900-01-01T06:00:00", "endDateTime": "1900-01-01T14:00:00",
	})
	return status, w.record(&w.templates, name, status, err)
}

func (w *writer) createPerson(ctx context.Context, name string) (int, error) {
	status, err := w.create(ctx, "/v1/commons/persons/multi_create", []scenario.Object{{
		"personInformation": scenario.Object{"person": scenario.Object{
			"personNumber": name, "firstName": "Disk", "lastName": "Full", "hireDate": "2020-01-01",
		}},
		"jobAssignment": scenario.Object{"jobAssignmentDetails": scenario.Object{"timeZoneName": "Europe/Zurich"}},
	}})
	return status, w.record(&w.persons, name, status, err)
}

// record keeps the name of an acknowledged object.
func (w *writer) record(names *[]string, name string, status int, err error) error {
	if status == http.StatusOK {
		w.mu.Lock()
		defer w.mu.Unlock()
		*names = append(*names, name)
	}
	return err
}

func (w *writer) create(ctx context.Context, path string, body any) (int, error) {
	_, err := w.api.Call(ctx, http.MethodPost, path, body, nil)
	var refused *scenario.Refused
	switch {
	case errors.As(err, &refused):
		return refused.Status, checkStatus(refused.Status, refused.Header, refused.Body)
	case err != nil:
		return 0, err
	}
	return http.StatusOK, nil
}

// checkStatus returns an error unless the response is allowed while the disk is full.
func checkStatus(status int, header http.Header, body []byte) error {
	if status == http.StatusOK || status == http.StatusServiceUnavailable && header.Get("Retry-After") != "" && json.Valid(body) {
		return nil
	}
	return fmt.Errorf("status %d, Retry-After %q: %.300s", status, header.Get("Retry-After"), body)
}

// requireAcknowledged requires that every acknowledged change can be read.
func (w *writer) requireAcknowledged() {
	var templates []struct{ Name string }
	_, err := w.api.Call(w.t.Context(), http.MethodGet, "/v1/scheduling/shift_templates", nil, &templates)
	require.NoError(w.t, err)
	names := map[string]bool{}
	for _, template := range templates {
		names[template.Name] = true
	}
	for _, name := range w.templates {
		require.True(w.t, names[name], "the template %s was acknowledged and is gone", name)
	}
	for numbers := range slices.Chunk(w.persons, 100) {
		var persons []scenario.Object
		_, err := w.api.Call(w.t.Context(), http.MethodPost, "/v1/commons/persons/multi_read", scenario.Object{
			"where": scenario.Object{"employees": scenario.Object{"key": "personnumber", "values": numbers}},
		}, &persons)
		require.NoError(w.t, err, "a person was acknowledged and is gone")
		require.Len(w.t, persons, len(numbers))
	}
	require.NotEmpty(w.t, w.templates)
	require.NotEmpty(w.t, w.persons)
	require.Empty(w.t, w.mistakes())
	w.t.Logf("%d templates and %d persons were acknowledged", len(w.templates), len(w.persons))
}
