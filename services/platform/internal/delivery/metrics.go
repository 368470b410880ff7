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
			Help: "Delivery attempts, by channel and resulting state of the delivery. Pending means that the attempt failed and will be repeated.",
		}, []string{"channel", "state"}),
		pending: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "rotaloom_deliveries_pending",
			Help: "Unsettled deliveries of all tenants, counted once a minute.",
		}),
	}
	return m, errors.Join(registry.Register(m.attempts), registry.Register(m.pending))
}
