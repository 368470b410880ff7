package propagation

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	open   *prometheus.GaugeVec
	batch  prometheus.Histogram
	spans  prometheus.Counter
	failed prometheus.Counter
}

func newMetrics(registry prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		open: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "rotaloom_propagations",
			Help: "Propagations of all tenants that are not finished, by state. The sweep counts them.",
		}, []string{"state"}),
		batch: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "rotaloom_propagation_batch_seconds",
			Help:    "Duration of bringing one batch of employees up to date.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 14),
		}),
		spans: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rotaloom_propagation_spans_written_total",
			Help: "Spans that were written.",
		}),
		failed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rotaloom_propagation_dead_letters_total",
			Help: "Messages of propagations that were given up. Their propagations have failed and can be replayed.",
		}),
	}
	var errs []error
	for _, c := range []prometheus.Collector{m.open, m.batch, m.spans, m.failed} {
		errs = append(errs, registry.Register(c))
	}
	return m, errors.Join(errs...)
}
