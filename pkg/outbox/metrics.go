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
	m := &metrics{
		published: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rotaloom_outbox_published_total", Help: "Events that the broker has accepted, including repetitions.",
		}),
		repeated: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rotaloom_outbox_repeated_total",
			Help: "Events that are published again because the broker lost them, or may have.",
		}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rotaloom_outbox_failures_total", Help: "Attempts that failed because the broker was unavailable or returned an error.",
		}),
		unsent: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "rotaloom_outbox_unsent", Help: "Events that wait, up to 100000; 0 at a replica that does not relay.",
		}),
		oldest: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "rotaloom_outbox_oldest_unsent_seconds",
			Help: "Age of the event that waits longest; 0 at a replica that does not relay.",
		}),
	}
	var errs []error
	for _, c := range []prometheus.Collector{m.published, m.repeated, m.failures, m.unsent, m.oldest} {
		errs = append(errs, registry.Register(c))
	}
	return m, errors.Join(errs...)
}

// standby resets the gauges of a replica that no longer relays.
func (m *metrics) standby() {
	m.unsent.Set(0)
	m.oldest.Set(0)
}
