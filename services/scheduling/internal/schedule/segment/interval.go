package segment

import (
	"cmp"
	"slices"
)

// Interval is the time from Start until End, in clock-face seconds since 1970-01-01.
type Interval struct{ Start, End int64 }

// Merge sorts intervals, and joins those that touch or overlap.
func Merge(list []Interval) []Interval {
	slices.SortFunc(list, func(a, b Interval) int { return cmp.Compare(a.Start, b.Start) })
	out := list[:0]
	for _, s := range list {
		if last := len(out) - 1; last >= 0 && s.Start <= out[last].End {
			out[last].End = max(out[last].End, s.End)
		} else if s.Start < s.End {
			out = append(out, s)
		}
	}
	return out
}

// subtract returns the parts of s outside the merged intervals.
func (s Interval) subtract(merged []Interval) []Interval {
	var out []Interval
	for _, g := range merged {
		if g.End <= s.Start || g.Start >= s.End {
			continue
		}
		if s.Start < g.Start {
			out = append(out, Interval{s.Start, g.Start})
		}
		s.Start = g.End
	}
	if s.Start < s.End {
		out = append(out, s)
	}
	return out
}
