package schedule

import (
	"cmp"
	"slices"
)

// stint is a stretch of clock-face seconds since 1970-01-01.
type stint struct{ start, end int64 }

// merged sorts stints and joins those that touch.
func merged(list []stint) []stint {
	slices.SortFunc(list, func(a, b stint) int { return cmp.Compare(a.start, b.start) })
	out := list[:0]
	for _, s := range list {
		if last := len(out) - 1; last >= 0 && s.start <= out[last].end {
			out[last].end = max(out[last].end, s.end)
		} else if s.start < s.end {
			out = append(out, s)
		}
	}
	return out
}

// without returns what the merged stints in gone leave of s.
func (s stint) without(gone []stint) []stint {
	var out []stint
	for _, g := range gone {
		if g.end <= s.start || g.start >= s.end {
			continue
		}
		if s.start < g.start {
			out = append(out, stint{s.start, g.start})
		}
		s.start = g.end
	}
	if s.start < s.end {
		out = append(out, s)
	}
	return out
}
