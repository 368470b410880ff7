package ruleevaluation

import (
	"cmp"
	"slices"
)

// Worked is a worked shift.
type Worked struct {
	Shift
	// Scheduled is the start of the scheduled shift that was worked, in Unix seconds; nil if there
	// was none.
	Scheduled *int64
}

// Actual returns the shifts that rules on actual hours measure, in order of their start: worked
// shifts that began before an instant, and scheduled shifts from then on. The instant is the start
// of the first day that is not over. Omitted are earlier scheduled shifts that were not worked, and
// later ones whose work began before the instant.
func Actual(scheduled []Shift, worked []Worked, before int64) []Shift {
	var out []Shift
	started := map[int64]bool{}
	for i := range worked {
		if w := &worked[i]; w.Start < before {
			out = append(out, w.Shift)
			if w.Scheduled != nil {
				started[*w.Scheduled] = true
			}
		}
	}
	for _, s := range scheduled {
		if s.Start >= before && !started[s.Start] {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b Shift) int { return cmp.Compare(a.Start, b.Start) })
	return out
}
