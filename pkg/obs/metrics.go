package obs

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// NewRegistry makes the registry of a process, with the metrics of the Go
// runtime, the process and the build. It is never the global one: a process
// may hold several services, and tests hold several processes.
func NewRegistry() *prometheus.Registry {
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		collectors.NewBuildInfoCollector(),
	)
	return registry
}

// ForService returns the view of a registry that one service instance
// registers its metrics in. They carry its name as the label "service", so
// that several services in one process do not collide.
func ForService(registry prometheus.Registerer, name string) prometheus.Registerer {
	return prometheus.WrapRegistererWith(prometheus.Labels{"service": name}, registry)
}
