package bench

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/rotaloom/rotaloom/tests/launch"
)

const (
	// patience is how long a program may take to be ready.
	patience = 30 * time.Second
	// look is the pause between two looks at its log.
	look = 2 * time.Millisecond
	// rest is how long the program does nothing before its memory is read.
	rest = 20 * time.Second
)

// startFigures measures how long each program takes from its start until it says that it
// is ready, beside the others. Its file is in the memory of the machine.
func startFigures(h *host, o Options) ([]figure, error) {
	d := launch.Deployed(h)
	var figures []figure
	for _, name := range slices.Sorted(maps.Keys(d.Services)) {
		f := figure{name: start + "-" + name, unit: "ms", atMost: 1000, note: "from the start of the process until it is ready, its database migrated"}
		if !o.wants(f.name) {
			continue
		}
		samples, err := interleave(h.ctx, o.Rounds, func(ctx context.Context, _ int) (float64, error) {
			d.Services[name].Stop(h)
			began := time.Now()
			d.Start(name)
			err := saysReady(ctx, d.Services[name])
			return milliseconds(time.Since(began)), err
		})
		if err != nil {
			return figures, fmt.Errorf("%s: %w", name, err)
		}
		f.measured = samples[0]
		figures = append(figures, f)
	}
	return figures, nil
}

// saysReady waits until a program logs that it is ready.
func saysReady(ctx context.Context, process *launch.Process) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for !strings.Contains(process.Output(), `"msg":"ready"`) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("it is not ready: %w", ctx.Err())
		case <-process.Exited():
			return fmt.Errorf("it ended with %d", process.ExitCode())
		case <-time.After(look):
		}
	}
	return nil
}

// restFigure measures the memory of the standalone process, PostgreSQL apart, when nobody
// asks it for anything: it was started on the demonstration that another one has made.
func restFigure(h *host, _ Options) ([]figure, error) {
	made := launch.Standalone(h, "--demo", "--log-level", "warn")
	made.Stop(h)
	server := launch.StandaloneIn(h, made.StateDir, nil, "--log-level", "warn")
	select {
	case <-h.ctx.Done():
		return nil, h.ctx.Err()
	case <-time.After(rest):
	}
	now, err := memoryOf(server.Process.Process.Pid, "VmRSS:")
	return []figure{{
		name: restMemory, unit: "MiB", measured: sample{now}, atMost: 150,
		note: fmt.Sprintf("of all services, the edge and NATS in one process, %s after its start", rest),
	}}, err
}

// peakMemory is the most memory that a process has taken so far, in MiB.
func peakMemory(pid int) (float64, error) { return memoryOf(pid, "VmHWM:") }

// memoryOf reads one of the sizes that Linux shows of a process, in MiB.
func memoryOf(pid int, size string) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, size); ok {
			var kib float64
			_, err := fmt.Sscanf(value, "%f kB", &kib)
			return kib / 1024, err
		}
	}
	return 0, fmt.Errorf("process %d does not show its memory", pid)
}
