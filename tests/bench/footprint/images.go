package footprint

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"

	"github.com/rotaloom/rotaloom/tests/bench/harness"
	"github.com/rotaloom/rotaloom/tests/launch"
)

const image = "image"

const standaloneCommand = "services/standalone/cmd/rotaloom"

// imagePrograms are the programs of the images.
var imagePrograms = []string{
	"services/auth/cmd/auth", "services/commons/cmd/commons", "gateway/cmd/gateway", "services/platform/cmd/platform", "services/recruiting/cmd/recruiting",
	"services/scheduling/cmd/propagator", standaloneCommand, "services/scheduling/cmd/scheduling",
	"services/timekeeping/cmd/timekeeping",
}

// imageFigures measures the size of each image: a program, and a list of its components of some
// hundred kilobytes. The programs are built as in deploy/images/build.sh.
func imageFigures(h *harness.Host, o harness.Options) ([]harness.Figure, error) {
	var figures []harness.Figure
	for _, command := range imagePrograms {
		f := harness.Figure{Name: image + "-" + path.Base(command), Unit: "MiB", AtMost: 50, Note: "the program of the image, not compressed"}
		if command == standaloneCommand {
			f.AtMost = 80 // All services, NATS and the pages of the documentation.
		}
		if !o.Wants(f.Name) {
			continue
		}
		program := filepath.Join(h.TempDir(), path.Base(command))
		build := exec.CommandContext(h.Context(), "go", "build", "-trimpath", "-ldflags=-s -w -buildid=", "-o", program, "./"+command)
		build.Dir, build.Env = launch.Root(h), append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
		if out, err := build.CombinedOutput(); err != nil {
			return figures, fmt.Errorf("build %s: %w\n%s", command, err, out)
		}
		built, err := os.Stat(program)
		if err != nil {
			return figures, err
		}
		f.Measured = harness.Sample{float64(built.Size()) / (1 << 20)}
		figures = append(figures, f)
	}
	return figures, nil
}
