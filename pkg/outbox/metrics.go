package outbox

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	published, repeated, failures prometheus.Counter
	unsent, oldest                prometheus.Gauge
}

func newMetrics(registry prometheus.Registerer) (*metrics, error) {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Namespace: "rotaloom", Subsystem: "outbox", Name: name, Help: help})
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "rotaloom", Subsystem: "outbox", Name: name, Help: help})
	}
	m := &metrics{
		published: counter("published_total", "Events that the broker has taken, repetitions included."),
		repeated:  counter("repeated_total", "Events that are published again because the broker lost them, or may have."),
		failures:  counter("failures_total", "Attempts that ended because the broker was away or refused."),
		unsent:    gauge("unsent", "Events that wait, up to 100000; 0 at a replica that does not relay."),
		oldest:    gauge("oldest_unsent_seconds", "Age of the event that waits longest; 0 at a replica that does not relay."),
	}
	var errs []error
	for _, c := range []prometheus.Collector{m.published, m.repeated, m.failures, m.unsent, m.oldest} {
		errs = append(errs, registry.Register(c))
	}
	return m, errors.Join(errs...)
}

// standby takes back what a replica said while it was the one that relays.
func (m *metrics) standby() {
	m.unsent.Set(0)
	m.oldest.Set(0)
}
