package harness

import (
	"io"
	"slices"
	"strings"
)

// Options select the figures.
type Options struct {
	// Only holds prefixes of the names of the figures to measure; empty means all.
	Only []string
	// Rounds is the number of counted rounds, after one uncounted round; at least 1.
	Rounds int
	// Short uses smaller crews, and skips long measurements.
	Short bool
	// Profiles is the address where the standalone process serves its profiles; empty means none.
	Profiles string
	// Log receives progress messages.
	Log io.Writer
}

// Wants reports whether a figure is selected.
func (o Options) Wants(name string) bool {
	return len(o.Only) == 0 || slices.ContainsFunc(o.Only, func(only string) bool { return strings.HasPrefix(name, only) })
}

// CrewSize returns 10,000, or fewer for a short run.
func (o Options) CrewSize() int {
	if o.Short {
		return 2_000
	}
	return 10_000
}
