package reads

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rotaloom/rotaloom/tests/bench/baseline"
	"github.com/rotaloom/rotaloom/tests/bench/fixture"
	"github.com/rotaloom/rotaloom/tests/bench/harness"
	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

const (
	GetDeployed = "get-deployed"
	getTemplate = "get-template"
	getPerson   = "get-person"
	getWeek     = "get-week"
	getKeys     = "get-keys"
	getLimits   = "get-limits"
)

// Groups are the figures of this package, in the order of the table.
var Groups = []harness.Group{
	{Names: []string{getTemplate, getPerson, getWeek, getKeys, getLimits}, Run: smallReads},
	{Names: []string{tracing}, Run: tracingFigure},
}

const (
	// smallClients is the number of concurrent clients, each with its own connection.
	smallClients = 16
	// smallRequests is the number of requests in a round.
	smallRequests = 4_800
)

// small is a single object to read.
type small struct {
	name, path string
	atMost     float64
}

func paths(objects []small) []string {
	out := make([]string, len(objects))
	for i, object := range objects {
		out[i] = object.path
	}
	return out
}

// smallReads measures the processor time of the standalone process and its database for a GET of
// one object. The baseline is a bare handler that selects the same bytes by a key, with one
// prepared statement.
func smallReads(h *harness.Host, o harness.Options) ([]harness.Figure, error) {
	// Check the rate, but with a high limit: a fast machine would exceed the default.
	server := launch.Standalone(h, "--log-level", "warn", "--admin-profiles", "--admin-address", o.Profiles, "--platform-rate-read=1000000/1000000")
	api := scenario.API{Target: server.Target(h)}
	objects, err := smallObjects(h.Context(), api)
	if err != nil {
		return nil, err
	}
	t, err := baseline.Beside(api, server)
	if err != nil {
		return nil, err
	}
	base, barePID, err := baseline.StartResponses(h, t, paths(objects), "baseline")
	if err != nil {
		return nil, err
	}
	used := func(pid int) func() (time.Duration, error) {
		return func() (time.Duration, error) { return t.Used(pid) }
	}
	client := concurrentClient(api.Client)
	var figures []harness.Figure
	var failures []error
	for i, object := range objects {
		if !o.Wants(object.name) {
			continue
		}
		product := getter{client: client, url: api.BaseURL + object.path, token: api.Token, used: used(t.PID)}
		bare := getter{client: client, url: fmt.Sprintf("%s/%d", base, i), used: used(barePID)}
		samples, err := harness.Interleave(h.Context(), o.Rounds, product.round, bare.round)
		if err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", object.name, err))
			continue
		}
		figures = append(figures, harness.Figure{
			Name: object.name, Unit: "µs", Measured: samples[0], Baseline: samples[1], AtMost: object.atMost,
			Note: "processor time of a GET, PostgreSQL included; 16 clients",
		})
	}
	return figures, errors.Join(failures...)
}

// smallObjects creates the objects to read.
func smallObjects(ctx context.Context, api scenario.API) ([]small, error) {
	crew, err := fixture.Hire(ctx, api, 20, "")
	if err != nil {
		return nil, err
	}
	var template struct{ ID int64 }
	shift := scenario.Shift(scenario.Unique("bench"), "08:00", "16:30", false)
	shift["name"] = shift["label"]
	if _, err := api.Call(ctx, http.MethodPost, "/v1/scheduling/shift_templates", shift, &template); err != nil {
		return nil, err
	}
	person := crew.Persons[0]
	return []small{
		{getTemplate, fmt.Sprintf("/v1/scheduling/shift_templates/%d", template.ID), 1.8},
		{getPerson, fmt.Sprintf("/v1/commons/persons/%d", person), 3},
		{getWeek, fmt.Sprintf("/v1/scheduling/schedule?employee_id=%d&start_date=2026-03-02&end_date=2026-03-08", person), 3},
		// Keys change once in weeks, and limits never change while a process runs: both responses
		// come from memory.
		{getKeys, "/api/authentication/.well-known/jwks.json", 1},
		{getLimits, "/v1/platform/limits", 1.8},
	}, nil
}

// concurrentClient returns a client with a connection for each of the concurrent clients.
func concurrentClient(one *http.Client) *http.Client {
	transport := one.Transport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost, transport.MaxConnsPerHost = smallClients, smallClients
	return &http.Client{Transport: transport}
}

// getter reads one object repeatedly.
type getter struct {
	client *http.Client
	url    string
	token  string
	// used returns the processor time that was used so far.
	used func() (time.Duration, error)
}

// round returns the processor time of a request in microseconds.
func (g *getter) round(ctx context.Context, _ int) (float64, error) {
	before, err := g.used()
	if err != nil {
		return 0, err
	}
	if err := g.getAll(ctx); err != nil {
		return 0, err
	}
	after, err := g.used()
	return float64((after - before).Microseconds()) / smallRequests, err
}

// rate returns the number of requests served per second.
func (g *getter) rate(ctx context.Context, _ int) (float64, error) {
	began := time.Now()
	err := g.getAll(ctx)
	return smallRequests / time.Since(began).Seconds(), err
}

// getAll sends the requests of all clients concurrently.
func (g *getter) getAll(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for range smallClients {
		group.Go(func() error {
			for range smallRequests / smallClients {
				if err := g.get(ctx); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

func (g *getter) get(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, g.url, nil)
	if err != nil {
		return err
	}
	if g.token != "" {
		request.Header.Set("Authorization", "Bearer "+g.token)
	}
	response, err := g.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s returned %d: %.200s", g.url, response.StatusCode, body)
	}
	return err
}

// ThroughputFigure measures how many GETs of a shift template separate processes serve per second:
// the edge over TLS, and the services behind it over mTLS. The baseline is a bare handler over TLS
// that selects the same bytes.
func ThroughputFigure(h *harness.Host, o harness.Options, t baseline.Target) (harness.Figure, error) {
	f := harness.Figure{Name: GetDeployed, Unit: "GET/s", AtLeast: 0.25, Note: "one shift template; separate processes, mTLS between them; 16 clients"}
	objects, err := smallObjects(h.Context(), t.API)
	if err != nil {
		return f, err
	}
	// A separate database, because the baseline of reads has one too.
	base, _, err := baseline.StartResponses(h, t, paths(objects[:1]), "smallbaseline")
	if err != nil {
		return f, err
	}
	client := concurrentClient(t.API.Client)
	product := getter{client: client, url: t.API.BaseURL + objects[0].path, token: t.API.Token}
	bare := getter{client: client, url: base + "/0"}
	samples, err := harness.Interleave(h.Context(), o.Rounds, product.rate, bare.rate)
	if err == nil {
		f.Measured, f.Baseline = samples[0], samples[1]
	}
	return f, err
}
