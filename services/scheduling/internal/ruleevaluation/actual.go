package ruleevaluation

import (
	"cmp"
	"slices"
)

// Worked is a shift as somebody worked it.
type Worked struct {
	Shift
	// Scheduled is when the scheduled shift begins of which this was made, in Unix
	// seconds; nil for none.
	Scheduled *int64
}

// Actual returns the shifts that rules on actual hours measure, by start: those that were
// worked before an instant, when the days that are not over begin, and from then on those
// that are scheduled. A scheduled shift of before that nobody worked is not one of them,
// and neither is one that somebody began before.
func Actual(scheduled []Shift, worked []Worked, before int64) []Shift {
	var out []Shift
	begun := map[int64]bool{}
	for i := range worked {
		if w := &worked[i]; w.Start < before {
			out = append(out, w.Shift)
			if w.Scheduled != nil {
				begun[*w.Scheduled] = true
			}
		}
	}
	for _, s := range scheduled {
		if s.Start >= before && !begun[s.Start] {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b Shift) int { return cmp.Compare(a.Start, b.Start) })
	return out
}
