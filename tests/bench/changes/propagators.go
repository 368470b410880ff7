package changes

import (
	"context"
	"fmt"
	"runtime"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/tests/bench/fixture"
	"github.com/rotaloom/rotaloom/tests/bench/harness"
	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

const propagators = "two-propagators"

// The two processes of the propagator, and the tenant of a new installation.
const (
	secondPropagator = "propagator-2"
	onlyTenant       = 1
)

// propagatorsFigure compares a change with two propagators with the same change with one, in
// separate processes. Both share the machine with the database server, so its processors limit the
// effect of the second one.
func propagatorsFigure(h *harness.Host, o harness.Options) ([]harness.Figure, error) {
	size := 10 * o.CrewSize()
	f := harness.Figure{
		Name: propagators, Unit: "s",
		Note: fmt.Sprintf("a change of %d employees with two propagators, against one; %d processors for everything", size, runtime.NumCPU()),
	}
	d := launch.DeployedInPairs(h, "ROTALOOM_LOG_LEVEL=warn")
	admin, err := pgx.Connect(h.Context(), d.Postgres.AdminURL("scheduling"))
	if err != nil {
		return nil, err
	}
	defer admin.Close(context.WithoutCancel(h.Context()))
	m := fixture.Tenant{API: scenario.API{Target: launch.Login(h, d.Client, d.Ready)}, ID: onlyTenant}
	crew, err := fixture.Seed(h.Context(), admin, m, size)
	if err != nil {
		return nil, err
	}
	runs := func(ctx context.Context) (float64, error) {
		took, err := fixture.Change(ctx, m.API, crew, "", false)
		return took.Seconds(), err
	}
	samples, err := harness.Interleave(h.Context(), o.Rounds,
		func(ctx context.Context, round int) (float64, error) {
			if round > 0 {
				d.Start(secondPropagator)
				d.AwaitReady(h, secondPropagator)
			}
			return runs(ctx)
		},
		func(ctx context.Context, _ int) (float64, error) {
			d.Services[secondPropagator].Stop(h)
			return runs(ctx)
		})
	if err == nil {
		f.Measured, f.Baseline = samples[0], samples[1]
	}
	return []harness.Figure{f}, err
}
