package delivery

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	attempts *prometheus.CounterVec
	pending  prometheus.Gauge
}

func newMetrics(registry prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rotaloom_delivery_attempts_total",
			Help: "Attempts to deliver a message, by channel and by the state that the delivery has then: pending is one that failed and is tried again.",
		}, []string{"channel", "state"}),
		pending: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "rotaloom_deliveries_pending",
			Help: "Deliveries of messages of all tenants that are not settled. Counted once a minute.",
		}),
	}
	return m, errors.Join(registry.Register(m.attempts), registry.Register(m.pending))
}
