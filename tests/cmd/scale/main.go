// Command scale prints the requirements of installations of several sizes. It computes them from
// the output of make bench: from docs/scale.md, or from another file.
package main

import (
	"os"

	"github.com/alecthomas/kong"

	"github.com/rotaloom/rotaloom/tests/scale"
)

func main() {
	var settings struct {
		File string     `arg:"" optional:"" default:"docs/scale.md" help:"What make bench has printed."`
		Load scale.Load `embed:""`
	}
	parsed := kong.Parse(&settings, kong.Description("What installations need, by the figures of make bench."))
	parsed.FatalIfErrorf(write(settings.File, settings.Load))
}

func write(path string, load scale.Load) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	figures, err := scale.Read(file)
	if err != nil {
		return err
	}
	return figures.Write(os.Stdout, load)
}
