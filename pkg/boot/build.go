package boot

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rotaloom/rotaloom/pkg/tzdb"
)

// Build identifies the build of a program.
type Build struct {
	// Version is the release, or between releases the version from the version control system.
	Version string `json:"version"`
	// Revision is the commit; "unknown" if the tree was not under version control.
	Revision string `json:"revision"`
	// Go is the version of the toolchain.
	Go string `json:"go"`
	// TimeZones is the release of the embedded time zone database.
	TimeZones string `json:"timeZones"`
}

// CurrentBuild returns the build of this program.
func CurrentBuild() Build {
	b := Build{Version: "unreleased", Revision: "unknown", Go: runtime.Version(), TimeZones: tzdb.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.Version = v
	}
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "vcs.revision":
			b.Revision = setting.Value
		case setting.Key == "vcs.modified" && setting.Value == "true":
			b.Revision += " with changes"
		}
	}
	return b
}

// String returns the build in one line.
func (b Build) String() string {
	return fmt.Sprintf("Rotaloom %s (revision %s, %s, time zones %s)", b.Version, b.Revision, b.Go, b.TimeZones)
}

// buildInfo returns the metric that identifies the build.
func buildInfo() prometheus.Collector {
	b := CurrentBuild()
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "rotaloom_build_info", Help: "Always 1; the labels identify the build.",
		ConstLabels: prometheus.Labels{
			"version": b.Version, "revision": b.Revision, "go_version": b.Go, "time_zones": b.TimeZones,
		},
	})
	info.Set(1)
	return info
}
