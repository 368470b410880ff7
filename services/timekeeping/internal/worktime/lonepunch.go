package worktime

import "github.com/rotaloom/rotaloom/pkg/civil"

// habitWithin is the longest distance to the shifts that show the habits of an employee. It is
// shorter than the time that a timecard reads around its days, so that the result does not depend
// on the range.
const habitWithin = 2 * civil.SecondsPerDay

// habitNear is the longest difference in the time of day between a punch and a habit.
const habitNear = 2 * 3600

// labelLonePunches decides for each punch without a partner and without a direction whether
// it is a punch in or out. The schedule decides first, then the times of the employee's
// punches on the days around it. Otherwise it is a punch in.
func (p *pairing) labelLonePunches() {
	for n := range p.out.Shifts {
		shift := &p.out.Shifts[n]
		i := max(shift.Spans[0].In, shift.Spans[0].Out)
		if len(shift.Spans) > 1 || shift.Running || shift.Spans[0].In >= 0 && shift.Spans[0].Out >= 0 || p.in.Punches[i].Direction != Any || p.exceeded[i] {
			continue
		}
		start, end := p.scheduleDistances(p.in.Punches[i].At)
		if start == end {
			start, end = p.distanceToHabits(i)
		}
		span := &shift.Spans[0]
		span.In, span.Out = i, -1
		if end < start {
			span.In, span.Out = -1, i
		}
	}
}

// distanceToHabits returns the differences in the time of day between a punch and the
// nearest first punch in, and the nearest last punch out, of the shifts around it.
func (p *pairing) distanceToHabits(i int) (fromIn, fromOut int64) {
	fromIn, fromOut = habitNear, habitNear
	for n := range p.out.Shifts {
		spans := p.out.Shifts[n].Spans
		first, last := spans[0], spans[len(spans)-1]
		if first.In < 0 || last.Out < 0 || abs(first.RawStart-p.in.Punches[i].At) > habitWithin {
			continue
		}
		fromIn = min(fromIn, timeOfDayDistance(p.clocks[i]-p.clocks[first.In]))
		fromOut = min(fromOut, timeOfDayDistance(p.clocks[i]-p.clocks[last.Out]))
	}
	return fromIn, fromOut
}

// timeOfDayDistance returns the difference between two times of day.
func timeOfDayDistance(difference int64) int64 {
	past := abs(difference) % civil.SecondsPerDay
	return min(past, civil.SecondsPerDay-past)
}
