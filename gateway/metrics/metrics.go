// Package metrics contains the metrics of the edge.
package metrics

import (
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rotaloom/rotaloom/pkg/ratelimit"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// Reasons for refusing a request before a service is called.
const (
	ReasonLine   = "line"   // the queue is full
	ReasonWaited = "waited" // no slot became free in time
	ReasonBodies = "bodies" // the memory for bodies is full
)

// Edge contains the metrics of the edge. The labels have few values: they include neither tenants nor clients.
type Edge struct {
	// Requests counts finished requests, and Throttled the decisions about rates.
	Requests   *prometheus.CounterVec
	Throttled  *prometheus.CounterVec
	overloaded *prometheus.CounterVec
	// Connections and Handshakes are the current numbers, Failures counts failed handshakes.
	Connections, Handshakes prometheus.Gauge
	Failures                prometheus.Counter

	// Counters that every request needs are looked up by their labels once.
	ofStatus [Classes][600]atomic.Pointer[prometheus.Counter]
	ofRate   [Classes][2]prometheus.Counter
}

// Classes is the number of throttling classes; class 0 stands for requests without one.
const Classes = int(optionsv1.Throttle_THROTTLE_LOGIN) + 1

// New returns the metrics, registered with registry.
func New(registry prometheus.Registerer) (*Edge, error) {
	m := &Edge{
		Requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rotaloom_edge_requests_total",
			Help: "Finished requests, by throttling class and HTTP status.",
		}, []string{"class", "status"}),
		Throttled: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rotaloom_edge_throttle_decisions_total",
			Help: "Requests that were counted against a rate, by throttling class, and whether they were admitted or refused.",
		}, []string{"class", "outcome"}),
		overloaded: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rotaloom_edge_overloaded_total",
			Help: "Requests that were refused for overload, by throttling class and exhausted resource.",
		}, []string{"class", "reason"}),
	}
	m.Connections = prometheus.NewGauge(prometheus.GaugeOpts{Name: "rotaloom_edge_connections", Help: "Open connections."})
	m.Handshakes = prometheus.NewGauge(prometheus.GaugeOpts{Name: "rotaloom_edge_handshakes", Help: "Running TLS handshakes."})
	m.Failures = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "rotaloom_edge_handshake_failures_total", Help: "TLS handshakes that failed or timed out.",
	})
	for _, c := range []prometheus.Collector{m.Requests, m.Throttled, m.overloaded, m.Connections, m.Handshakes, m.Failures} {
		if err := registry.Register(c); err != nil {
			return nil, fmt.Errorf("registering the metrics of the edge: %w", err)
		}
	}
	for class := range Classes {
		m.ofRate[class] = [2]prometheus.Counter{
			m.Throttled.WithLabelValues(className(class), "refused"), m.Throttled.WithLabelValues(className(class), "admitted"),
		}
	}
	return m, nil
}

func className(class int) string {
	if class == 0 {
		return "none"
	}
	return ratelimit.Name(optionsv1.Throttle(class))
}

// Served counts a finished request by its status.
func (m *Edge) Served(class, status int) {
	if status < http.StatusContinue || status >= len(m.ofStatus[class]) {
		status = http.StatusInternalServerError // nothing was written
	}
	counter := m.ofStatus[class][status].Load()
	if counter == nil {
		c := m.Requests.WithLabelValues(className(class), strconv.Itoa(status))
		counter = &c
		m.ofStatus[class][status].Store(counter)
	}
	(*counter).Inc()
}

// Decided counts a decision about the rate of a caller.
func (m *Edge) Decided(class optionsv1.Throttle, admitted bool) {
	outcome := 0
	if admitted {
		outcome = 1
	}
	m.ofRate[int(class)%Classes][outcome].Inc()
}

// Overload counts a request that was refused for overload.
func (m *Edge) Overload(class int, reason string) {
	m.overloaded.WithLabelValues(className(class), reason).Inc()
}
