package bench

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"
)

// sample is what the rounds of one case gave, in the unit of its figure.
type sample []float64

// median of the rounds.
func (s sample) median() float64 {
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

// text is the median with the least and the largest round.
func (s sample) text(unit string) string {
	if len(s) == 0 {
		return "-"
	}
	if len(s) == 1 {
		return fmt.Sprintf("%s %s", number(s[0]), unit)
	}
	return fmt.Sprintf("%s %s (%s-%s)", number(s.median()), unit, number(slices.Min(s)), number(slices.Max(s)))
}

// number has three digits that count.
func number(v float64) string {
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

// measure is one round of a case.
type measure func(ctx context.Context, round int) (float64, error)

// interleave runs the cases in turns: one uncounted round of each, and then
// rounds of them. What the round before left to the garbage collector is
// collected before the clock starts.
func interleave(ctx context.Context, rounds int, cases ...measure) ([]sample, error) {
	samples := make([]sample, len(cases))
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

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }
