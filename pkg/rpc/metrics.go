package rpc

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/codes"

	"github.com/rotaloom/rotaloom/pkg/tracing"
)

type metrics struct {
	calls    *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	inFlight prometheus.Gauge
	panics   prometheus.Counter
}

func newMetrics(registry prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rotaloom_rpc_calls_total",
			Help: "Calls that ended, by method and gRPC code.",
		}, []string{"method", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "rotaloom_rpc_seconds",
			Help: "Time that calls took.",
			// Few buckets, because each method that is called has all of them.
			Buckets: []float64{.001, .0025, .01, .025, .1, .25, 1, 5, 30},
		}, []string{"method"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "rotaloom_rpc_in_flight",
			Help: "Calls that run.",
		}),
		panics: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rotaloom_rpc_panics_total",
			Help: "Calls that panicked.",
		}),
	}
	for _, c := range []prometheus.Collector{m.calls, m.seconds, m.inFlight, m.panics} {
		if err := registry.Register(c); err != nil {
			return nil, fmt.Errorf("registering the metrics of calls: %w", err)
		}
	}
	return m, nil
}

// count counts a call. Only the first call of a method and code looks up the counter by its labels.
func (m *metrics) count(of *method, code codes.Code) {
	if int(code) >= len(of.codes) {
		code = codes.Unknown
	}
	counter := of.codes[code].Load()
	if counter == nil {
		c := m.calls.WithLabelValues(of.name, code.String())
		counter = &c
		of.codes[code].Store(counter)
	}
	(*counter).Inc()
}

// observe records the duration of a call, with its trace as exemplar if it has one.
func (m *metrics) observe(ctx context.Context, of *method, took time.Duration) {
	seconds := of.seconds.Load()
	if seconds == nil {
		o := m.seconds.WithLabelValues(of.name)
		seconds = &o
		of.seconds.Store(seconds)
	}
	traced, can := (*seconds).(prometheus.ExemplarObserver)
	if id := tracing.TraceID(ctx); can && id != "" {
		traced.ObserveWithExemplar(took.Seconds(), prometheus.Labels{"trace_id": id})
		return
	}
	(*seconds).Observe(took.Seconds())
}
