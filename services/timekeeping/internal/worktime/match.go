package worktime

import "slices"

// matchWithin is the longest distance from a shift to the start or end of a scheduled shift
// that it does not overlap.
const matchWithin = 6 * 3600

// match finds the scheduled shifts of each worked shift. A worked shift may match several
// scheduled shifts, and the other way round.
func (c *calculation) match() {
	for i := range c.out.Shifts {
		shift := &c.out.Shifts[i]
		from, to := shift.Spans[0].RawStart, shift.Spans[len(shift.Spans)-1].RawEnd
		for n, planned := range c.in.Schedule {
			if overlapsEnough(from, to, planned.Start, planned.End) {
				shift.Scheduled = append(shift.Scheduled, n)
			}
		}
		if len(shift.Scheduled) == 0 {
			shift.Scheduled = c.findNearest(shift)
		}
	}
}

// overlapsEnough reports whether two intervals share at least half of the shorter one.
func overlapsEnough(from, to, start, end int64) bool {
	both := min(to, end) - max(from, start)
	return both > 0 && 2*both >= min(to-from, end-start)
}

// findNearest returns the scheduled shift with the nearest start, the earlier one of two. If
// only the punch out is known, it compares the ends.
func (c *calculation) findNearest(shift *Shift) []int {
	best, least := -1, int64(matchWithin)+1
	for n, planned := range c.in.Schedule {
		away := abs(shift.Spans[0].RawStart - planned.Start)
		if shift.Spans[0].In < 0 {
			away = abs(shift.Spans[0].RawEnd - planned.End)
		}
		if away < least {
			best, least = n, away
		}
	}
	if best < 0 {
		return nil
	}
	return []int{best}
}

// scheduledShifts returns the scheduled shifts of a worked shift, in order.
func (c *calculation) scheduledShifts(shift *Shift) []Scheduled {
	out := make([]Scheduled, len(shift.Scheduled))
	for i, n := range shift.Scheduled {
		out[i] = c.in.Schedule[n]
	}
	return out
}

// snapToNearest returns the nearest of the times that a punch may be moved to, or the rounded time if
// there is none.
func snapToNearest(at, rounded int64, times []int64, early, late int64) int64 {
	best := int64(-1)
	for _, planned := range times {
		if near(at, planned, early, late) && (best < 0 || abs(at-planned) < abs(at-best)) {
			best = planned
		}
	}
	if best < 0 {
		return rounded
	}
	return best
}

// scheduledStarts and scheduledEnds return the edges of scheduled shifts.
func scheduledStarts(plans []Scheduled) (out []int64) {
	for _, p := range plans {
		out = append(out, p.Start)
	}
	return out
}

func scheduledEnds(plans []Scheduled) (out []int64) {
	for _, p := range plans {
		out = append(out, p.End)
	}
	return slices.Clip(out)
}
