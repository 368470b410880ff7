package changes

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rotaloom/rotaloom/tests/bench/fixture"
	"github.com/rotaloom/rotaloom/tests/bench/harness"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// MembershipLarge is the name of the figure for employees who change their employment term.
const MembershipLarge = "membership-10000"

const (
	// movers is the number of concurrent requests of a move, and moved the number of persons in
	// each, which is the limit of the API.
	movers = 4
	moved  = 100
)

// MembershipFigure measures the time from the first request that puts employees on another
// employment term until all their schedules show its pattern.
func MembershipFigure(h *harness.Host, o harness.Options, api scenario.API) (harness.Figure, error) {
	size := o.CrewSize()
	f := harness.Figure{Name: MembershipLarge, Unit: "s", Note: fmt.Sprintf("%d employees are put on another term, until all are read; no target", size)}
	crew, err := fixture.Hire(h.Context(), api, size, "")
	if err != nil {
		return f, err
	}
	const terms = 2
	var ids [terms]int64
	var labels [terms]string
	for i := range terms {
		other, err := scenario.NewCrew(h.Context(), api, 1, fixture.From)
		if err != nil {
			return f, err
		}
		if labels[i], err = fixture.Assign(h.Context(), api, other); err != nil {
			return f, err
		}
		ids[i] = other.TermID
	}
	samples, err := harness.Interleave(h.Context(), o.Rounds, func(ctx context.Context, round int) (float64, error) {
		began := time.Now()
		to := (round + 1) % terms
		if err := move(ctx, api, ids[to], crew.Persons); err != nil {
			return 0, err
		}
		err := fixture.AwaitShifts(ctx, api, crew, labels[to])
		return time.Since(began).Seconds(), err
	})
	if err == nil {
		f.Measured = samples[0]
	}
	return f, err
}

// move puts persons on a term without end.
func move(ctx context.Context, api scenario.API, term int64, persons []int64) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(movers)
	for first := 0; first < len(persons); first += moved {
		some := persons[first:min(first+moved, len(persons))]
		group.Go(func() error { return scenario.PutOnTerm(ctx, api, term, some, fixture.From, "3000-01-01") })
	}
	return group.Wait()
}
