package bench

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/rotaloom/rotaloom/tests/bench/baseline"
	"github.com/rotaloom/rotaloom/tests/bench/fixture"
	"github.com/rotaloom/rotaloom/tests/bench/harness"
	"github.com/rotaloom/rotaloom/tests/bench/reads"
	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// measureDeployed measures separate processes.
func measureDeployed(h *harness.Host, o harness.Options) ([]harness.Figure, error) {
	d := launch.Deployed(h)
	api := scenario.API{Target: launch.Login(h, d.Client, d.Ready)}
	t := baseline.Target{API: api, Host: harness.Loopback, TLSDir: filepath.Dir(d.CAFile), Postgres: d.Postgres.AdminURL}
	var figures []harness.Figure
	var failures []error
	if o.Wants(reads.ReadDeployed) {
		schedules, err := reads.ScheduleFigures(h, o, reads.ReadDeployed, t, func() (baseline.Target, error) {
			// This database server is for tests, and does not vacuum automatically.
			if err := fixture.Execute(h.Context(), d.Postgres.AdminURL("scheduling"), "VACUUM (ANALYZE)"); err != nil {
				return t, fmt.Errorf("statistics: %w", err)
			}
			for _, name := range []string{"gateway", "scheduling"} {
				d.Services[name].Stop(h)
				d.Start(name)
			}
			d.AwaitServices(h)
			return t, nil
		})
		if err != nil {
			failures = append(failures, err)
		}
		figures = append(figures, schedules...)
	}
	if o.Wants(reads.GetDeployed) {
		f, err := reads.ThroughputFigure(h, o, t)
		if err != nil {
			return figures, errors.Join(append(failures, err)...)
		}
		figures = append(figures, f)
	}
	return figures, errors.Join(failures...)
}
