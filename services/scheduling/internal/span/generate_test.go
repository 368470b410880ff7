package span_test

import (
	"math/rand/v2"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rotation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/span"
)

// How many days a random case is about, and how many days its entries may reach into others.
const (
	horizon = 48
	reach   = 3
)

// generator makes random employees whose assignments, memberships, locks and spans lie around first.
type generator struct {
	*rand.Rand
	first  civil.Date
	cycles map[int64]cycle
}

func newGenerator(seed uint64) *generator {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0x707a)), cycles: map[int64]cycle{}}
	g.first = civil.Of(1900+g.IntN(1100), 1, 1).AddDays(g.IntN(366)).Clamp()
	g.first = max(civil.Beginning+20, min(civil.Forever-horizon-20, g.first))
	for id := range int64(1 + g.IntN(4)) {
		g.cycles[id+1] = g.cycle(id + 1)
	}
	return g
}

func (g *generator) cycle(id int64) cycle {
	c := cycle{id: id, days: int32(1 + g.IntN(10))}
	for range 1 + g.IntN(8) {
		start := g.Int32N(86400)
		end := start + 1 + g.Int32N(reach*86400-86400)
		if g.chance(30) {
			end += 86400 - 1 - (end-1)%86400 // to the next midnight
		}
		c.items = append(c.items, rotation.Item{
			Day: 1 + g.Int32N(c.days), Kind: rotation.Kind(1 + g.IntN(4)), StartSec: start, EndSec: end, Template: g.Int32N(1000),
		})
	}
	return c
}

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

// someDays returns a range near the horizon; now and then one without begin or end, or an empty one.
func (g *generator) someDays() civil.Range {
	from := g.first.AddDays(g.IntN(horizon+10) - 10)
	days := civil.Range{From: from, To: from.AddDays(g.IntN(horizon))}
	if g.chance(15) {
		days.To = civil.Forever
	}
	if g.chance(5) {
		days.From = civil.Beginning
	}
	return days
}

func (g *generator) anyCycle() cycle { return g.cycles[1+g.Int64N(int64(len(g.cycles)))] }

func (g *generator) input() span.Input {
	var in span.Input
	order := g.Perm(20)
	for i := range g.IntN(7) {
		in.Assignments = append(in.Assignments, g.assignment(int64(i+1), int64(order[i])))
	}
	for range g.IntN(5) {
		in.Memberships = append(in.Memberships, span.Membership{TermID: 1 + g.Int64N(3), Days: g.someDays(), Inherits: g.chance(80)})
	}
	if g.chance(60) {
		for range 1 + g.IntN(4) {
			from := g.first.AddDays(g.IntN(horizon))
			in.Locks = append(in.Locks, civil.Range{From: from, To: from.AddDays(g.IntN(12))})
		}
	}
	return in
}

func (g *generator) assignment(id, seq int64) span.Assignment {
	c, days := g.anyCycle(), g.someDays()
	a := span.Assignment{
		ID: id, Seq: seq, TermID: g.Int64N(4), From: days.From, To: days.To, PatternID: c.id, DayCount: c.days,
		Anchor: g.first.AddDays(g.IntN(60) - 30), Offset: g.Int32N(61) - 30, Override: g.chance(30), Lane: uint8(g.UintN(16)),
	}
	if g.chance(40) {
		a.Lane %= 2 // so that lanes clash
	}
	return a
}

// current returns possible current spans: half of the time the result of a slightly different
// input, which the new spans partly continue, and otherwise random spans.
func (g *generator) current(in span.Input) []span.Span {
	if g.chance(50) {
		in.Locks, in.Current = nil, nil
		in.Assignments = slices.Clone(in.Assignments)
		if n := len(in.Assignments); n > 0 {
			in.Assignments[g.IntN(n)] = g.assignment(1+g.Int64N(7), 30)
		}
		if spans, err := span.Resolve(in); err == nil {
			return spans
		}
	}
	var list []span.Span
	for lane := range uint8(g.IntN(4)) {
		for day := g.first - 10; day < g.first+horizon; {
			c := g.anyCycle()
			s := span.Span{
				From: day.AddDays(g.IntN(6)), Position: g.Int32N(c.days), DayCount: c.days, PatternID: c.id,
				AssignmentID: 1 + g.Int64N(7), Lane: lane, Inherited: g.chance(50),
			}
			s.To = s.From.AddDays(1 + g.IntN(20))
			list, day = append(list, s), s.To
		}
	}
	return list
}

func (g *generator) shuffle(in span.Input) span.Input {
	in.Assignments, in.Memberships = slices.Clone(in.Assignments), slices.Clone(in.Memberships)
	in.Locks, in.Current = slices.Clone(in.Locks), slices.Clone(in.Current)
	g.Shuffle(len(in.Assignments), func(i, j int) {
		in.Assignments[i], in.Assignments[j] = in.Assignments[j], in.Assignments[i]
	})
	g.Shuffle(len(in.Memberships), func(i, j int) {
		in.Memberships[i], in.Memberships[j] = in.Memberships[j], in.Memberships[i]
	})
	g.Shuffle(len(in.Locks), func(i, j int) { in.Locks[i], in.Locks[j] = in.Locks[j], in.Locks[i] })
	g.Shuffle(len(in.Current), func(i, j int) { in.Current[i], in.Current[j] = in.Current[j], in.Current[i] })
	return in
}
