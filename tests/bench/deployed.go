package bench

import (
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
	t := baseline.Target{API: api, TLSDir: filepath.Dir(d.CAFile), Postgres: d.Postgres.AdminURL}
	var figures []harness.Figure
	if o.Wants(reads.ReadDeployed) {
		crew, err := fixture.Hire(h.Context(), api, o.CrewSize(), "")
		if err != nil {
			return nil, err
		}
		// This database server is for tests, and does not vacuum automatically.
		if err := fixture.Execute(h.Context(), d.Postgres.AdminURL("scheduling"), "VACUUM (ANALYZE)"); err != nil {
			return nil, fmt.Errorf("statistics: %w", err)
		}
		schedules, err := reads.ScheduleFigures(h, o, reads.ReadDeployed, t, crew)
		if err != nil {
			return nil, err
		}
		figures = append(figures, schedules...)
	}
	if o.Wants(reads.GetDeployed) {
		f, err := reads.ThroughputFigure(h, o, t)
		if err != nil {
			return figures, err
		}
		figures = append(figures, f)
	}
	return figures, nil
}
