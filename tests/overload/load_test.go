package overload

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rotaloom/rotaloom/tests/scenario"
)

// maxOutstanding bounds the requests in flight. All come from one address. The edge carries out 250
// handshakes of an address at a time and ends further ones, so more connections at once would be
// cut off.
const maxOutstanding = 200

// outcome is the result of a request.
type outcome struct {
	status int
	took   time.Duration
	// wrong is a fault of the response, or "".
	wrong string
}

// sums are the results of a load.
type sums struct {
	took             time.Duration
	sent             int
	statuses         map[int]int
	wrong            []string
	accepts, refuses []time.Duration
}

func (s *sums) offeredRate() float64  { return float64(s.sent) / s.took.Seconds() }
func (s *sums) acceptedRate() float64 { return float64(len(s.accepts)) / s.took.Seconds() }

func (s *sums) quantile(q float64) time.Duration        { return quantile(s.accepts, q) }
func (s *sums) refusedQuantile(q float64) time.Duration { return quantile(s.refuses, q) }

func quantile(all []time.Duration, q float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[min(int(q*float64(len(all))), len(all)-1)].Round(time.Millisecond)
}

func (s *sums) add(a outcome) {
	s.statuses[a.status]++
	switch {
	case a.wrong != "":
		if len(s.wrong) < 10 {
			s.wrong = append(s.wrong, a.wrong)
		}
	case a.status < http.StatusBadRequest:
		s.accepts = append(s.accepts, a.took)
	default:
		s.refuses = append(s.refuses, a.took)
	}
}

// ask sends the nth request: most requests read schedules, some write.
func (w *fixture) ask(ctx context.Context, n int) outcome {
	method, path, body := http.MethodPost, "/v1/scheduling/schedule/multi_read", any(scenario.ReadRequest(w.persons, "2026-03-02", "2026-03-08"))
	header := http.Header{}
	switch n % 10 {
	case 3, 7:
		path = "/v1/scheduling/shift_templates"
		body = scenario.Object{"name": scenario.Unique("load"), "label": "L", "startDateTime": "1900-01-01T06:00:00", "endDateTime": "1900-01-01T14:00:00"}
		if n%10 == 3 {
			header.Set("Idempotency-Key", scenario.Unique("key"))
		}
	case 5:
		method, path, body = http.MethodGet, "/v1/scheduling/employment_term_schedule_patterns/builder", nil
	}
	var payload bytes.Buffer
	if body != nil {
		_ = json.NewEncoder(&payload).Encode(body) // These bodies can be encoded.
	}
	r, err := http.NewRequestWithContext(ctx, method, w.BaseURL+path, &payload)
	if err != nil {
		return outcome{wrong: err.Error()}
	}
	r.Header = header
	r.Header.Set("Authorization", "Bearer "+w.api.Token)
	r.Header.Set("Content-Type", "application/json")
	began := time.Now()
	response, err := w.client.Do(r)
	if err != nil {
		return outcome{wrong: err.Error()}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	a := outcome{status: response.StatusCode, took: time.Since(began)}
	if err != nil {
		a.wrong = err.Error()
	} else {
		a.wrong = wrong(response, text)
	}
	return a
}

func wrong(response *http.Response, text []byte) string {
	switch response.StatusCode {
	case http.StatusOK:
		return ""
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		var body struct{ ErrorCode, Message string }
		if json.Unmarshal(text, &body) == nil && body.ErrorCode != "" && body.Message != "" && response.Header.Get("Retry-After") != "" {
			return ""
		}
	}
	return fmt.Sprintf("%d %s", response.StatusCode, text)
}

// capacity returns how many requests a second are served when each place has a running request.
func (w *fixture) capacity(during time.Duration) float64 {
	var done atomic.Int64
	var wg sync.WaitGroup
	began := time.Now()
	for worker := range slots {
		wg.Go(func() {
			for n := worker; time.Since(began) < during; n++ {
				if a := w.ask(w.t.Context(), n); a.status == http.StatusOK {
					done.Add(1)
				}
			}
		})
	}
	wg.Wait()
	return float64(done.Load()) / time.Since(began).Seconds()
}

// load sends requests at a rate, independently of the responses.
func (w *fixture) load(rate float64, during time.Duration) *sums {
	s := &sums{statuses: map[int]int{}}
	replies := make(chan outcome, maxOutstanding)
	collected := make(chan struct{})
	go func() {
		defer close(collected)
		for a := range replies {
			s.add(a)
		}
	}()
	free := make(chan struct{}, maxOutstanding)
	var wg sync.WaitGroup
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	began := time.Now()
	for time.Since(began) < during {
		<-ticker.C
		for due := int(time.Since(began).Seconds() * rate); s.sent < due && time.Since(began) < during; s.sent++ {
			free <- struct{}{} // A load that is late catches up.
			n := s.sent
			wg.Go(func() {
				replies <- w.ask(w.t.Context(), n)
				<-free
			})
		}
	}
	s.took = time.Since(began)
	wg.Wait()
	close(replies)
	<-collected
	return s
}
