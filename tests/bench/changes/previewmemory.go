package changes

import (
	"context"
	"fmt"

	"github.com/rotaloom/rotaloom/tests/bench/fixture"
	"github.com/rotaloom/rotaloom/tests/bench/harness"
	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

const previewMemory = "preview-memory"

// previewMemoryFigure compares the peak memory of the standalone process that previews a change of many
// employees with its peak when it previews a change of a tenth of them. The process starts again
// before each preview, because it keeps memory that it needed before.
func previewMemoryFigure(h *harness.Host, o harness.Options) ([]harness.Figure, error) {
	size := o.CrewSize()
	f := harness.Figure{
		Name: previewMemory, Unit: "MiB", AtMost: 1.2,
		Note: fmt.Sprintf("peak of the process during a preview of a change of %d employees, against %d", size, size/10),
	}
	settings := []string{"--log-level", "warn"}
	server := launch.Standalone(h, settings...)
	api := scenario.API{Target: server.Target(h)}
	var peaks []harness.Measure
	for _, n := range []int{size, size / 10} {
		crew, err := fixture.Hire(h.Context(), api, n, "")
		if err != nil {
			return nil, err
		}
		peaks = append(peaks, func(ctx context.Context, _ int) (float64, error) {
			server.Stop(h)
			server = launch.StandaloneIn(h, server.StateDir, nil, settings...)
			if _, err := fixture.Preview(ctx, scenario.API{Target: server.Target(h)}, crew); err != nil {
				return 0, err
			}
			return harness.PeakMemory(server.Process.Process.Pid)
		})
	}
	samples, err := harness.Interleave(h.Context(), o.Rounds, peaks...)
	if err == nil {
		f.Measured, f.Baseline = samples[0], samples[1]
	}
	return []harness.Figure{f}, err
}
