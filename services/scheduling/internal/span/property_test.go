package span_test

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rotation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/span"
)

// TestSchedulesEqualTheRules compares random employees with the day-by-day oracle. A failure names its case: run that
// one alone with checkCase.
func TestSchedulesEqualTheRules(t *testing.T) {
	t.Parallel()
	const workers = 4
	cases := uint64(120_000)
	if testing.Short() {
		cases = 8_000
	}
	var checked, entries atomic.Int64
	t.Run("cases", func(t *testing.T) {
		for worker := range uint64(workers) {
			t.Run(fmt.Sprint(worker), func(t *testing.T) {
				t.Parallel()
				var resolver span.Resolver
				for seed := worker; seed < cases; seed += workers {
					n, err := checkCase(&resolver, seed)
					require.NoError(t, err, "case %d", seed)
					checked.Add(1)
					entries.Add(int64(n))
				}
			})
		}
	})
	t.Logf("%d cases, %d entries", checked.Load(), entries.Load())
	require.Equal(t, int64(cases), checked.Load())
	require.Greater(t, entries.Load(), int64(cases), "the cases must not be mostly empty")
}

// checkCase checks all that must hold for one random employee, and returns how many entries it compared.
func checkCase(resolver *span.Resolver, seed uint64) (int, error) {
	g := newGenerator(seed)
	in := g.input()
	in.Current = g.current(in)
	before := g.copy(in)
	got, err := resolver.Resolve(in)
	if err != nil {
		return 0, err
	}
	got = slices.Clone(got)
	if !sameInput(in, before) {
		return 0, fmt.Errorf("the input was changed")
	}
	if err := checkOrder(got); err != nil {
		return 0, err
	}
	if err := checkDays(g, in, got); err != nil {
		return 0, err
	}
	if err := checkStability(g, resolver, in, got); err != nil {
		return 0, err
	}
	return checkEntries(g, in, got)
}

func (g *generator) copy(in span.Input) span.Input {
	return span.Input{
		Assignments: slices.Clone(in.Assignments), Memberships: slices.Clone(in.Memberships),
		Locks: slices.Clone(in.Locks), Current: slices.Clone(in.Current),
	}
}

func sameInput(a, b span.Input) bool {
	return slices.Equal(a.Assignments, b.Assignments) && slices.Equal(a.Memberships, b.Memberships) &&
		slices.Equal(a.Locks, b.Locks) && slices.Equal(a.Current, b.Current)
}

// checkOrder demands spans in order and none that another one could have swallowed.
func checkOrder(spans []span.Span) error {
	for i, s := range spans {
		if s.To <= s.From || s.Position < 0 || s.Position >= s.DayCount {
			return fmt.Errorf("malformed %+v", s)
		}
		if i > 0 && (spans[i-1].From > s.From || spans[i-1].From == s.From && spans[i-1].Lane >= s.Lane) {
			return fmt.Errorf("out of order: %+v", spans)
		}
		for _, next := range spans {
			one := s
			one.From, one.To, one.Position = next.From, next.To, next.Position
			if one == next && s.To == next.From && turn(s.Position, int(s.To-s.From), s.DayCount) == next.Position {
				return fmt.Errorf("not joined: %+v and %+v", s, next)
			}
		}
	}
	return nil
}

// checkDays compares the assignment that generates each lane, day by day, including some days
// beyond the horizon.
func checkDays(g *generator, in span.Input, spans []span.Span) error {
	for day := g.first - 15; day < g.first+horizon+15; day++ {
		want := oracleDay(in, day)
		n := 0
		for _, s := range spans {
			if !s.Days().Contains(day) {
				continue
			}
			n++
			is := layer{s.AssignmentID, s.Inherited, s.PatternID, turn(s.Position, int(day-s.From), s.DayCount)}
			if want[s.Lane] != is {
				return fmt.Errorf("%v lane %d: %+v, the rules say %+v", day, s.Lane, is, want[s.Lane])
			}
		}
		if n != len(want) {
			return fmt.Errorf("%v: %d layers, the rules say %+v", day, n, want)
		}
	}
	return nil
}

// checkStability requires the same result for any order of the input, no changes for a current
// result, and differences that lead from the current spans to the expected ones.
func checkStability(g *generator, resolver *span.Resolver, in span.Input, got []span.Span) error {
	again, err := resolver.Resolve(g.shuffle(in))
	if err != nil || !slices.Equal(again, got) {
		return fmt.Errorf("another order gives %+v, not %+v (%w)", again, got, err)
	}
	settled := in
	settled.Current = got
	again, err = resolver.Resolve(settled)
	if err != nil || !slices.Equal(again, got) {
		return fmt.Errorf("a second time gives %+v, not %+v (%w)", again, got, err)
	}
	if removed, added := resolver.Diff(got, again); len(removed)+len(added) > 0 {
		return fmt.Errorf("nothing changed, yet %+v and %+v", removed, added)
	}
	removed, added := resolver.Diff(in.Current, got)
	left := slices.DeleteFunc(slices.Clone(in.Current), func(s span.Span) bool { return slices.Contains(removed, s) })
	if len(left)+len(added) != len(got) {
		return fmt.Errorf("the differences do not lead to the result: %+v, %+v", removed, added)
	}
	for _, s := range append(left, added...) {
		if !slices.Contains(got, s) {
			return fmt.Errorf("the differences lead to %+v, which is not wanted", s)
		}
	}
	return nil
}

// place is where an entry stands.
type place struct {
	day           civil.Date
	lane, ordinal uint8
}

// checkEntries reads a random window, with some generated entries hidden, and compares every entry.
func checkEntries(g *generator, in span.Input, spans []span.Span) (int, error) {
	from := g.first.AddDays(g.IntN(horizon))
	window := civil.Range{From: from, To: from.AddDays(g.IntN(20))}
	want := map[place]shown{}
	for _, e := range oracleEntries(in, g.cycles, window, reach) {
		want[place{e.day, e.lane, e.ordinal}] = e
	}
	hidden := map[place]bool{}
	for id := range want {
		if g.chance(20) {
			hidden[id] = true
			delete(want, id)
		}
	}
	got, err := read(g, spans, window, hidden)
	if err != nil {
		return 0, err
	}
	for id, e := range want {
		if got[id] != e {
			return 0, fmt.Errorf("%v: entry %+v is %+v", window, e, got[id])
		}
	}
	if len(got) != len(want) {
		return 0, fmt.Errorf("%v: %d entries, the rules say %d", window, len(got), len(want))
	}
	return len(want), nil
}

// read expands spans as a reader does.
func read(g *generator, spans []span.Span, window civil.Range, hidden map[place]bool) (map[place]shown, error) {
	got := map[place]shown{}
	for _, s := range spans {
		c := g.cycles[s.PatternID]
		p, err := rotation.New(c.days, rotation.DefaultMaxDays, c.items)
		if err != nil {
			return nil, err
		}
		last := civil.Date(0)
		for day, e := range p.Entries(s.Run(), window) {
			id := place{day, s.Lane, e.Ordinal}
			if _, twice := got[id]; twice || last > day && last != 0 {
				return nil, fmt.Errorf("entry of %v twice or out of order", day)
			}
			last = day
			if !hidden[id] {
				midnight := int64(day) * 86400
				got[id] = shown{day, s.Lane, e.Ordinal, midnight + int64(e.StartSec), midnight + int64(e.EndSec), e.Kind, e.Template}
			}
		}
	}
	return got, nil
}
