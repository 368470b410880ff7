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
	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// groups are the groups in the order of the table.
var groups = slices.Concat(
	[]harness.Group{
		{Names: []string{changes.ApplyLarge, changes.MembershipLarge, changes.ApplySmall, changes.Window, reads.ReadStandalone, reads.ReadProcessor, reads.ReadTransport}, Run: standalone},
		{Names: []string{reads.ReadDeployed, reads.GetDeployed}, Run: measureDeployed},
	},
	reads.Groups, components.Groups, commons.Groups, changes.Groups, footprint.Groups,
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

// standalone measures the standalone process.
func standalone(h *harness.Host, o harness.Options) ([]harness.Figure, error) {
	server := launch.Standalone(h, "--log-level", "warn", "--admin-profiles", "--admin-address", o.Profiles)
	api := scenario.API{Target: server.Target(h)}
	var figures []harness.Figure
	add := func(f harness.Figure, err error) error {
		figures = append(figures, f)
		return err
	}
	wantsReads := slices.ContainsFunc([]string{reads.ReadStandalone, reads.ReadProcessor, reads.ReadTransport}, o.Wants)
	if o.Wants(changes.ApplyLarge) || wantsReads {
		crew, err := fixture.Hire(h.Context(), api, o.CrewSize(), "")
		if err != nil {
			return nil, err
		}
		if o.Wants(changes.ApplyLarge) {
			if err := add(changes.ApplyFigure(h, o, changes.ApplyLarge, api, crew, 0.2)); err != nil {
				return nil, err
			}
		}
		if wantsReads {
			t, err := baseline.Beside(api, server)
			if err != nil {
				return nil, err
			}
			schedules, err := reads.ScheduleFigures(h, o, reads.ReadStandalone, t, crew)
			if err != nil {
				return nil, err
			}
			figures = append(figures, schedules...)
		}
	}
	if o.Wants(changes.MembershipLarge) {
		if err := add(changes.MembershipFigure(h, o, api)); err != nil {
			return nil, err
		}
	}
	if o.Wants(changes.ApplySmall) {
		crew, err := fixture.Hire(h.Context(), api, 1_000, "")
		if err != nil {
			return nil, err
		}
		if err := add(changes.ApplyFigure(h, o, changes.ApplySmall, api, crew, 0.2)); err != nil {
			return nil, err
		}
	}
	if o.Wants(changes.Window) {
		if err := add(changes.WindowFigure(h, o, api)); err != nil {
			return nil, err
		}
	}
	return figures, nil
}
