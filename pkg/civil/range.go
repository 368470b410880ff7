package civil

import (
	"cmp"
	"fmt"
	"slices"
)

// Range is the days from From up to, but not including, To. It is empty if To is not after From.
type Range struct{ From, To Date }

// Through returns the range of the days first to last, both included, as requests state ranges.
func Through(first, last Date) Range { return Range{From: first, To: last.AddDays(1)} }

// Empty reports whether r has no day.
func (r Range) Empty() bool { return r.To <= r.From }

// Days returns the number of days in r, never less than 0.
func (r Range) Days() int { return max(0, int(r.To)-int(r.From)) }

// Contains reports whether d is a day of r.
func (r Range) Contains(d Date) bool { return r.From <= d && d < r.To }

// Covers reports whether every day of o is a day of r.
func (r Range) Covers(o Range) bool { return o.Empty() || r.From <= o.From && o.To <= r.To }

// Overlaps reports whether r and o have a day in common.
func (r Range) Overlaps(o Range) bool { return max(r.From, o.From) < min(r.To, o.To) }

// Intersect returns the days that r and o have in common, or the zero Range.
func (r Range) Intersect(o Range) Range {
	both := Range{From: max(r.From, o.From), To: min(r.To, o.To)}
	if both.Empty() {
		return Range{}
	}
	return both
}

// Clamp clamps both ends of r to [[Beginning], [Forever]].
func (r Range) Clamp() Range { return Range{From: r.From.Clamp(), To: r.To.Clamp()} }

// String returns r as YYYY-MM-DD..YYYY-MM-DD; the second date is the first day after r.
func (r Range) String() string { return r.From.String() + ".." + r.To.String() }

// Words formats the range for sentences, with its last day: "the days 2026-03-02 to 2026-03-08". A
// range that reaches [Forever] has no last day.
func (r Range) Words() string {
	if r.To >= Forever {
		return fmt.Sprintf("the days from %s on", r.From)
	}
	return fmt.Sprintf("the days %s to %s", r.From, r.To.AddDays(-1))
}

// Normalise sorts list in place and merges ranges that overlap or touch. The result reuses the
// memory of list, ascends, and has at least one day between its ranges. Empty ranges are removed.
// The union of two lists is Normalise of one appended to the other.
func Normalise(list []Range) []Range {
	slices.SortFunc(list, func(a, b Range) int { return cmp.Compare(a.From, b.From) })
	joined := list[:0]
	for _, r := range list {
		switch last := len(joined) - 1; {
		case r.Empty():
		case last >= 0 && r.From <= joined[last].To:
			joined[last].To = max(joined[last].To, r.To)
		default:
			joined = append(joined, r)
		}
	}
	return joined
}

// AppendDifference appends to dst the days of a that are not in b. Both must be normalised; the
// appended ranges are normalised too.
func AppendDifference(dst, a, b []Range) []Range {
	for _, r := range a {
		for len(b) > 0 && b[0].To <= r.From {
			b = b[1:]
		}
		for _, hole := range b {
			if hole.From >= r.To {
				break
			}
			if r.From < hole.From {
				dst = append(dst, Range{From: r.From, To: hole.From})
			}
			r.From = hole.To
		}
		if !r.Empty() {
			dst = append(dst, r)
		}
	}
	return dst
}
