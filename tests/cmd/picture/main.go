// Command picture draws the rotations of the demonstration for the front page: it starts a server, reads the schedules
// of one employee of each rotation, and writes the picture.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/rotaloom/rotaloom/tests/bench/harness"
	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/picture"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

const (
	// rotations is the number of rotations of the demonstration: employees have them in turns.
	rotations = 11
	days      = 28
	// firstEmployee is the number of the first employee whose schedule is drawn.
	firstEmployee = 12
	// moving is the number of employees among whom the first one moves to another rotation.
	moving = 10
)

func main() {
	var settings struct {
		File string `arg:"" help:"The picture to write."`
	}
	parsed := kong.Parse(&settings, kong.Description("Draws the rotations of the demonstration."))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	parsed.FatalIfErrorf(harness.WithHost(ctx, os.Stderr, func(h *harness.Host) error { return draw(h, settings.File) }))
}

func draw(h *harness.Host, file string) error {
	server := launch.Standalone(h, "--demo")
	numbers := make([]string, rotations)
	for i := range numbers {
		n := firstEmployee + i
		if n%moving == 1 {
			n += rotations
		}
		numbers[i] = fmt.Sprintf("D-%04d", n)
	}
	first := time.Date(2027, time.March, 1, 0, 0, 0, 0, time.UTC)
	rows, err := picture.Read(h.Context(), scenario.API{Target: server.Target(h)}, numbers, first, days)
	if err != nil {
		return err
	}
	return os.WriteFile(file, picture.Draw(rows, first, days), 0o644) //nolint:gosec // A picture for everyone.
}
