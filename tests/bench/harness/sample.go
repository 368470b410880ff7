package harness

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"
)

// Sample holds the results of the rounds of one case, in the unit of its figure.
type Sample []float64

// median returns the median of the rounds.
func (s Sample) median() float64 {
	sorted := slices.Sorted(slices.Values(s))
	if len(sorted) == 0 {
		return 0
	}
	middle := len(sorted) / 2
	if len(sorted)%2 == 0 {
		return (sorted[middle-1] + sorted[middle]) / 2
	}
	return sorted[middle]
}

// text formats the median with the smallest and the largest round.
func (s Sample) text(unit string) string {
	if len(s) == 0 {
		return "-"
	}
	if len(s) == 1 {
		return fmt.Sprintf("%s %s", formatNumber(s[0]), unit)
	}
	return fmt.Sprintf("%s %s (%s-%s)", formatNumber(s.median()), unit, formatNumber(slices.Min(s)), formatNumber(slices.Max(s)))
}

// formatNumber formats a number with three significant digits.
func formatNumber(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%.2fM", v/1e6)
	case v >= 1e4:
		return fmt.Sprintf("%.0fk", v/1e3)
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// Measure runs one round of a case.
type Measure func(ctx context.Context, round int) (float64, error)

// Interleave runs the cases in turns: one uncounted round of each, and then the counted rounds. It
// runs the garbage collector before each round.
func Interleave(ctx context.Context, rounds int, cases ...Measure) ([]Sample, error) {
	samples := make([]Sample, len(cases))
	for round := range rounds + 1 {
		for i, run := range cases {
			runtime.GC()
			v, err := run(ctx, round)
			if err != nil {
				return nil, err
			}
			if round > 0 {
				samples[i] = append(samples[i], v)
			}
		}
	}
	return samples, nil
}

// Milliseconds returns a duration in milliseconds.
func Milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }

// readsPerRound is the number of reads for the p50 of a round.
const readsPerRound = 15

// P50 runs do several times, and returns the median duration in milliseconds.
func P50(do func(context.Context) error) Measure {
	return func(ctx context.Context, _ int) (float64, error) {
		var times Sample
		for range readsPerRound {
			began := time.Now()
			if err := do(ctx); err != nil {
				return 0, err
			}
			times = append(times, Milliseconds(time.Since(began)))
		}
		return times.median(), nil
	}
}
