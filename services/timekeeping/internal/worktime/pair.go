package worktime

import (
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
)

// pair divides the punches into shifts. It compares all readings of the punches and takes
// the cheapest one. A missing or additional punch therefore changes only its own shift.
func (c *calculation) pair() {
	p := newPairing(c)
	p.buildShifts(p.findCheapest(p.readAll()))
}

// action is the role of a punch in a reading.
type action uint8

const (
	none action = iota
	// arrive begins a shift, and comeBack continues it after a break.
	arrive
	comeBack
	// transfer continues with another job or pay code, and leave ends work.
	transfer
	leave
	// lose is a punch out without a punch in. restart is a punch in that follows another punch in;
	// the punch out between them is missing. exceed is a punch out beyond the longest shift: it
	// stays alone, and so does the punch in before it.
	lose
	restart
	exceed
)

// step is a reading of the punches up to one of them, with its cost.
type step struct {
	punch  int32
	action action
	// atWork reports that the employee is at work after the punch. begun is the first punch
	// of the shift that may continue, and last is its last punch; both are -1 without a shift.
	atWork      bool
	begun, last int32
	// from is the previous step, and cost is the sum of all steps.
	from int32
	cost int64
}

type pairing struct {
	*calculation
	// clocks are the local times of the punches in seconds, and rules are the pay rules of
	// their local days.
	clocks []int64
	rules  []*Rule
	// used are the punches without the repetitions.
	used  []int
	steps []step
	// shift is the shift under construction. exceeded has the punches of shifts beyond the
	// longest shift.
	shift    *Shift
	exceeded map[int]bool
}

// stepsOfPunch is the usual number of steps for each punch.
const stepsOfPunch = 10

func newPairing(c *calculation) *pairing {
	n := len(c.in.Punches)
	p := &pairing{
		calculation: c, clocks: make([]int64, n), rules: make([]*Rule, n),
		used: make([]int, 0, n), steps: make([]step, 0, stepsOfPunch*n+1), exceeded: map[int]bool{},
	}
	for i := range c.in.Punches {
		local := c.in.Punches[i].Local(c.in.Punches[i].At)
		p.clocks[i], p.rules[i] = int64(local.Date)*civil.SecondsPerDay+int64(local.Seconds), c.in.Rule(local.Date)
	}
	p.ignoreRepeated()
	p.addStep(step{action: none, begun: -1, last: -1, from: -1})
	return p
}

// readAll returns the last steps of all readings that may be the cheapest.
func (p *pairing) readAll() []int32 {
	frontier, after := []int32{0}, []int32(nil)
	for _, i := range p.used {
		after = p.appendNext(after[:0], frontier, i)
		frontier, after = after, frontier
	}
	return frontier
}

// clockBetween returns the wall-clock time from one punch to another in seconds. It returns the
// elapsed time if the punches were made in different time zones.
func (p *pairing) clockBetween(first, then int32) int64 {
	if p.in.Punches[first].Zone != p.in.Punches[then].Zone {
		return p.in.Punches[then].At - p.in.Punches[first].At
	}
	return p.clocks[then] - p.clocks[first]
}

// ignoreRepeated leaves out the punches that repeat the previous punch.
func (p *pairing) ignoreRepeated() {
	last := -1
	for i := range p.in.Punches {
		if last >= 0 && p.isRepetition(last, i) {
			p.out.Repeated = append(p.out.Repeated, Repetition{Punch: i, Of: last})
			continue
		}
		p.used = append(p.used, i)
		last = i
	}
}

func (p *pairing) isRepetition(last, i int) bool {
	before, after := &p.in.Punches[last], &p.in.Punches[i]
	return after.At-before.At <= p.rule(int32(last)).RepeatWithin && (after.Direction == Any || after.Direction == before.Direction) &&
		!after.Transfer && after.Job == "" && after.PayCode == nil
}

// rule returns the pay rule of the day on which a punch was made.
func (p *pairing) rule(punch int32) *Rule { return p.rules[punch] }

func (p *pairing) addStep(s step) int32 {
	p.steps = append(p.steps, s)
	return int32(len(p.steps) - 1)
}

// appendNext appends the steps that a punch adds to the frontier: the cheapest one for each
// state that the following punches depend on.
func (p *pairing) appendNext(out, frontier []int32, i int) []int32 {
	p.extend(frontier, int32(i), func(s step) {
		for n, known := range out {
			k := &p.steps[known]
			if k.atWork == s.atWork && k.begun == s.begun && k.last == s.last {
				if s.cost < k.cost {
					out[n] = p.addStep(s)
				}
				return
			}
		}
		out = append(out, p.addStep(s))
	})
	return out
}

// extend calls reach for each step that a punch may add after the given steps.
func (p *pairing) extend(after []int32, i int32, reach func(step)) {
	for _, from := range after {
		count := func(s step, cost int64) {
			s.punch, s.from, s.cost = i, from, p.steps[from].cost+cost*costUnit
			switch s.action {
			case lose, exceed:
				s.cost += p.tieBreaker(i)
			case restart:
				s.cost += p.tieBreaker(p.steps[from].last)
			}
			reach(s)
		}
		if p.steps[from].atWork {
			p.fromWork(p.steps[from], i, count)
		} else {
			p.fromAway(p.steps[from], i, count)
		}
	}
}

// fromAway adds the steps of a punch of an employee who is away.
func (p *pairing) fromAway(at step, i int32, reach func(s step, cost int64)) {
	punch := &p.in.Punches[i]
	if at.last >= 0 && p.clockBetween(at.last, i) > max(p.rule(at.begun).ShiftGap, shortRest) {
		at.begun, at.last = -1, -1 // Nothing of the shift is relevant for later punches.
	}
	if punch.Direction != In {
		reach(step{action: lose, begun: at.begun, last: at.last}, missedCost+p.outCost(i))
	}
	if punch.Direction == Out {
		return
	}
	begin := p.inCost(i)
	if at.last >= 0 {
		pause := p.clockBetween(at.last, i)
		begin += restCost(pause)
		if pause <= p.rule(at.begun).ShiftGap && p.withinLongestShift(at.begun, i) {
			reach(step{action: comeBack, atWork: true, begun: at.begun, last: i}, p.inCost(i)+max(0, pause)/breakShare)
			begin += splitCost
		}
	}
	reach(step{action: arrive, atWork: true, begun: i, last: i}, begin)
}

// fromWork adds the steps of a punch of an employee who is at work.
func (p *pairing) fromWork(at step, i int32, reach func(s step, cost int64)) {
	punch := &p.in.Punches[i]
	says := punch.Transfer || punch.Job != "" || punch.PayCode != nil
	fits := p.withinLongestShift(at.begun, i)
	if fits && says && punch.Direction == Any {
		reach(step{action: transfer, atWork: true, begun: at.begun, last: i}, p.spanCost(at.begun, at.last, i))
	}
	if fits && punch.Direction != In && (punch.Direction == Out || !punch.Transfer) {
		cost := p.outCost(i) + p.spanCost(at.begun, at.last, i)
		if says && punch.Direction == Any {
			cost += leaveWithJobCost
		}
		reach(step{action: leave, begun: at.begun, last: i}, cost)
	}
	if punch.Direction != Out {
		reach(step{action: restart, atWork: true, begun: i, last: i}, missedCost+p.inCost(i))
	}
	if punch.Direction != In && !fits {
		reach(step{action: exceed, begun: -1, last: -1}, exceededCost+p.outCost(i))
	}
}

// withinLongestShift reports whether a punch may belong to the shift that started with begun.
func (p *pairing) withinLongestShift(begun, i int32) bool {
	return p.clockBetween(begun, i) <= p.rule(begun).MaxShift
}

// findCheapest returns the last step of the cheapest reading.
func (p *pairing) findCheapest(frontier []int32) int32 {
	best := frontier[0]
	for _, last := range frontier {
		if p.totalCost(&p.steps[last]) < p.totalCost(&p.steps[best]) {
			best = last
		}
	}
	return best
}

// totalCost returns the cost of the reading that ends with a step. A shift that is still
// running has no missing punch.
func (p *pairing) totalCost(last *step) int64 {
	if last.atWork && !p.isRunning(last.begun) {
		return last.cost + missedCost*costUnit + p.tieBreaker(last.last)
	}
	return last.cost
}

// isRunning reports whether a shift may continue now.
func (p *pairing) isRunning(begun int32) bool {
	now := p.in.Punches[begun].Local(p.in.Now)
	return int64(now.Date)*civil.SecondsPerDay+int64(now.Seconds)-p.clocks[begun] <= p.rule(begun).MaxShift
}

// buildShifts creates the shifts of a reading.
func (p *pairing) buildShifts(last int32) {
	var path []int32
	for s := last; s >= 0; s = p.steps[s].from {
		path = append(path, s)
	}
	slices.Reverse(path)
	for _, s := range path {
		p.applyStep(&p.steps[s])
	}
	if p.shift != nil && p.steps[last].atWork {
		p.shift.Running = p.isRunning(p.steps[last].begun)
	}
	p.finishShift()
	slices.SortStableFunc(p.out.Shifts, func(a, b Shift) int { return int(a.Spans[0].RawStart - b.Spans[0].RawStart) })
	p.labelLonePunches()
}

func (p *pairing) applyStep(s *step) {
	i := int(s.punch)
	switch s.action {
	case none:
	case arrive, restart:
		p.finishShift()
		p.beginSpan(i)
	case comeBack:
		p.beginSpan(i)
	case transfer:
		p.endSpan(i)
		p.beginSpan(i)
	case leave:
		p.endSpan(i)
	case exceed:
		p.exceeded[p.shift.Spans[len(p.shift.Spans)-1].In], p.exceeded[i] = true, true
		p.finishShift()
		p.addLostPunch(i)
	case lose:
		p.addLostPunch(i)
	}
}

func (p *pairing) beginSpan(i int) {
	punch := &p.in.Punches[i]
	if p.shift == nil {
		p.shift = &Shift{}
	}
	p.shift.Spans = append(p.shift.Spans, Span{RawStart: punch.At, RawEnd: punch.At, In: i, Out: -1, Job: punch.Job})
}

func (p *pairing) endSpan(i int) {
	span := &p.shift.Spans[len(p.shift.Spans)-1]
	span.RawEnd, span.Out = p.in.Punches[i].At, i
}

// finishShift ends the shift. Without a punch out, its last span is worth nothing.
func (p *pairing) finishShift() {
	if p.shift == nil {
		return
	}
	p.out.Shifts = append(p.out.Shifts, *p.shift)
	p.shift = nil
}

// addLostPunch keeps a punch out without a punch in as a shift of length 0, so that the
// timecard shows it on its day.
func (p *pairing) addLostPunch(i int) {
	at := p.in.Punches[i].At
	p.out.Shifts = append(p.out.Shifts, Shift{Spans: []Span{{RawStart: at, RawEnd: at, In: -1, Out: i, Job: p.in.Punches[i].Job}}})
}
