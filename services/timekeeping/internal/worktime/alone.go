package worktime

import "github.com/rotaloom/rotaloom/pkg/civil"

// habitWithin is how far from a punch shifts are looked at for when their employee comes
// and goes. It is less than what a timecard reads around its days, so that what is found
// does not depend on these.
const habitWithin = 2 * civil.SecondsPerDay

// habitNear is how near by the time of the day a punch is to what the employee does on other
// days, for these to say anything of it.
const habitNear = 2 * 3600

// nameAlone says of each punch that stands alone, and names no direction, which one its
// other one is that is missing. The schedule decides. Without one it is what the employee
// does at that time of the day on the days around it, and otherwise a punch in.
func (p *pairing) nameAlone() {
	for n := range p.out.Shifts {
		shift := &p.out.Shifts[n]
		i := max(shift.Spans[0].In, shift.Spans[0].Out)
		if len(shift.Spans) > 1 || shift.Running || shift.Spans[0].In >= 0 && shift.Spans[0].Out >= 0 || p.in.Punches[i].Direction != Any || p.exceeded[i] {
			continue
		}
		start, end := p.distances(p.in.Punches[i].At)
		if start == end {
			start, end = p.habit(i)
		}
		span := &shift.Spans[0]
		span.In, span.Out = i, -1
		if end < start {
			span.In, span.Out = -1, i
		}
	}
}

// habit returns how far by the time of the day a punch is from the nearest punch in, and
// from the nearest punch out, of shifts around it.
func (p *pairing) habit(i int) (fromIn, fromOut int64) {
	fromIn, fromOut = habitNear, habitNear
	for n := range p.out.Shifts {
		spans := p.out.Shifts[n].Spans
		first, last := spans[0], spans[len(spans)-1]
		if first.In < 0 || last.Out < 0 || abs(first.RawStart-p.in.Punches[i].At) > habitWithin {
			continue
		}
		fromIn = min(fromIn, ofDay(p.clocks[i]-p.clocks[first.In]))
		fromOut = min(fromOut, ofDay(p.clocks[i]-p.clocks[last.Out]))
	}
	return fromIn, fromOut
}

// ofDay returns how far two times of the day are from each other.
func ofDay(difference int64) int64 {
	past := abs(difference) % civil.SecondsPerDay
	return min(past, civil.SecondsPerDay-past)
}
