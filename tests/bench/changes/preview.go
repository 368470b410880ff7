package changes

import (
	"context"
	"fmt"
	"time"

	"github.com/rotaloom/rotaloom/tests/bench/fixture"
	"github.com/rotaloom/rotaloom/tests/bench/harness"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// Preview is the figure of previews.
const Preview = "preview"

// PreviewFigure compares the preview of a change with the change.
func PreviewFigure(h *harness.Host, o harness.Options, api scenario.API) (harness.Figure, error) {
	size := o.CrewSize()
	f := harness.Figure{Name: Preview, Unit: "s", AtMost: 1, Note: fmt.Sprintf("the preview of a change of %d employees for 28 days, against the change until FINISHED", size)}
	crew, err := fixture.Hire(h.Context(), api, size, "")
	if err != nil {
		return f, err
	}
	samples, err := harness.Interleave(h.Context(), o.Rounds,
		func(ctx context.Context, _ int) (float64, error) {
			took, err := fixture.Preview(ctx, api, crew)
			return took.Seconds(), err
		},
		func(ctx context.Context, _ int) (float64, error) {
			began := time.Now()
			_, err := fixture.Change(ctx, api, crew, "", false)
			return time.Since(began).Seconds(), err
		})
	if err == nil {
		f.Measured, f.Baseline = samples[0], samples[1]
	}
	return f, err
}
