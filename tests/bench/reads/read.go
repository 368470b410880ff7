// Package reads measures reads of schedules and of single objects over HTTPS.
package reads

import (
	"bytes"
	"context"
	"net/http"
	"slices"

	"github.com/rotaloom/rotaloom/tests/bench/baseline"
	"github.com/rotaloom/rotaloom/tests/bench/fixture"
	"github.com/rotaloom/rotaloom/tests/bench/harness"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

const (
	ReadStandalone = "read-standalone"
	ReadTransport  = "read-transport"
	ReadProcessor  = "read-processor"
	ReadDeployed   = "read-deployed"
)

// readEmployees is the number of employees in one read.
const readEmployees = 500

// sampleEmployees picks members of a crew, evenly.
func sampleEmployees(crew *scenario.Crew) []int64 {
	ids := make([]int64, readEmployees)
	for i := range ids {
		ids[i] = crew.Persons[i*len(crew.Persons)/readEmployees]
	}
	slices.Sort(ids)
	return ids
}

// ScheduleFigures compares schedule reads of a crew with the baseline's, on the same database
// server.
func ScheduleFigures(h *harness.Host, o harness.Options, name string, t baseline.Target, crew *scenario.Crew) ([]harness.Figure, error) {
	if _, err := fixture.Change(h.Context(), t.API, crew, "", true); err != nil {
		return nil, err
	}
	request := scenario.ReadRequest(sampleEmployees(crew), fixture.ReadFirst, fixture.ReadLast)
	product, err := harness.Post(t.API, fixture.ReadPath, request)
	if err != nil {
		return nil, err
	}
	if err := product.Read(h.Context()); err != nil {
		return nil, err
	}
	base, pid, err := baseline.StartShifts(h, t, crew, product.Received.Bytes())
	if err != nil {
		return nil, err
	}
	bare, err := harness.NewReader(t.API.Client, base+fixture.ReadPath, "", request)
	if err != nil {
		return nil, err
	}
	if err := bare.ReadAs(h.Context(), product); err != nil {
		return nil, err
	}
	var figures []harness.Figure
	if o.Wants(name) {
		samples, err := harness.Alternate(h.Context(), o.Rounds, product, bare)
		if err != nil {
			return nil, err
		}
		figures = append(figures, harness.Figure{
			Name: name, Unit: "ms", AtMost: 0.7, Measured: samples[0], Baseline: samples[1], Note: "p50; 500 employees x 30 days",
		})
	}
	if name == ReadStandalone && o.Wants(ReadProcessor) {
		f, err := processorFigure(h, o, processorTime(t, t.PID, product), processorTime(t, pid, bare))
		if err != nil {
			return nil, err
		}
		figures = append(figures, f)
	}
	if name == ReadStandalone && o.Wants(ReadTransport) {
		f, err := transportFigure(h, o, base, product, bare)
		if err != nil {
			return nil, err
		}
		figures = append(figures, f)
	}
	return figures, nil
}

// processorFigure compares the processor time of a read with the baseline's, without the client.
func processorFigure(h *harness.Host, o harness.Options, product, bare harness.Measure) (harness.Figure, error) {
	f := harness.Figure{Name: ReadProcessor, Unit: "ms", Note: "processor time of the same, PostgreSQL included and the client not"}
	samples, err := harness.Interleave(h.Context(), o.Rounds, product, bare)
	if err == nil {
		f.Measured, f.Baseline = samples[0], samples[1]
	}
	return f, err
}

// processorReads is the number of reads for the processor time of a round: the kernel counts in
// hundredths of seconds.
const processorReads = 30

// processorTime measures the processor time of a process and the database server for a read, in
// milliseconds.
func processorTime(t baseline.Target, pid int, r *harness.Reader) harness.Measure {
	return func(ctx context.Context, _ int) (float64, error) {
		before, err := t.Used(pid)
		if err != nil {
			return 0, err
		}
		for range processorReads {
			if err := r.Read(ctx); err != nil {
				return 0, err
			}
		}
		after, err := t.Used(pid)
		return harness.Milliseconds(after-before) / processorReads, err
	}
}

// transportFigure compares writing and reading the response from memory with the baseline, which
// has to produce it. No handler can be faster than that.
func transportFigure(h *harness.Host, o harness.Options, base string, product, bare *harness.Reader) (harness.Figure, error) {
	f := harness.Figure{Name: ReadTransport, Unit: "ms", Note: "p50; the same bytes from memory: the time of a read without its query"}
	stored := &harness.Reader{Client: bare.Client, URL: base + "/memory", Body: bare.Body}
	request, err := http.NewRequestWithContext(h.Context(), http.MethodPut, stored.URL, bytes.NewReader(product.Received.Bytes()))
	if err != nil {
		return f, err
	}
	response, err := stored.Client.Do(request)
	if err != nil {
		return f, err
	}
	response.Body.Close()
	if err := stored.ReadAs(h.Context(), product); err != nil {
		return f, err
	}
	samples, err := harness.Alternate(h.Context(), o.Rounds, stored, bare)
	if err != nil {
		return f, err
	}
	f.Measured, f.Baseline = samples[0], samples[1]
	return f, nil
}
