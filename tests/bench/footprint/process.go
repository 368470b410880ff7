// Package footprint measures the resources of the product: memory, storage, the size of its
// programs and their start times.
package footprint

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rotaloom/rotaloom/tests/bench/harness"
	"github.com/rotaloom/rotaloom/tests/launch"
)

const (
	start      = "start"
	restMemory = "rest-memory"
)

// Groups are the figures of this package, in the order of the table.
var Groups = []harness.Group{
	{Names: []string{memory}, Run: population},
	{Names: []string{largeResponse}, Run: largeResponses},
	{Names: []string{start}, Run: startFigures},
	{Names: []string{restMemory}, Run: restFigure},
	{Names: []string{image}, Run: imageFigures},
	{Names: []string{storage}, Run: storageFigure},
}

const (
	// readyTimeout bounds the start of a program.
	readyTimeout = 30 * time.Second
	// readyPollInterval is the time between two looks at its log.
	readyPollInterval = 2 * time.Millisecond
	// idleTime is how long the program is idle before its memory is read.
	idleTime = 20 * time.Second
)

// startFigures measures the time from the start of each program until it is ready, while the others
// run. Its file is in the page cache.
func startFigures(h *harness.Host, o harness.Options) ([]harness.Figure, error) {
	d := launch.Deployed(h)
	var figures []harness.Figure
	for _, name := range slices.Sorted(maps.Keys(d.Services)) {
		f := harness.Figure{Name: start + "-" + name, Unit: "ms", AtMost: 1000, Note: "from the start of the process until it is ready, its database migrated"}
		if !o.Wants(f.Name) {
			continue
		}
		samples, err := harness.Interleave(h.Context(), o.Rounds, func(ctx context.Context, _ int) (float64, error) {
			d.Services[name].Stop(h)
			began := time.Now()
			d.Start(name)
			err := awaitReady(ctx, d.Services[name])
			return harness.Milliseconds(time.Since(began)), err
		})
		if err != nil {
			return figures, fmt.Errorf("%s: %w", name, err)
		}
		f.Measured = samples[0]
		figures = append(figures, f)
	}
	return figures, nil
}

// awaitReady waits until a program logs that it is ready.
func awaitReady(ctx context.Context, process *launch.Process) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	for !strings.Contains(process.Output(), `"msg":"ready"`) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("it is not ready: %w", ctx.Err())
		case <-process.Exited():
			return fmt.Errorf("it ended with %d", process.ExitCode())
		case <-time.After(readyPollInterval):
		}
	}
	return nil
}

// restFigure measures the memory of the idle standalone process, without PostgreSQL. It starts with
// the demonstration data that an earlier process created.
func restFigure(h *harness.Host, _ harness.Options) ([]harness.Figure, error) {
	made := launch.Standalone(h, "--demo", "--log-level", "warn")
	made.Stop(h)
	server := launch.StandaloneIn(h, made.StateDir, nil, "--log-level", "warn")
	select {
	case <-h.Context().Done():
		return nil, h.Context().Err()
	case <-time.After(idleTime):
	}
	now, err := harness.ProcessMemory(server.Process.Process.Pid, "VmRSS:")
	return []harness.Figure{{
		Name: restMemory, Unit: "MiB", Measured: harness.Sample{now}, AtMost: 150,
		Note: fmt.Sprintf("of all services, the edge and NATS in one process, %s after its start", idleTime),
	}}, err
}
