package changes

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/rotaloom/rotaloom/tests/bench/fixture"
	"github.com/rotaloom/rotaloom/tests/bench/harness"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

const undo = "undo"

// undoFigure compares the undo of a change with the change, from the request until it is FINISHED.
func undoFigure(h *harness.Host, o harness.Options, c *seededServer) ([]harness.Figure, error) {
	f := harness.Figure{
		Name: undo, Unit: "s", AtMost: 1.2,
		Note: fmt.Sprintf("undo of a change of %d employees, against the change", manyEmployees),
	}
	crew, err := fixture.Seed(h.Context(), c.admin, c.large, manyEmployees)
	if err != nil {
		return nil, err
	}
	api, path := c.large.API, ""
	change := func(ctx context.Context, _ int) (float64, error) {
		began := time.Now()
		paths, err := fixture.Queue(ctx, api, crew, 1)
		if err != nil {
			return 0, err
		}
		path = paths[0]
		err = fixture.FinishAll(ctx, api, paths)
		return time.Since(began).Seconds(), err
	}
	undone := func(ctx context.Context, _ int) (float64, error) {
		began := time.Now()
		header, err := api.Call(ctx, http.MethodPost, path+"/undo", scenario.Object{"reason": "measurement"}, nil)
		if err == nil {
			err = fixture.FinishAll(ctx, api, []string{header.Get("Content-Location")})
		}
		return time.Since(began).Seconds(), err
	}
	samples, err := harness.Interleave(h.Context(), o.Rounds, change, undone)
	if err == nil {
		f.Measured, f.Baseline = samples[1], samples[0]
	}
	return []harness.Figure{f}, err
}
