package payrollstaging

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are the metrics of the workers of a process.
type metrics struct {
	runs    *prometheus.GaugeVec
	batches *prometheus.CounterVec
	batch   prometheus.Histogram
}

// Results of an attempt at a batch.
const (
	resultStaged = "staged"
	resultAgain  = "again"
	resultFailed = "failed"
)

// openStates are the states of runs that have not ended.
var openStates = []string{"pending", "in_progress"}

func newMetrics(registry prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		runs: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "rotaloom_payroll_staging_runs",
			Help: "Runs of payroll staging of all tenants that have not ended, by state. The sweep counts them.",
		}, []string{"state"}),
		batches: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rotaloom_payroll_staging_batches_total",
			Help: "Attempts at batches of payroll staging, by result: staged, again for one that failed and is repeated, and failed for one that was given up. Its employees are in the details of the run.",
		}, []string{"result"}),
		batch: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "rotaloom_payroll_staging_batch_seconds",
			Help:    "Duration of staging one batch of at most 200 employees.",
			Buckets: prometheus.ExponentialBuckets(0.005, 2, 14),
		}),
	}
	for _, result := range []string{resultStaged, resultAgain, resultFailed} {
		m.batches.WithLabelValues(result)
	}
	return m, errors.Join(registry.Register(m.runs), registry.Register(m.batches), registry.Register(m.batch))
}
