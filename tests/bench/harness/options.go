package harness

import (
	"io"
	"slices"
	"strings"
)

// Options say what is measured.
type Options struct {
	// Only names the figures that are measured, by the beginnings of their names;
	// none means all.
	Only []string
	// Rounds are counted after one that is not; at least 1.
	Rounds int
	// Short measures with smaller crews, and leaves out what takes long.
	Short bool
	// Profiles is the address on which the standalone process serves its
	// profiles; empty for none.
	Profiles string
	// Log receives what happens.
	Log io.Writer
}

// Wants reports whether a figure is measured.
func (o Options) Wants(name string) bool {
	return len(o.Only) == 0 || slices.ContainsFunc(o.Only, func(only string) bool { return strings.HasPrefix(name, only) })
}

// CrewSize is 10,000, or fewer for a short run.
func (o Options) CrewSize() int {
	if o.Short {
		return 2_000
	}
	return 10_000
}
