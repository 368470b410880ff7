package boot

import (
	_ "embed"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rotaloom/rotaloom/pkg/tzdb"
)

// release is the number of the next release, or of this one. CHANGELOG.md begins with the same
// number, and scripts and the chart read the same file.
//
//go:embed version.txt
var release string

// tagged is the version of a build of a tag. The linker sets it: the programs are in modules of
// their own, so that the build information does not contain the tag.
var tagged string

// revisionLength is the number of characters of the commit in a version.
const revisionLength = 12

// Build identifies the build of a program.
type Build struct {
	// Version is the number of the release. Between releases, it is that of the next one with the
	// commit, such as 0.1.0-g1a2b3c4d5e6f.
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
	b := Build{Revision: "unknown", Go: runtime.Version(), TimeZones: tzdb.Version()}
	commit, modified := "", false
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range info.Settings {
			switch setting.Key {
			case "vcs.revision":
				commit = setting.Value
			case "vcs.modified":
				modified = setting.Value == "true"
			}
		}
	}
	if commit != "" {
		b.Revision = commit
	}
	if modified {
		b.Revision += " with changes"
	}
	b.Version = version(strings.TrimSpace(release), tagged, commit, modified)
	return b
}

// version returns the version of a build. tools/version.sh returns the same one for scripts.
func version(release, tagged, commit string, modified bool) string {
	switch {
	case tagged != "":
		return tagged
	case commit == "":
		return release + "-unknown"
	}
	v := release + "-g" + commit[:min(revisionLength, len(commit))]
	if modified {
		v += ".modified"
	}
	return v
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
