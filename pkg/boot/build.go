package boot

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rotaloom/rotaloom/pkg/tzdb"
)

// Build says what a program was built from.
type Build struct {
	// Version is the release, or what the version control system makes of a tree
	// between two releases.
	Version string `json:"version"`
	// Revision is the commit; "unknown" when the tree was not under version control.
	Revision string `json:"revision"`
	// Go is the version of the toolchain.
	Go string `json:"go"`
	// TimeZones is the release of the time zone database that the program carries.
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

// String is the build in one line.
func (b Build) String() string {
	return fmt.Sprintf("Rotaloom %s (revision %s, %s, time zones %s)", b.Version, b.Revision, b.Go, b.TimeZones)
}

// buildInfo is the metric that names the build.
func buildInfo() prometheus.Collector {
	b := CurrentBuild()
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "rotaloom_build_info", Help: "Always 1; the labels say what the program was built from.",
		ConstLabels: prometheus.Labels{
			"version": b.Version, "revision": b.Revision, "go_version": b.Go, "time_zones": b.TimeZones,
		},
	})
	info.Set(1)
	return info
}
