package worktime

import "slices"

// matchWithin is how far the only punch of a shift may be from the start, or the end, of
// the scheduled one.
const matchWithin = 6 * 3600

// match finds the scheduled shifts of each shift. One that is worked in one go may be
// several of the schedule, and one of the schedule may be worked in several.
func (c *calculation) match() {
	for i := range c.out.Shifts {
		shift := &c.out.Shifts[i]
		from, to := shift.Spans[0].RawStart, shift.Spans[len(shift.Spans)-1].RawEnd
		for n, planned := range c.in.Schedule {
			if shared(from, to, planned.Start, planned.End) {
				shift.Scheduled = append(shift.Scheduled, n)
			}
		}
		if len(shift.Scheduled) == 0 {
			shift.Scheduled = c.nearest(shift)
		}
	}
}

// shared reports whether two times are the same shift: of the shorter one half lies in the
// other one.
func shared(from, to, start, end int64) bool {
	both := min(to, end) - max(from, start)
	return both > 0 && 2*both >= min(to-from, end-start)
}

// nearest returns the scheduled shift that begins nearest to a shift, the earlier of two:
// or that ends nearest, when only the punch out is known.
func (c *calculation) nearest(shift *Shift) []int {
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

// plans are the scheduled shifts of a shift, in order.
func (c *calculation) plans(shift *Shift) []Scheduled {
	out := make([]Scheduled, len(shift.Scheduled))
	for i, n := range shift.Scheduled {
		out[i] = c.in.Schedule[n]
	}
	return out
}

// snapped returns the nearest of some times to which a punch may be moved, or what it was
// rounded to.
func snapped(at, rounded int64, times []int64, early, late int64) int64 {
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

// startsOf and endsOf are the edges of scheduled shifts.
func startsOf(plans []Scheduled) (out []int64) {
	for _, p := range plans {
		out = append(out, p.Start)
	}
	return out
}

func endsOf(plans []Scheduled) (out []int64) {
	for _, p := range plans {
		out = append(out, p.End)
	}
	return slices.Clip(out)
}
