package footprint

import (
	"fmt"
	"time"

	"github.com/rotaloom/rotaloom/tests/bench/fixture"
	"github.com/rotaloom/rotaloom/tests/bench/harness"
	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

const memory = "memory"

const population100k = 100_000

// population measures the peak memory of the standalone process, without PostgreSQL, while 100,000
// employees are created and then get a pattern.
func population(h *harness.Host, o harness.Options) ([]harness.Figure, error) {
	if o.Short {
		h.Logf("left out by -short")
		return nil, nil
	}
	server := launch.Standalone(h, "--log-level", "warn")
	api := scenario.API{Target: server.Target(h)}
	began := time.Now()
	crew, err := fixture.Hire(h.Context(), api, population100k, "")
	if err != nil {
		return nil, err
	}
	setUp := time.Since(began)
	began = time.Now()
	if _, err := fixture.Change(h.Context(), api, crew, "", false); err != nil {
		return nil, err
	}
	applied := time.Since(began)
	peak, err := harness.PeakMemory(server.Process.Process.Pid)
	return []harness.Figure{{
		Name: memory, Unit: "MiB", Measured: harness.Sample{peak}, AtMost: 1024,
		Note: fmt.Sprintf("peak while 100,000 employees were created (%.0f/s, schedules included) and a change was applied to them (%.1f s)",
			population100k/setUp.Seconds(), applied.Seconds()),
	}}, err
}
