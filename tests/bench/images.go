package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"

	"github.com/rotaloom/rotaloom/tests/launch"
)

const standaloneCommand = "services/standalone/cmd/rotaloom"

// imagePrograms are the programs that images are made of, one each.
var imagePrograms = []string{
	"services/auth/cmd/auth", "services/commons/cmd/commons", "gateway/cmd/gateway", "services/platform/cmd/platform",
	"services/scheduling/cmd/propagator", standaloneCommand, "services/scheduling/cmd/scheduling",
	"services/timekeeping/cmd/timekeeping",
}

// imageFigures measures the size of each image, which holds a program, and beside it the list of
// what that is built from: some hundred kilobytes. The programs are built as
// deploy/images/build.sh builds them.
func imageFigures(h *host, o Options) ([]figure, error) {
	var figures []figure
	for _, command := range imagePrograms {
		f := figure{name: image + "-" + path.Base(command), unit: "MiB", atMost: 50, note: "the program of the image, not compressed"}
		if command == standaloneCommand {
			f.atMost = 80 // All services, NATS and the pages of the documentation.
		}
		if !o.wants(f.name) {
			continue
		}
		program := filepath.Join(h.TempDir(), path.Base(command))
		build := exec.CommandContext(h.ctx, "go", "build", "-trimpath", "-ldflags=-s -w -buildid=", "-o", program, "./"+command)
		build.Dir, build.Env = launch.Root(h), append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
		if out, err := build.CombinedOutput(); err != nil {
			return figures, fmt.Errorf("build %s: %w\n%s", command, err, out)
		}
		built, err := os.Stat(program)
		if err != nil {
			return figures, err
		}
		f.measured = sample{float64(built.Size()) / (1 << 20)}
		figures = append(figures, f)
	}
	return figures, nil
}
