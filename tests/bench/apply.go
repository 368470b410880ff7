package bench

import (
	"context"
	"fmt"

	"github.com/rotaloom/rotaloom/tests/scenario"
)

// applyFigure measures the time from the 200 of a change until every employee's
// schedule was read, at most as many seconds.
func applyFigure(h *host, o Options, name string, api scenario.API, crew *scenario.Crew, atMost float64) (figure, error) {
	f := figure{name: name, unit: "s", atMost: atMost, note: fmt.Sprintf("a change without end of %d employees, until all are read", len(crew.Persons))}
	samples, err := interleave(h.ctx, o.Rounds, changing(api, crew, "", true))
	if err == nil {
		f.measured = samples[0]
	}
	return f, err
}

// windowFigure compares a change of ten years with one of 30 days.
func windowFigure(h *host, o Options, api scenario.API) (figure, error) {
	size := o.crewSize() / 2
	f := figure{name: window, unit: "s", atMost: 1.1, note: fmt.Sprintf("10 years against 30 days, %d employees, until FINISHED", size)}
	ends := [2]string{"2036-01-04", "2026-02-03"}
	var crews [2]*scenario.Crew
	for i := range crews {
		var err error
		if crews[i], err = hire(h.ctx, api, size, ends[i]); err != nil {
			return f, err
		}
	}
	// Each crew keeps its window, so that each round replaces as much as the other.
	samples, err := interleave(h.ctx, 2*o.Rounds+1,
		changing(api, crews[0], ends[0], false), changing(api, crews[1], ends[1], false))
	if err == nil {
		f.measured, f.baseline = samples[0], samples[1]
	}
	return f, err
}

func changing(api scenario.API, crew *scenario.Crew, to string, read bool) measure {
	return func(ctx context.Context, _ int) (float64, error) {
		took, err := change(ctx, api, crew, to, read)
		return took.Seconds(), err
	}
}
