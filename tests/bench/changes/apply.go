// Package changes measures changes of patterns, from the request until they are FINISHED or
// readable.
package changes

import (
	"context"
	"fmt"

	"github.com/rotaloom/rotaloom/tests/bench/fixture"
	"github.com/rotaloom/rotaloom/tests/bench/harness"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

const (
	ApplyLarge = "apply-10000"
	ApplySmall = "apply-1000"
	Window     = "window"
)

// ApplyFigure measures the time from the 200 of a change until every employee's schedule was read.
// atMost is the target in seconds.
func ApplyFigure(h *harness.Host, o harness.Options, name string, api scenario.API, crew *scenario.Crew, atMost float64) (harness.Figure, error) {
	f := harness.Figure{Name: name, Unit: "s", AtMost: atMost, Note: fmt.Sprintf("a change without end of %d employees, until all are read", len(crew.Persons))}
	samples, err := harness.Interleave(h.Context(), o.Rounds, changing(api, crew, "", true))
	if err == nil {
		f.Measured = samples[0]
	}
	return f, err
}

// WindowFigure compares a change over ten years with a change over 30 days.
func WindowFigure(h *harness.Host, o harness.Options, api scenario.API) (harness.Figure, error) {
	size := o.CrewSize() / 2
	f := harness.Figure{Name: Window, Unit: "s", AtMost: 1.1, Note: fmt.Sprintf("10 years against 30 days, %d employees, until FINISHED", size)}
	ends := [2]string{"2036-01-04", "2026-02-03"}
	var crews [2]*scenario.Crew
	for i := range crews {
		var err error
		if crews[i], err = fixture.Hire(h.Context(), api, size, ends[i]); err != nil {
			return f, err
		}
	}
	// Each crew keeps its range, so that all its rounds replace equally much.
	samples, err := harness.Interleave(h.Context(), 2*o.Rounds+1,
		changing(api, crews[0], ends[0], false), changing(api, crews[1], ends[1], false))
	if err == nil {
		f.Measured, f.Baseline = samples[0], samples[1]
	}
	return f, err
}

func changing(api scenario.API, crew *scenario.Crew, to string, read bool) harness.Measure {
	return func(ctx context.Context, _ int) (float64, error) {
		took, err := fixture.Change(ctx, api, crew, to, read)
		return took.Seconds(), err
	}
}
