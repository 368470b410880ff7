//go:build kubecluster

package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/contract"
	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

const (
	callers = 4
	// tokenFor is how long a caller uses a token.
	tokenFor = time.Minute
	// pace is the pause of a caller between two requests.
	pace   = 20 * time.Millisecond
	hired  = "2026-01-01"
	monday = "2026-01-05"
)

var (
	early = scenario.Pattern("DD-", map[string]scenario.Object{"D": scenario.Shift("Early", "06:00", "14:00", false)})
	late  = scenario.Pattern("L-", map[string]scenario.Object{"L": scenario.Shift("Late", "14:00", "22:00", false)})
)

// load holds callers that read, write, log in and change rotations until they are ended.
type load struct {
	*tally
	ready launch.Ready
	crew  *scenario.Crew
	// assigned is the assignment whose rotation the crew works.
	assigned scenario.Assignment

	cancel context.CancelFunc
	done   sync.WaitGroup
	mu     sync.Mutex
	// made holds the shift templates whose creation was acknowledged.
	made []int64
	// changes counts the rotations that reached all employees.
	changes int
}

// session returns a logged-in client of the edge.
func (l *load) session(t *testing.T, http2 bool) (*http.Client, scenario.API, error) {
	httpClient := &http.Client{Transport: &client{transport: connections(t, l.ready, http2), tally: l.tally}, Timeout: maxRetryTime + time.Minute}
	api, err := l.login(httpClient)
	return httpClient, api, err
}

func (l *load) login(httpClient *http.Client) (scenario.API, error) {
	target := contract.Target{BaseURL: l.ready.BaseURL, Client: httpClient, Values: map[string]string{
		"username": l.ready.Credentials.Username, "password": l.ready.Credentials.Password,
		"client_id": l.ready.Credentials.ClientID, "client_secret": l.ready.Credentials.ClientSecret,
	}}
	var err error
	target.Token, err = contract.Login(context.Background(), target)
	return scenario.API{Target: target}, err
}

// start starts the callers.
func (l *load) start(t *testing.T) {
	t.Helper()
	_, api, err := l.session(t, false)
	require.NoError(t, err)
	l.crew, err = scenario.NewCrew(t.Context(), api, 200, hired)
	require.NoError(t, err)
	l.assigned, err = l.crew.Assign(t.Context(), api, early, monday, "", 0)
	require.NoError(t, err)
	_, err = scenario.Finish(t.Context(), api, l.assigned.Propagation)
	require.NoError(t, err)

	ctx, cancel := context.WithCancel(context.Background())
	l.cancel = cancel
	t.Cleanup(func() { l.end() })
	for n := range callers {
		l.done.Go(func() { l.repeat(ctx, t, n%2 == 1, l.visit) })
	}
	l.done.Go(func() { l.repeat(ctx, t, false, l.change) })
}

// end ends the callers, and waits for them.
func (l *load) end() {
	l.cancel()
	l.done.Wait()
}

// repeat calls a function with a running number until the load is ended.
func (l *load) repeat(ctx context.Context, t *testing.T, http2 bool, do func(ctx context.Context, api scenario.API, n int) error) {
	httpClient, api, err := l.session(t, http2)
	loggedIn := time.Now()
	for n := 0; ctx.Err() == nil; n++ {
		if err != nil || time.Since(loggedIn) > tokenFor {
			loggedIn = time.Now()
			api, err = l.login(httpClient)
		}
		if err == nil {
			err = do(ctx, api, n)
		}
		if err != nil && ctx.Err() == nil {
			l.fail("%v", err)
		}
		time.Sleep(pace) // Call at the pace of a user's program.
	}
}

// visit reads schedules and creates a shift template.
func (l *load) visit(ctx context.Context, api scenario.API, n int) error {
	some := l.crew.Persons[n%len(l.crew.Persons):][:1]
	switch n % 4 {
	case 0:
		_, err := api.Call(ctx, http.MethodGet, "/v1/scheduling/employment_term_schedule_patterns/builder", nil, nil)
		return err
	case 1:
		var made struct{ ID int64 }
		if _, err := api.Call(ctx, http.MethodPost, "/v1/scheduling/shift_templates", scenario.Object{
			"name": scenario.Unique("load"), "label": "L", "startDateTime": "1900-01-01T06:00:00", "endDateTime": "1900-01-01T14:00:00",
		}, &made); err != nil {
			var refused *scenario.Refused
			if errors.As(err, &refused) && strings.Contains(string(refused.Body), nameTaken) {
				return nil // An earlier attempt created it; judge has seen that there was one.
			}
			return err
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.made = append(l.made, made.ID)
		return nil
	case 2:
		_, err := api.Call(ctx, http.MethodGet, fmt.Sprintf("/v1/commons/persons/%d", some[0]), nil, nil)
		return err
	default:
		// Early works two days of three, and late every second day: each employee always has shifts.
		shifts, err := scenario.ReadShifts(ctx, api, some, "2026-03-02", "2026-03-15")
		if err == nil && len(shifts) < 7 {
			err = fmt.Errorf("an employee has %d shifts in two weeks", len(shifts))
		}
		return err
	}
}

// change gives the crew the other rotation, and waits until all its employees work it.
func (l *load) change(ctx context.Context, api scenario.API, n int) error {
	pattern, label := late, "Late"
	if n%2 == 1 {
		pattern, label = early, "Early"
	}
	changed, err := l.crew.Recreate(ctx, api, l.assigned.ID, pattern, monday)
	if err != nil {
		return err
	}
	finished, err := scenario.Finish(ctx, api, changed.Propagation)
	if err != nil {
		return err
	}
	if finished.EmployeesDone != int64(len(l.crew.Persons)) || finished.EmployeesTotal != finished.EmployeesDone {
		return fmt.Errorf("%s has finished with %d of %d employees", changed.Propagation, finished.EmployeesDone, finished.EmployeesTotal)
	}
	shifts, err := scenario.ReadShifts(ctx, api, l.crew.Persons, "2026-03-02", "2026-03-15")
	if err != nil {
		return err
	}
	for _, shift := range shifts {
		if shift.Label != label {
			return fmt.Errorf("%s has finished, but an employee works %s", changed.Propagation, shift.Label)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changes++
	return nil
}

// requireKept requires that every acknowledged template exists.
func (l *load) requireKept(t *testing.T) {
	t.Helper()
	_, api, err := l.session(t, false)
	require.NoError(t, err)
	var list []struct{ ID int64 }
	_, err = api.Call(t.Context(), http.MethodGet, "/v1/scheduling/shift_templates", nil, &list)
	require.NoError(t, err)
	there := map[int64]bool{}
	for _, template := range list {
		there[template.ID] = true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	require.NotEmpty(t, l.made)
	lost := slices.DeleteFunc(slices.Clone(l.made), func(id int64) bool { return there[id] })
	assert.Empty(t, lost, "of %d shift templates", len(l.made))
	assert.Positive(t, l.changes)
	t.Logf("%d shift templates are there, and %d changes of 200 employees were applied", len(l.made), l.changes)
}
