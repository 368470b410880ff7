// Package reads measures reads of schedules and of single objects over HTTPS.
package reads

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/rotaloom/rotaloom/tests/bench/baseline"
	"github.com/rotaloom/rotaloom/tests/bench/fixture"
	"github.com/rotaloom/rotaloom/tests/bench/harness"
)

const (
	ReadStandalone = "read-standalone"
	ReadTransport  = "read-transport"
	ReadProcessor  = "read-processor"
	ReadDeployed   = "read-deployed"
	ReadNetwork    = "read-network"
	// ReadNetworkCompressed and ReadProcessorCompressed compare reads in zstd with the same reads without it.
	ReadNetworkCompressed   = "read-network-zstd"
	ReadProcessorCompressed = "read-processor-zstd"
)

// Subject restarts the processes that answer reads, so that their caches are empty, and returns
// them as the target of the next round.
type Subject func() (baseline.Target, error)

// ScheduleFigures compares schedule reads with the baseline's, on the same database server. Every
// read selects other employees and other weeks than the reads before it. All processes restart
// before each round, and their first reads count.
func ScheduleFigures(h *harness.Host, o harness.Options, name string, t baseline.Target, start Subject) ([]harness.Figure, error) {
	persons, err := fixture.HireRotations(h.Context(), t.API, o.CrewSize())
	if err != nil {
		return nil, err
	}
	if err := baseline.StoreShifts(h.Context(), t, persons, firstMonday, storedDays); err != nil {
		return nil, fmt.Errorf("the baseline's tables: %w", err)
	}
	c := &comparison{h: h, rounds: o.Rounds, start: start, schedules: schedules{persons: persons}}
	var figures []harness.Figure
	var failures []error
	measure := func(name string, run func() (harness.Figure, error)) {
		if !o.Wants(name) {
			return
		}
		f, err := run()
		if err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", name, err))
			return
		}
		f.Name, f.Unit = name, "ms"
		figures = append(figures, f)
	}
	measure(name, func() (harness.Figure, error) {
		if name == ReadNetwork {
			return c.durations(networkReads, NetworkTarget, withBaseline)
		}
		return c.durations(roundReads, 0.7, withBaseline)
	})
	switch name {
	case ReadStandalone:
		measure(ReadProcessor, func() (harness.Figure, error) { return c.processorTimes(0, withBaseline) })
		measure(ReadProcessorCompressed, func() (harness.Figure, error) { return c.processorTimes(CompressedProcessorTarget, withoutCompression) })
		measure(ReadTransport, c.transport)
	case ReadNetwork:
		measure(ReadNetworkCompressed, func() (harness.Figure, error) {
			return c.durations(networkReads, CompressedNetworkTarget, withoutCompression)
		})
	}
	return figures, errors.Join(failures...)
}

// comparison compares reads of the product with reads of the baseline.
type comparison struct {
	h         *harness.Host
	rounds    int
	start     Subject
	schedules schedules
}

// begin starts all processes and returns their readers. stop ends the baseline.
func (c *comparison) begin() (product, bare *subject, stop func(), err error) {
	t, err := c.start()
	if err != nil {
		return nil, nil, nil, err
	}
	base, process, err := baseline.StartShifts(c.h, t)
	if err != nil {
		return nil, nil, nil, err
	}
	used := func(pid int) func() (time.Duration, error) {
		return func() (time.Duration, error) { return t.Used(pid) }
	}
	product = &subject{Reader: harness.Reader{Client: t.API.Client, URL: t.API.BaseURL + fixture.ReadPath, Token: t.API.Token}, used: used(t.PID)}
	bare = &subject{Reader: harness.Reader{Client: t.API.Client, URL: base + fixture.ReadPath}, used: used(process.Process.Pid)}
	return product, bare, func() { process.Stop(c.h) }, nil
}

// subject is one side of a comparison.
type subject struct {
	harness.Reader
	// used returns the processor time that the subject has used so far.
	used func() (time.Duration, error)
}

// NetworkTarget bounds a read over the network: the line is the same for both sides, and the
// product may add a tenth.
const NetworkTarget = 1.1

// roundReads and networkReads are the numbers of reads of each side in a round. A read over the
// network takes seconds.
const (
	roundReads   = 15
	networkReads = 3
)

const (
	// CompressedNetworkTarget bounds a read in zstd over the network: 0.4 s of the 2.2 s without it.
	CompressedNetworkTarget = 0.18
	// CompressedProcessorTarget bounds the processor time of a read in zstd.
	CompressedProcessorTarget = 1.5
)

// sides returns the two subjects that are compared: the measured one, and its baseline.
type sides func(product, bare *subject) [2]*subject

// withBaseline compares the product with the baseline.
func withBaseline(product, bare *subject) [2]*subject { return [2]*subject{product, bare} }

// withoutCompression compares compressed reads of the product with the same reads as they are.
func withoutCompression(product, _ *subject) [2]*subject {
	compressed := &subject{Reader: harness.Reader{Client: product.Client, URL: product.URL, Token: product.Token, Accept: "zstd"}, used: product.used}
	return [2]*subject{compressed, product}
}

// durations compares the mean durations of reads. Both sides send the same requests in turns, and
// their responses must be equal.
func (c *comparison) durations(count int, atMost float64, of sides) (harness.Figure, error) {
	f := harness.Figure{AtMost: atMost, Note: "mean with the first read after a start; 500 employees x 30 days, others in each read"}
	for range c.rounds {
		product, bare, stop, err := c.begin()
		if err != nil {
			return f, err
		}
		var took [2]time.Duration
		compared := of(product, bare)
		for range count {
			body := c.schedules.next()
			for i, s := range compared {
				s.Body = body
				began := time.Now()
				if err := s.Read(c.h.Context()); err != nil {
					return f, err
				}
				took[i] += time.Since(began)
			}
			if err := compared[1].Equals(&compared[0].Reader); err != nil {
				return f, err
			}
		}
		stop()
		f.Measured = append(f.Measured, harness.Milliseconds(took[0])/float64(count))
		f.Baseline = append(f.Baseline, harness.Milliseconds(took[1])/float64(count))
	}
	return f, nil
}

// processorReads is the number of reads for the processor time of a round: the kernel counts in
// hundredths of seconds.
const processorReads = 30

// processorTimes compares the processor time of reads, without the client.
func (c *comparison) processorTimes(atMost float64, of sides) (harness.Figure, error) {
	f := harness.Figure{AtMost: atMost, Note: "processor time of the same, PostgreSQL included and the client not"}
	for range c.rounds {
		product, bare, stop, err := c.begin()
		if err != nil {
			return f, err
		}
		bodies := make([][]byte, processorReads)
		for i := range bodies {
			bodies[i] = c.schedules.next()
		}
		compared := of(product, bare)
		measured, err := compared[0].processorTime(c.h.Context(), bodies)
		if err != nil {
			return f, err
		}
		base, err := compared[1].processorTime(c.h.Context(), bodies)
		if err != nil {
			return f, err
		}
		stop()
		f.Measured, f.Baseline = append(f.Measured, measured), append(f.Baseline, base)
	}
	return f, nil
}

// processorTime returns the mean processor time of reads in milliseconds.
func (s *subject) processorTime(ctx context.Context, bodies [][]byte) (float64, error) {
	before, err := s.used()
	if err != nil {
		return 0, err
	}
	for _, body := range bodies {
		s.Body = body
		if err := s.Read(ctx); err != nil {
			return 0, err
		}
	}
	after, err := s.used()
	return harness.Milliseconds(after-before) / float64(len(bodies)), err
}

// transport compares writing and reading a response from memory with the baseline, which has to
// produce it. No handler can be faster than that.
func (c *comparison) transport() (harness.Figure, error) {
	f := harness.Figure{Note: "p50; the same bytes from memory: the time of a read without its query"}
	_, bare, stop, err := c.begin()
	if err != nil {
		return f, err
	}
	defer stop()
	bare.Body = c.schedules.next()
	if err := bare.Read(c.h.Context()); err != nil {
		return f, err
	}
	stored := &harness.Reader{Client: bare.Client, URL: strings.TrimSuffix(bare.URL, fixture.ReadPath) + "/memory", Body: bare.Body}
	request, err := http.NewRequestWithContext(c.h.Context(), http.MethodPut, stored.URL, bytes.NewReader(bare.Received.Bytes()))
	if err != nil {
		return f, err
	}
	response, err := stored.Client.Do(request)
	if err != nil {
		return f, err
	}
	response.Body.Close()
	if err := stored.ReadAs(c.h.Context(), &bare.Reader); err != nil {
		return f, err
	}
	samples, err := harness.Alternate(c.h.Context(), c.rounds, stored, &bare.Reader)
	if err == nil {
		f.Measured, f.Baseline = samples[0], samples[1]
	}
	return f, err
}
