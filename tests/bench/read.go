package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"time"

	"github.com/rotaloom/rotaloom/tests/scenario"
)

const (
	readPath = "/v1/scheduling/schedule/multi_read"
	// The window that is read: employees x days.
	readEmployees = 500
	readFirst     = "2026-03-01"
	readLast      = "2026-03-30"
	// readsARound is how many reads the p50 of a round is taken of.
	readsARound = 15
)

// reader reads the same window again and again over one connection.
type reader struct {
	client   *http.Client
	url      string
	token    string
	body     []byte
	received bytes.Buffer
}

func newReader(client *http.Client, baseURL, token string, employees []int64) (*reader, error) {
	body, err := json.Marshal(scenario.ReadRequest(employees, readFirst, readLast))
	return &reader{client: client, url: baseURL + readPath, token: token, body: body}, err
}

// read reads the window once. The response stays until the next time.
func (r *reader) read(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url, bytes.NewReader(r.body))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+r.token)
	request.Header.Set("Content-Type", "application/json")
	response, err := r.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	r.received.Reset()
	// Without ReadFrom, whose way depends on what the buffer has room for.
	if _, err := io.CopyBuffer(struct{ io.Writer }{&r.received}, struct{ io.Reader }{response.Body}, make([]byte, 64<<10)); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s returned %d: %.200s", r.url, response.StatusCode, r.received.Bytes())
	}
	return nil
}

// alternate reads by all readers in turns, and returns the p50 of each round in
// milliseconds.
func alternate(ctx context.Context, rounds int, readers ...*reader) ([]sample, error) {
	p50 := make([]sample, len(readers))
	for round := range rounds + 1 {
		runtime.GC()
		times := make([]sample, len(readers))
		for range readsARound {
			for i, r := range readers {
				began := time.Now()
				if err := r.read(ctx); err != nil {
					return nil, err
				}
				times[i] = append(times[i], milliseconds(time.Since(began)))
			}
		}
		for i := range readers {
			if round > 0 {
				p50[i] = append(p50[i], times[i].median())
			}
		}
	}
	return p50, nil
}

// scattered picks members of a crew, evenly.
func scattered(crew *scenario.Crew) []int64 {
	ids := make([]int64, readEmployees)
	for i := range ids {
		ids[i] = crew.Persons[i*len(crew.Persons)/readEmployees]
	}
	slices.Sort(ids)
	return ids
}

// target is what the yardstick stands beside.
type target struct {
	api scenario.API
	// postgres is the URL of a database of the same server for its superuser.
	postgres func(database string) string
	// tlsDir is the folder of the authority that the target's certificate is of.
	tlsDir string
}

// readFigures compares schedule reads of a crew with those of the yardstick, on
// the same database server.
func readFigures(h *host, o Options, name string, t target, crew *scenario.Crew) ([]figure, error) {
	if _, err := change(h.ctx, t.api, crew, "", true); err != nil {
		return nil, err
	}
	product, err := newReader(t.api.Client, t.api.BaseURL, t.api.Token, scattered(crew))
	if err != nil {
		return nil, err
	}
	if err := product.read(h.ctx); err != nil {
		return nil, err
	}
	base, err := startYardstick(h, t, crew, product.received.Bytes())
	if err != nil {
		return nil, err
	}
	baseline, err := newReader(t.api.Client, base, "", scattered(crew))
	if err != nil {
		return nil, err
	}
	if err := baseline.readAs(h.ctx, product); err != nil {
		return nil, err
	}
	var figures []figure
	if o.wants(name) {
		samples, err := alternate(h.ctx, o.Rounds, product, baseline)
		if err != nil {
			return nil, err
		}
		figures = append(figures, figure{
			name: name, unit: "ms", atMost: 0.7, measured: samples[0], baseline: samples[1], note: "p50; 500 employees x 30 days",
		})
	}
	if name == readStandalone && o.wants(readTransport) {
		f, err := transportFigure(h, o, base, product, baseline)
		if err != nil {
			return nil, err
		}
		figures = append(figures, f)
	}
	return figures, nil
}

// readAs reads the window, and fails when the response is not that of another reader.
func (r *reader) readAs(ctx context.Context, other *reader) error {
	if err := r.read(ctx); err != nil {
		return err
	}
	if !bytes.Equal(other.received.Bytes(), r.received.Bytes()) {
		return fmt.Errorf("the yardstick returns other bytes:\n%.700s\n%.700s", r.received.Bytes(), other.received.Bytes())
	}
	return nil
}

// transportFigure compares what it takes to write the response from memory, and to read it,
// with what the yardstick takes that has to make it: below this no handler comes.
func transportFigure(h *host, o Options, base string, product, baseline *reader) (figure, error) {
	f := figure{name: readTransport, unit: "ms", note: "p50; the same bytes from memory: what is left of a read when nothing is read"}
	stored := &reader{client: baseline.client, url: base + "/memory", body: baseline.body}
	request, err := http.NewRequestWithContext(h.ctx, http.MethodPut, stored.url, bytes.NewReader(product.received.Bytes()))
	if err != nil {
		return f, err
	}
	response, err := stored.client.Do(request)
	if err != nil {
		return f, err
	}
	response.Body.Close()
	if err := stored.readAs(h.ctx, product); err != nil {
		return f, err
	}
	samples, err := alternate(h.ctx, o.Rounds, stored, baseline)
	if err != nil {
		return f, err
	}
	f.measured, f.baseline = samples[0], samples[1]
	return f, nil
}
