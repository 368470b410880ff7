package worktime

import "sort"

// The costs of a reading, in seconds. Only the order of the sums matters. Two missing punches cost
// more than a shift of usual length. One missing punch costs less than a chain of shifts that each
// begin at the end of another.
const (
	missedCost = 6 * 3600
	// exceededCost is the cost of the two punches of a shift beyond the longest shift. It is
	// less than two missing punches, because a supervisor can correct both at once.
	exceededCost = 2*missedCost - 3600
	// maxLengthCost is the cost of a span as long as the longest shift. Spans up to
	// usualPart / usualAll of the longest shift are free.
	maxLengthCost       = 10 * 3600
	usualPart, usualAll = 3, 5
	// shortRest is the shortest rest between two shifts that is free. A shorter rest costs
	// the missing time divided by restShare.
	shortRest = 10 * 3600
	restShare = 4
	// A break costs its length divided by breakShare. splitCost is the cost of a new shift
	// within the longest break: a reading splits a shift only to avoid missing punches.
	breakShare = 20
	splitCost  = 3 * 3600
	// scheduleWithin is the longest distance to the schedule that counts. A punch costs half
	// of its distance.
	scheduleWithin = 4 * 3600
	// leaveWithJobCost is the cost of a punch out with a job. Employees usually continue in
	// a job that their punch names.
	leaveWithJobCost = 3600
	// costUnit is one second of cost. Its fractions break ties between readings by their
	// missing punches, so that punches on other days have no influence.
	costUnit = 1024
)

// tieBreaker returns a fraction of costUnit that differs between most punches.
func (p *pairing) tieBreaker(punch int32) int64 {
	return (p.clocks[punch]%tieModulus + tieModulus) % tieModulus
}

// tieModulus is a prime, so that punches at round times differ.
const tieModulus = 1021

func restCost(length int64) int64 { return max(0, shortRest-length) / restShare }

// spanCost returns the cost of work between two punches: unscheduled time beyond the usual
// length.
func (p *pairing) spanCost(begun, last, i int32) int64 {
	longest := p.rule(begun).MaxShift
	usual := longest * usualPart / usualAll
	over := p.clockBetween(last, i) - p.scheduledTime(p.in.Punches[last].At, p.in.Punches[i].At) - usual
	if over <= 0 {
		return 0
	}
	return over * maxLengthCost / max(longest-usual, 1)
}

// scheduledTime returns the scheduled seconds between two instants.
func (p *pairing) scheduledTime(from, to int64) (length int64) {
	for i := p.firstAfter(from - longestScheduled); i < len(p.in.Schedule) && p.in.Schedule[i].Start < to; i++ {
		planned := p.in.Schedule[i]
		length += max(0, min(to, planned.End)-max(from, planned.Start))
	}
	return min(length, to-from)
}

// longestScheduled is the longest scheduled shift.
const longestScheduled = 48 * 3600

// firstAfter returns the position of the first scheduled shift that begins at an instant
// or later.
func (p *pairing) firstAfter(at int64) int {
	return sort.Search(len(p.in.Schedule), func(i int) bool { return p.in.Schedule[i].Start >= at })
}

// inCost and outCost return the cost of a punch in each direction by its distance to the
// schedule. A punch far from the schedule costs nothing.
func (p *pairing) inCost(i int32) int64 {
	start, end := p.scheduleDistances(p.in.Punches[i].At)
	return distanceCost(start, end)
}

func (p *pairing) outCost(i int32) int64 {
	start, end := p.scheduleDistances(p.in.Punches[i].At)
	return distanceCost(end, start)
}

func distanceCost(own, other int64) int64 {
	if min(own, other) >= scheduleWithin {
		return 0
	}
	return min(own, scheduleWithin) / 2
}

// scheduleDistances returns the distances to the nearest scheduled start and end, up to
// scheduleWithin.
func (p *pairing) scheduleDistances(at int64) (start, end int64) {
	start, end = scheduleWithin, scheduleWithin
	for i := p.firstAfter(at - longestScheduled); i < len(p.in.Schedule) && p.in.Schedule[i].Start < at+scheduleWithin; i++ {
		start = min(start, abs(at-p.in.Schedule[i].Start))
		end = min(end, abs(at-p.in.Schedule[i].End))
	}
	return start, end
}

func abs(n int64) int64 { return max(n, -n) }
