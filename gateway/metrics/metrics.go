// Package metrics counts what the edge does.
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

// Why a request was turned away before a service was asked.
const (
	ReasonLine   = "line"   // as many wait as may
	ReasonWaited = "waited" // no place came in time
	ReasonBodies = "bodies" // too many bytes of bodies are held
)

// Edge counts what the edge does. Their labels are few: neither tenants nor
// clients are among them.
type Edge struct {
	// Requests and Throttled are those that ended, and those that took of an allowance.
	Requests   *prometheus.CounterVec
	Throttled  *prometheus.CounterVec
	overloaded *prometheus.CounterVec
	// Connections and Handshakes are how many there are, Failures how many
	// handshakes came to nothing.
	Connections, Handshakes prometheus.Gauge
	Failures                prometheus.Counter

	// What is counted for every request is looked up by its labels once.
	ofStatus [Classes][600]atomic.Pointer[prometheus.Counter]
	ofRate   [Classes][2]prometheus.Counter
}

// Classes bounds the numbers of throttling classes; 0 is for what has none.
const Classes = int(optionsv1.Throttle_THROTTLE_LOGIN) + 1

// New registers the metrics with a registry.
func New(registry prometheus.Registerer) (*Edge, error) {
	m := &Edge{
		Requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rotaloom_edge_requests_total",
			Help: "Requests that ended, by throttling class and HTTP status.",
		}, []string{"class", "status"}),
		Throttled: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rotaloom_edge_throttle_decisions_total",
			Help: "Requests that were taken from an allowance, by throttling class, and whether they were admitted or refused.",
		}, []string{"class", "outcome"}),
		overloaded: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rotaloom_edge_overloaded_total",
			Help: "Requests that were refused because too many ran already, by throttling class, and what there was too much of.",
		}, []string{"class", "reason"}),
	}
	m.Connections = prometheus.NewGauge(prometheus.GaugeOpts{Name: "rotaloom_edge_connections", Help: "Connections that are open."})
	m.Handshakes = prometheus.NewGauge(prometheus.GaugeOpts{Name: "rotaloom_edge_handshakes", Help: "TLS handshakes that run."})
	m.Failures = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "rotaloom_edge_handshake_failures_total", Help: "TLS handshakes that failed, or took too long.",
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

// Served counts a request that ended with a status.
func (m *Edge) Served(class, status int) {
	if status < http.StatusContinue || status >= len(m.ofStatus[class]) {
		status = http.StatusInternalServerError // Nothing was written.
	}
	counter := m.ofStatus[class][status].Load()
	if counter == nil {
		c := m.Requests.WithLabelValues(className(class), strconv.Itoa(status))
		counter = &c
		m.ofStatus[class][status].Store(counter)
	}
	(*counter).Inc()
}

// Decided counts what was taken from an allowance, or refused for the lack of one.
func (m *Edge) Decided(class optionsv1.Throttle, admitted bool) {
	outcome := 0
	if admitted {
		outcome = 1
	}
	m.ofRate[int(class)%Classes][outcome].Inc()
}

// Overload counts a request that was refused because of too many others.
func (m *Edge) Overload(class int, reason string) {
	m.overloaded.WithLabelValues(className(class), reason).Inc()
}
