package footprint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/rotaloom/rotaloom/tests/bench/commons"
	"github.com/rotaloom/rotaloom/tests/bench/fixture"
	"github.com/rotaloom/rotaloom/tests/bench/harness"
	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

const largeResponse = "large-responses"

const (
	// concurrentRequests is the number of concurrent requests for the same large response.
	concurrentRequests = 20
	// largeRounds is the number of rounds of these requests.
	largeRounds = 3
	// The schedule that is read: 56,000 employee days.
	largeEmployees = 2000
	largeFirst     = "2026-03-02"
	largeLast      = "2026-03-29"
	// The year of the data that is read, day by day.
	yearFirst, yearLast = "2026-02-01", "2027-01-31"
)

// largest is a request with the largest allowed response.
type largest struct {
	path string
	body scenario.Object
	// part must occur times times in the response.
	part  string
	times int
}

// largeResponses measures the peak memory of each process during many concurrent requests for the
// largest allowed responses.
func largeResponses(h *harness.Host, o harness.Options) ([]harness.Figure, error) {
	if o.Short {
		h.Logf("left out by -short")
		return nil, nil
	}
	d := launch.Deployed(h)
	api := scenario.API{Target: launch.Login(h, d.Client, d.Ready)}
	c, err := harness.LogDuration(h, "a company of 100,000 persons and 10,000 locations", func() (*fixture.Company, error) {
		return fixture.CreateCompany(h.Context(), api, d.Postgres.AdminURL("commons"))
	})
	if err != nil {
		return nil, err
	}
	crew, err := c.Crew(h.Context(), api, largeEmployees)
	if err != nil {
		return nil, err
	}
	for _, l := range largestRequests(crew) {
		if err := l.requestConcurrently(h, api); err != nil {
			return nil, fmt.Errorf("%s: %w", l.path, err)
		}
		h.Logf("after %s: %s", l.path, peaks(d))
	}
	f := harness.Figure{Name: largeResponse, Unit: "MiB", AtMost: 512, Note: "peak of the process that took most; of each: " + peaks(d)}
	worst := 0.0
	for _, p := range d.Services {
		peak, err := harness.PeakMemory(p.Process.Pid)
		if err != nil {
			return nil, err
		}
		worst = max(worst, peak)
	}
	f.Measured = harness.Sample{worst}
	return []harness.Figure{f}, nil
}

func largestRequests(crew *scenario.Crew) []largest {
	return []largest{
		{fixture.ReadPath, scenario.ReadRequest(crew.Persons, largeFirst, largeLast), `"startDateTime":"2026-03-`, largeEmployees * 28},
		{commons.HyperfindPath, commons.ActivePersonsRequest(), `"personId":`, commons.ActivePersons},
		{commons.DataPath, commons.DataRequest(crew.Persons[:commons.DataEmployees], yearFirst, yearLast, true, "EMP_COMMON_FULL_NAME", "EMP_COMMON_ID"), `"PEOPLE":`, commons.DataEmployees * 365},
		{"/v1/commons/persons/apply_read", scenario.Object{"where": scenario.Object{}, "count": fixture.PersonsPerPage}, `"personId":`, fixture.PersonsPerPage},
	}
}

// requestConcurrently requests the response once, to check that it has the largest size, and then
// many times concurrently.
func (l largest) requestConcurrently(h *harness.Host, api scenario.API) error {
	_, first, err := api.Bytes(h.Context(), http.MethodPost, l.path, l.body)
	if err != nil {
		return err
	}
	if times := bytes.Count(first, []byte(l.part)); times < l.times {
		return fmt.Errorf("the response has %s %d times instead of %d: %.300s", l.part, times, l.times, first)
	}
	body, err := json.Marshal(l.body)
	if err != nil {
		return err
	}
	for range largeRounds {
		group, ctx := errgroup.WithContext(h.Context())
		for range concurrentRequests {
			group.Go(func() error {
				request, err := http.NewRequestWithContext(ctx, http.MethodPost, api.BaseURL+l.path, bytes.NewReader(body))
				if err != nil {
					return err
				}
				request.Header.Set("Authorization", "Bearer "+api.Token)
				request.Header.Set("Content-Type", "application/json")
				response, err := api.Client.Do(request)
				if err != nil {
					return err
				}
				defer response.Body.Close()
				size, err := io.Copy(io.Discard, response.Body)
				if err != nil || response.StatusCode != http.StatusOK {
					return fmt.Errorf("returned %s, %d bytes: %w", response.Status, size, err)
				}
				if size != int64(len(first)) {
					return fmt.Errorf("%d bytes are returned instead of %d", size, len(first))
				}
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
	}
	return nil
}

// peaks lists the peak memory of each process.
func peaks(d *launch.Deployment) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(d.Services)) {
		peak, err := harness.PeakMemory(d.Services[name].Process.Pid)
		if err != nil {
			return err.Error()
		}
		out = append(out, fmt.Sprintf("%s %.0f", name, peak))
	}
	return strings.Join(out, ", ")
}
