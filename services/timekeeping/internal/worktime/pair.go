package worktime

import (
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
)

// pair divides the punches into shifts: of all ways to read them it takes the one that
// costs least. So a punch that is missing or one too many changes the shift that it belongs
// to, and no other.
func (c *calculation) pair() {
	p := newPairing(c)
	p.build(p.cheapest(p.read()))
}

// action is what a punch does.
type action uint8

const (
	none action = iota
	// arrive begins a shift, and comeBack goes on with it after a break.
	arrive
	comeBack
	// transfer goes on with another job or pay code, and leave ends work.
	transfer
	leave
	// lose is a punch out without one in, and restart one in while the one before has no
	// punch out. Exceed is a punch out that comes later than the longest shift allows:
	// neither it nor the punch in has its other one.
	lose
	restart
	exceed
)

// step is what was read of the punches up to one of them, and what that costs.
type step struct {
	punch  int32
	action action
	// atWork says that the last punch of the shift, last, is one in. Begun is the first
	// punch of the shift that may go on, -1 without one.
	atWork      bool
	begun, last int32
	// from is the step before, and cost what all steps cost.
	from int32
	cost int64
}

type pairing struct {
	*calculation
	// clocks are the times of the punches by the clocks where they were made, and rules the
	// pay rules of the days on which they were made there.
	clocks []int64
	rules  []*Rule
	// used are the punches that are no repetitions.
	used  []int
	steps []step
	// shift is the shift that is built, and exceeded are the punches of shifts that were
	// too long.
	shift    *Shift
	exceeded map[int]bool
}

// stepsOfPunch is about how many steps are read of a punch.
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
	p.add(step{action: none, begun: -1, last: -1, from: -1})
	return p
}

// read returns the last steps of the readings that may be the cheapest.
func (p *pairing) read() []int32 {
	frontier, after := []int32{0}, []int32(nil)
	for _, i := range p.used {
		after = p.next(after[:0], frontier, i)
		frontier, after = after, frontier
	}
	return frontier
}

// between returns how much later by the clock a punch was made than another one. Clocks
// of different zones are not compared: then it is the time that passed.
func (p *pairing) between(first, then int32) int64 {
	if p.in.Punches[first].Zone != p.in.Punches[then].Zone {
		return p.in.Punches[then].At - p.in.Punches[first].At
	}
	return p.clocks[then] - p.clocks[first]
}

// ignoreRepeated leaves out punches that say soon after another one what that said.
func (p *pairing) ignoreRepeated() {
	last := -1
	for i := range p.in.Punches {
		if last >= 0 && p.repeats(last, i) {
			p.out.Repeated = append(p.out.Repeated, Repetition{Punch: i, Of: last})
			continue
		}
		p.used = append(p.used, i)
		last = i
	}
}

func (p *pairing) repeats(last, i int) bool {
	before, after := &p.in.Punches[last], &p.in.Punches[i]
	return after.At-before.At <= p.rule(int32(last)).RepeatWithin && (after.Direction == Any || after.Direction == before.Direction) &&
		!after.Transfer && after.Job == "" && after.PayCode == nil
}

// rule returns the pay rule of the day on which a punch was made.
func (p *pairing) rule(punch int32) *Rule { return p.rules[punch] }

func (p *pairing) add(s step) int32 {
	p.steps = append(p.steps, s)
	return int32(len(p.steps) - 1)
}

// next appends the cheapest steps after a punch, one for each state that differs in what
// may follow.
func (p *pairing) next(out, frontier []int32, i int) []int32 {
	p.each(frontier, int32(i), func(s step) {
		for n, known := range out {
			k := &p.steps[known]
			if k.atWork == s.atWork && k.begun == s.begun && k.last == s.last {
				if s.cost < k.cost {
					out[n] = p.add(s)
				}
				return
			}
		}
		out = append(out, p.add(s))
	})
	return out
}

// each calls reach for all steps that a punch may be, after any of some.
func (p *pairing) each(after []int32, i int32, reach func(step)) {
	for _, from := range after {
		count := func(s step, cost int64) {
			s.punch, s.from, s.cost = i, from, p.steps[from].cost+cost*costUnit
			switch s.action {
			case lose, exceed:
				s.cost += p.tie(i)
			case restart:
				s.cost += p.tie(p.steps[from].last)
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

// fromAway reads a punch of somebody who is not at work.
func (p *pairing) fromAway(at step, i int32, reach func(s step, cost int64)) {
	punch := &p.in.Punches[i]
	if at.last >= 0 && p.between(at.last, i) > max(p.rule(at.begun).ShiftGap, shortRest) {
		at.begun, at.last = -1, -1 // Nothing of the shift matters any more.
	}
	if punch.Direction != In {
		reach(step{action: lose, begun: at.begun, last: at.last}, costMissed+p.costOfOut(i))
	}
	if punch.Direction == Out {
		return
	}
	begin := p.costOfIn(i)
	if at.last >= 0 {
		pause := p.between(at.last, i)
		begin += costOfRest(pause)
		if pause <= p.rule(at.begun).ShiftGap && p.fits(at.begun, i) {
			reach(step{action: comeBack, atWork: true, begun: at.begun, last: i}, p.costOfIn(i)+max(0, pause)/breakShare)
			begin += costOfSplit
		}
	}
	reach(step{action: arrive, atWork: true, begun: i, last: i}, begin)
}

// fromWork reads a punch of somebody who is at work.
func (p *pairing) fromWork(at step, i int32, reach func(s step, cost int64)) {
	punch := &p.in.Punches[i]
	says := punch.Transfer || punch.Job != "" || punch.PayCode != nil
	fits := p.fits(at.begun, i)
	if fits && says && punch.Direction == Any {
		reach(step{action: transfer, atWork: true, begun: at.begun, last: i}, p.costOfSpan(at.begun, at.last, i))
	}
	if fits && punch.Direction != In && (punch.Direction == Out || !punch.Transfer) {
		cost := p.costOfOut(i) + p.costOfSpan(at.begun, at.last, i)
		if says && punch.Direction == Any {
			cost += costOfLeavingWithJob
		}
		reach(step{action: leave, begun: at.begun, last: i}, cost)
	}
	if punch.Direction != Out {
		reach(step{action: restart, atWork: true, begun: i, last: i}, costMissed+p.costOfIn(i))
	}
	if punch.Direction != In && !fits {
		reach(step{action: exceed, begun: -1, last: -1}, costExceeded+p.costOfOut(i))
	}
}

// fits reports whether a punch may belong to the shift that another one began.
func (p *pairing) fits(begun, i int32) bool { return p.between(begun, i) <= p.rule(begun).MaxShift }

// cheapest returns the last step of the cheapest reading.
func (p *pairing) cheapest(frontier []int32) int32 {
	best := frontier[0]
	for _, last := range frontier {
		if p.total(&p.steps[last]) < p.total(&p.steps[best]) {
			best = last
		}
	}
	return best
}

// total returns what a reading costs of which a step is the last one. Who is still at work
// misses no punch.
func (p *pairing) total(last *step) int64 {
	if last.atWork && !p.running(last.begun) {
		return last.cost + costMissed*costUnit + p.tie(last.last)
	}
	return last.cost
}

// running reports whether a shift may still go on now.
func (p *pairing) running(begun int32) bool {
	now := p.in.Punches[begun].Local(p.in.Now)
	return int64(now.Date)*civil.SecondsPerDay+int64(now.Seconds)-p.clocks[begun] <= p.rule(begun).MaxShift
}

// build makes the shifts of a reading.
func (p *pairing) build(last int32) {
	var path []int32
	for s := last; s >= 0; s = p.steps[s].from {
		path = append(path, s)
	}
	slices.Reverse(path)
	for _, s := range path {
		p.take(&p.steps[s])
	}
	if p.shift != nil && p.steps[last].atWork {
		p.shift.Running = p.running(p.steps[last].begun)
	}
	p.finishShift()
	slices.SortStableFunc(p.out.Shifts, func(a, b Shift) int { return int(a.Spans[0].RawStart - b.Spans[0].RawStart) })
	p.nameAlone()
}

func (p *pairing) take(s *step) {
	i := int(s.punch)
	switch s.action {
	case none:
	case arrive, restart:
		p.finishShift()
		p.begin(i)
	case comeBack:
		p.begin(i)
	case transfer:
		p.end(i)
		p.begin(i)
	case leave:
		p.end(i)
	case exceed:
		p.exceeded[p.shift.Spans[len(p.shift.Spans)-1].In], p.exceeded[i] = true, true
		p.finishShift()
		p.lost(i)
	case lose:
		p.lost(i)
	}
}

func (p *pairing) begin(i int) {
	punch := &p.in.Punches[i]
	if p.shift == nil {
		p.shift = &Shift{}
	}
	p.shift.Spans = append(p.shift.Spans, Span{RawStart: punch.At, RawEnd: punch.At, In: i, Out: -1, Job: punch.Job})
}

func (p *pairing) end(i int) {
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

// lost keeps a punch out without one in. It makes a shift of no length, so that it is
// seen on its day.
func (p *pairing) lost(i int) {
	at := p.in.Punches[i].At
	p.out.Shifts = append(p.out.Shifts, Shift{Spans: []Span{{RawStart: at, RawEnd: at, In: -1, Out: i, Job: p.in.Punches[i].Job}}})
}
