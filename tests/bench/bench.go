// Package bench measures the product from the outside. Each figure that is a ratio has a baseline,
// the least work that any design would have to do; both are measured in turns in the same run.
package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rotaloom/rotaloom/tests/bench/baseline"
	"github.com/rotaloom/rotaloom/tests/bench/changes"
	"github.com/rotaloom/rotaloom/tests/bench/commons"
	"github.com/rotaloom/rotaloom/tests/bench/components"
	"github.com/rotaloom/rotaloom/tests/bench/fixture"
	"github.com/rotaloom/rotaloom/tests/bench/footprint"
	"github.com/rotaloom/rotaloom/tests/bench/harness"
	"github.com/rotaloom/rotaloom/tests/bench/reads"
	"github.com/rotaloom/rotaloom/tests/bench/recruiting"
	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// groups are the groups in the order of the table.
var groups = slices.Concat(
	[]harness.Group{
		{Names: []string{changes.ApplyLarge, changes.MembershipLarge, changes.ApplySmall, changes.Preview, changes.Window}, Run: standalone},
		{Names: []string{reads.ReadStandalone, reads.ReadProcessor, reads.ReadProcessorCompressed, reads.ReadTransport}, Run: standaloneReads},
		{Names: []string{reads.ReadNetwork, reads.ReadNetworkCompressed}, Run: networkReads},
		{Names: []string{reads.ReadDeployed, reads.GetDeployed}, Run: measureDeployed},
	},
	reads.Groups, components.Groups, commons.Groups, recruiting.Groups, changes.Groups, footprint.Groups,
)

// Run measures, prints the table and reports whether every target is met. The figures of a failed
// group are missing in the table; Run returns its error at the end.
func Run(ctx context.Context, out io.Writer, o harness.Options) (bool, error) {
	var figures []harness.Figure
	var failures []error
	for _, g := range groups {
		if !slices.ContainsFunc(g.Names, o.Wants) {
			continue
		}
		err := harness.WithHost(ctx, o.Log, func(h *harness.Host) error {
			h.Logf("measuring %s", strings.Join(g.Names, ", "))
			found, err := g.Run(h, o)
			figures = append(figures, found...)
			return err
		})
		if err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", strings.Join(g.Names, ", "), err))
			if ctx.Err() != nil {
				break
			}
		}
	}
	met, err := harness.WriteTable(out, figures)
	return met, errors.Join(append(failures, err)...)
}

// standalone measures the standalone process. The figures before a failure remain.
func standalone(h *harness.Host, o harness.Options) ([]harness.Figure, error) {
	settings := []string{"--log-level", "warn", "--admin-profiles", "--admin-address", o.Profiles}
	server := launch.Standalone(h, settings...)
	api := scenario.API{Target: server.Target(h)}
	var figures []harness.Figure
	var failures []error
	measure := func(name string, run func() (harness.Figure, error)) {
		if !o.Wants(name) {
			return
		}
		f, err := run()
		if err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", name, err))
			return
		}
		figures = append(figures, f)
	}
	apply := func(name string, size int) func() (harness.Figure, error) {
		return func() (harness.Figure, error) {
			crew, err := fixture.Hire(h.Context(), api, size, "")
			if err != nil {
				return harness.Figure{}, err
			}
			return changes.ApplyFigure(h, o, name, api, crew, 0.2)
		}
	}
	measure(changes.ApplyLarge, apply(changes.ApplyLarge, o.CrewSize()))
	measure(changes.MembershipLarge, func() (harness.Figure, error) { return changes.MembershipFigure(h, o, api) })
	measure(changes.ApplySmall, apply(changes.ApplySmall, 1_000))
	measure(changes.Preview, func() (harness.Figure, error) { return changes.PreviewFigure(h, o, api) })
	measure(changes.Window, func() (harness.Figure, error) { return changes.WindowFigure(h, o, api) })
	return figures, errors.Join(failures...)
}

// standaloneReads measures schedule reads in the standalone process.
func standaloneReads(h *harness.Host, o harness.Options) ([]harness.Figure, error) {
	settings := []string{"--log-level", "warn", "--admin-profiles", "--admin-address", o.Profiles}
	server := launch.Standalone(h, settings...)
	t, err := baseline.Beside(scenario.API{Target: server.Target(h)}, server)
	if err != nil {
		return nil, err
	}
	return reads.ScheduleFigures(h, o, reads.ReadStandalone, t, func() (baseline.Target, error) {
		server.Stop(h)
		server = launch.StandaloneIn(h, server.StateDir, nil, settings...)
		return baseline.Beside(scenario.API{Target: server.Target(h)}, server)
	})
}
