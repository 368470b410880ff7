package pg

import (
	"github.com/prometheus/client_golang/prometheus"
)

// Collector reports the load of a pool. Register one for each pool.
func Collector(pool *Pool) prometheus.Collector {
	return &poolCollector{
		pool: pool,
		connections: prometheus.NewDesc("rotaloom_pg_pool_connections",
			"Connections of the pool by state; max is the configured bound.", []string{"state"}, nil),
		waits: prometheus.NewDesc("rotaloom_pg_pool_waits_total",
			"Acquisitions that had to wait for a connection.", nil, nil),
		waited: prometheus.NewDesc("rotaloom_pg_pool_acquire_seconds_total",
			"Time spent acquiring connections.", nil, nil),
	}
}

type poolCollector struct {
	pool                       *Pool
	connections, waits, waited *prometheus.Desc
}

func (c *poolCollector) Describe(out chan<- *prometheus.Desc) {
	out <- c.connections
	out <- c.waits
	out <- c.waited
}

func (c *poolCollector) Collect(out chan<- prometheus.Metric) {
	stat := c.pool.Stat()
	gauge := func(state string, n int32) {
		out <- prometheus.MustNewConstMetric(c.connections, prometheus.GaugeValue, float64(n), state)
	}
	gauge("used", stat.AcquiredConns())
	gauge("idle", stat.IdleConns())
	gauge("max", stat.MaxConns())
	out <- prometheus.MustNewConstMetric(c.waits, prometheus.CounterValue, float64(stat.EmptyAcquireCount()))
	out <- prometheus.MustNewConstMetric(c.waited, prometheus.CounterValue, stat.AcquireDuration().Seconds())
}
