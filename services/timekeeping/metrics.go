package timekeeping

import "github.com/prometheus/client_golang/prometheus"

// newWaiting registers and returns the gauge of changes that scheduling has not confirmed.
func newWaiting(registry prometheus.Registerer) (*prometheus.GaugeVec, error) {
	waiting := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "rotaloom_leave_handover_waiting",
		Help: "Changes that the last sweep could not hand over to scheduling, by kind: leave counts employees, time_off counts requests. The next sweep tries again.",
	}, []string{"kind"})
	return waiting, registry.Register(waiting)
}
