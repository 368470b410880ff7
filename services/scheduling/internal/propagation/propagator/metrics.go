package propagator

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	open      *prometheus.GaugeVec
	batch     prometheus.Histogram
	spans     prometheus.Counter
	overtaken prometheus.Counter
	timedOut  prometheus.Counter
	failed    prometheus.Counter
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
		overtaken: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rotaloom_propagation_batches_overtaken_total",
			Help: "Batches that were done together with one of another propagation for the same employees.",
		}),
		timedOut: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rotaloom_propagation_batches_timed_out_total",
			Help: "Attempts at batches that took longer than a statement may. The batches are tried again in smaller parts.",
		}),
		failed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rotaloom_propagation_failures_total",
			Help: "Batches and plans that were given up after repeated errors. Their propagations show as failed; the sweep tries them again.",
		}),
	}
	var errs []error
	for _, c := range []prometheus.Collector{m.open, m.batch, m.spans, m.overtaken, m.timedOut, m.failed} {
		errs = append(errs, registry.Register(c))
	}
	return m, errors.Join(errs...)
}
