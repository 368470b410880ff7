package worktime

import "sort"

// What a way to read punches costs, in seconds. Only the sum counts, and which of two is
// less. A missing punch costs so much that no reading leaves one out which a shift of usual
// length explains, and so little that none is explained by a chain of shifts that begin
// when others end.
const (
	costMissed = 6 * 3600
	// costExceeded is that of a shift that is longer than the longest one: two punches
	// that miss their other ones, and belong together for whoever looks at them.
	costExceeded = 2*costMissed - 3600
	// costOfLength is what it costs to work through the longest shift; up to the part
	// usualPart of usualAll of it costs nothing.
	costOfLength        = 10 * 3600
	usualPart, usualAll = 3, 5
	// shortRest is the rest between two shifts from which on it costs nothing. Each hour
	// that is missing costs a quarter of one.
	shortRest = 10 * 3600
	restShare = 4
	// breakShare is the part of a break that it costs. Who is away no longer than the
	// longest break goes on with the shift: that it is another one costs costOfSplit, and
	// is so only where punches would be missing otherwise.
	breakShare  = 20
	costOfSplit = 3 * 3600
	// scheduleWithin is how far from the schedule a punch says nothing about it any more;
	// half of the distance is what it costs.
	scheduleWithin = 4 * 3600
	// costOfLeavingWithJob is what a punch out costs that names a job. Who names one goes
	// on in it, as a rule.
	costOfLeavingWithJob = 3600
	// costUnit divides a second. Between two readings that cost the same, the punches
	// decide that miss others: not what comes before or behind.
	costUnit = 1024
)

// tie returns what is less than a second, and differs between most punches.
func (p *pairing) tie(punch int32) int64 { return (p.clocks[punch]%tieOf + tieOf) % tieOf }

// tieOf is a prime, so that punches at round times differ.
const tieOf = 1021

func costOfRest(length int64) int64 { return max(0, shortRest-length) / restShare }

// costOfSpan returns what it costs that somebody works from one punch to another: the part
// that is longer than usual, and not scheduled.
func (p *pairing) costOfSpan(begun, last, i int32) int64 {
	longest := p.rule(begun).MaxShift
	usual := longest * usualPart / usualAll
	over := p.between(last, i) - p.scheduled(p.in.Punches[last].At, p.in.Punches[i].At) - usual
	if over <= 0 {
		return 0
	}
	return over * costOfLength / max(longest-usual, 1)
}

// scheduled returns how much of a time is scheduled.
func (p *pairing) scheduled(from, to int64) (length int64) {
	for i := p.firstAfter(from - longestScheduled); i < len(p.in.Schedule) && p.in.Schedule[i].Start < to; i++ {
		planned := p.in.Schedule[i]
		length += max(0, min(to, planned.End)-max(from, planned.Start))
	}
	return min(length, to-from)
}

// longestScheduled bounds how long a scheduled shift is.
const longestScheduled = 48 * 3600

// firstAfter returns the position of the first scheduled shift that begins at an instant
// or later.
func (p *pairing) firstAfter(at int64) int {
	return sort.Search(len(p.in.Schedule), func(i int) bool { return p.in.Schedule[i].Start >= at })
}

// costOfIn and costOfOut say how badly a punch fits the schedule in each direction. A punch
// that is far away from the schedule fits both.
func (p *pairing) costOfIn(i int32) int64 {
	start, end := p.distances(p.in.Punches[i].At)
	return costOfDistance(start, end)
}

func (p *pairing) costOfOut(i int32) int64 {
	start, end := p.distances(p.in.Punches[i].At)
	return costOfDistance(end, start)
}

func costOfDistance(own, other int64) int64 {
	if min(own, other) >= scheduleWithin {
		return 0
	}
	return min(own, scheduleWithin) / 2
}

// distances returns how far the nearest scheduled start and the nearest scheduled end are,
// at most as far as counts.
func (p *pairing) distances(at int64) (start, end int64) {
	start, end = scheduleWithin, scheduleWithin
	for i := p.firstAfter(at - longestScheduled); i < len(p.in.Schedule) && p.in.Schedule[i].Start < at+scheduleWithin; i++ {
		start = min(start, abs(at-p.in.Schedule[i].Start))
		end = min(end, abs(at-p.in.Schedule[i].End))
	}
	return start, end
}

func abs(n int64) int64 { return max(n, -n) }
