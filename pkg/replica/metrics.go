package replica

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	gaps, compared *prometheus.GaugeVec
	missing        *prometheus.CounterVec
}

func newMetrics(registry prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		gaps: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "rotaloom_replica_gaps", Help: "Keys with missing states in a copy.",
		}, []string{"topic"}),
		compared: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "rotaloom_replica_compared_timestamp_seconds", Help: "When this process last compared a copy with its owner.",
		}, []string{"topic"}),
		missing: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rotaloom_replica_missing_total", Help: "Keys with missing states that comparisons found.",
		}, []string{"topic"}),
	}
	var errs []error
	for _, c := range []prometheus.Collector{m.gaps, m.compared, m.missing} {
		errs = append(errs, registry.Register(c))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("replica: register metrics: %w", err)
	}
	return m, nil
}
