package bus

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	handled  *prometheus.CounterVec
	dead     *prometheus.CounterVec
	duration *prometheus.HistogramVec
	pending  *prometheus.GaugeVec
}

func newMetrics(registry prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		handled: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rotaloom_bus_handled_total",
			Help: "Deliveries by how they ended: done, retried, returned (to another process), dead.",
		}, []string{"consumer", "result"}),
		dead: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rotaloom_bus_dead_letters_total",
			Help: "Events that became dead letters. An operator must examine and replay each of them.",
		}, []string{"consumer"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "rotaloom_bus_handle_seconds",
			Help:    "Duration of one call of a handler, for one message or a batch.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 8),
		}, []string{"consumer"}),
		pending: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "rotaloom_bus_pending",
			Help: "Events that were not delivered to the consumer yet.",
		}, []string{"consumer"}),
	}
	var errs []error
	for _, c := range []prometheus.Collector{m.handled, m.dead, m.duration, m.pending} {
		errs = append(errs, registry.Register(c))
	}
	return m, errors.Join(errs...)
}
