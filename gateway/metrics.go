package gateway

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
	reasonLine   = "line"   // as many wait as may
	reasonWaited = "waited" // no place came in time
	reasonBodies = "bodies" // too many bytes of bodies are held
)

// metrics count what the edge does. Their labels are few: neither tenants nor
// clients are among them.
type metrics struct {
	requests   *prometheus.CounterVec
	throttled  *prometheus.CounterVec
	overloaded *prometheus.CounterVec
	// connections and handshakes are how many there are, failures how many
	// handshakes came to nothing.
	connections, handshakes prometheus.Gauge
	failures                prometheus.Counter

	// What is counted for every request is looked up by its labels once.
	ofStatus [classes][600]atomic.Pointer[prometheus.Counter]
	ofRate   [classes][2]prometheus.Counter
}

// classes bounds the numbers of throttling classes; 0 is for what has none.
const classes = int(optionsv1.Throttle_THROTTLE_LOGIN) + 1

func newMetrics(registry prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rotaloom_edge_requests_total",
			Help: "Requests that ended, by throttling class and HTTP status.",
		}, []string{"class", "status"}),
		throttled: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rotaloom_edge_throttle_decisions_total",
			Help: "Requests that were taken from an allowance, by throttling class, and whether they were admitted or refused.",
		}, []string{"class", "outcome"}),
		overloaded: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rotaloom_edge_overloaded_total",
			Help: "Requests that were refused because too many ran already, by throttling class, and what there was too much of.",
		}, []string{"class", "reason"}),
	}
	m.connections = prometheus.NewGauge(prometheus.GaugeOpts{Name: "rotaloom_edge_connections", Help: "Connections that are open."})
	m.handshakes = prometheus.NewGauge(prometheus.GaugeOpts{Name: "rotaloom_edge_handshakes", Help: "TLS handshakes that run."})
	m.failures = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "rotaloom_edge_handshake_failures_total", Help: "TLS handshakes that failed, or took too long.",
	})
	for _, c := range []prometheus.Collector{m.requests, m.throttled, m.overloaded, m.connections, m.handshakes, m.failures} {
		if err := registry.Register(c); err != nil {
			return nil, fmt.Errorf("registering the metrics of the edge: %w", err)
		}
	}
	for class := range classes {
		m.ofRate[class] = [2]prometheus.Counter{
			m.throttled.WithLabelValues(className(class), "refused"), m.throttled.WithLabelValues(className(class), "admitted"),
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

// served counts a request that ended with a status.
func (m *metrics) served(class, status int) {
	if status < http.StatusContinue || status >= len(m.ofStatus[class]) {
		status = http.StatusInternalServerError // Nothing was written.
	}
	counter := m.ofStatus[class][status].Load()
	if counter == nil {
		c := m.requests.WithLabelValues(className(class), strconv.Itoa(status))
		counter = &c
		m.ofStatus[class][status].Store(counter)
	}
	(*counter).Inc()
}

func (m *metrics) decided(class optionsv1.Throttle, admitted bool) {
	outcome := 0
	if admitted {
		outcome = 1
	}
	m.ofRate[int(class)%classes][outcome].Inc()
}

func (m *metrics) overload(class int, reason string) {
	m.overloaded.WithLabelValues(className(class), reason).Inc()
}
