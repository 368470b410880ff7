package span_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rotation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/span"
)

// counter draws numbers as a sequence does.
type counter int64

func (c *counter) take(count int32) (int64, error) {
	first := int64(*c)
	*c += counter(count)
	return first, nil
}

func TestCarry(t *testing.T) {
	t.Parallel()
	one := span.Span{From: 100, To: 200, DayCount: 7, PatternID: 3, AssignmentID: 1, Inherited: true, Series: 50}
	from := func(s span.Span, day civil.Date) span.Span {
		s.Position = rotation.Position(s.From, s.Position, day, s.DayCount)
		s.From, s.Series = day, 0
		return s
	}
	other := func(s span.Span, change func(*span.Span)) span.Span {
		change(&s)
		return s
	}
	family := []span.Assignment{{ID: 1, Lineage: 1}, {ID: 2, Lineage: 1}, {ID: 3, Lineage: 3}}
	for name, c := range map[string]struct {
		current, wanted []span.Span
		series          []int64
	}{
		"the same":                   {[]span.Span{one}, []span.Span{from(one, 100)}, []int64{50}},
		"later":                      {[]span.Span{one}, []span.Span{from(one, 150)}, []int64{50}},
		"on other days":              {[]span.Span{one}, []span.Span{other(from(one, 150), func(s *span.Span) { s.To = 180 }), other(from(one, 190), func(s *span.Span) { s.To = 400 })}, []int64{50, 50}},
		"in another lane":            {[]span.Span{one}, []span.Span{other(from(one, 100), func(s *span.Span) { s.Lane = 4 })}, []int64{50}},
		"another position":           {[]span.Span{one}, []span.Span{other(from(one, 100), func(s *span.Span) { s.Position++ })}, []int64{0}},
		"another pattern":            {[]span.Span{one}, []span.Span{other(from(one, 100), func(s *span.Span) { s.PatternID++ })}, []int64{0}},
		"split from it":              {[]span.Span{one}, []span.Span{other(from(one, 150), func(s *span.Span) { s.AssignmentID = 2 })}, []int64{50}},
		"of another lineage":         {[]span.Span{one}, []span.Span{other(from(one, 150), func(s *span.Span) { s.AssignmentID = 3 })}, []int64{0}},
		"of an assignment that goes": {[]span.Span{other(one, func(s *span.Span) { s.AssignmentID = 9 })}, []span.Span{from(one, 150)}, []int64{0}},
		"twice on a day": {[]span.Span{one}, []span.Span{
			from(one, 100), other(from(one, 150), func(s *span.Span) { s.AssignmentID, s.Lane = 2, 1 }),
		}, []int64{50, 0}},
		"the one that is there first": {
			[]span.Span{other(one, func(s *span.Span) { s.To = 120 }), other(from(one, 150), func(s *span.Span) { s.Series = 60 })},
			[]span.Span{from(one, 160)},
			[]int64{60},
		},
	} {
		t.Run(name, func(t *testing.T) {
			span.Carry(c.current, c.wanted, family)
			got := []int64{}
			for _, s := range c.wanted {
				got = append(got, s.Series)
			}
			assert.Equal(t, c.series, got)
		})
	}
}

func TestNumber(t *testing.T) {
	t.Parallel()
	next := counter(100)
	spans := []span.Span{{AssignmentID: 1}, {AssignmentID: 2, Series: 7}, {AssignmentID: 3}, {AssignmentID: 1}}
	require.NoError(t, span.Number(spans, []span.Assignment{{ID: 1, EntriesPerDay: 3}, {ID: 2}}, next.take))
	assert.Equal(t, []int64{100, 7, 103, 119}, []int64{spans[0].Series, spans[1].Series, spans[2].Series, spans[3].Series},
		"an assignment that is not known takes as many as there can be")
}

// A series means the same for ever: through any changes of an employee's assignments it is what one lineage generates
// from one pattern at one position, and never twice on a day.
func TestSeriesAreNeverUsedForAnythingElse(t *testing.T) {
	t.Parallel()
	for seed := range uint64(400) {
		g := newGenerator(seed)
		next, meaning := counter(1), map[int64]string{}
		in := g.input()
		for i := range in.Assignments {
			in.Assignments[i].Lineage = 1 + g.Int64N(3)
		}
		lineages := map[int64]int64{}
		for _, a := range in.Assignments {
			lineages[a.ID] = a.Lineage
		}
		for range 12 {
			in = g.changeInput(in)
			for _, a := range in.Assignments {
				lineages[a.ID] = a.Lineage
			}
			wanted, err := span.Resolve(in)
			require.NoError(t, err)
			span.Carry(in.Current, wanted, in.Assignments)
			require.NoError(t, span.Number(wanted, in.Assignments, next.take))
			for i, s := range wanted {
				is := fmt.Sprint(lineages[s.AssignmentID], s.PatternID, rotation.Position(s.From, s.Position, 0, s.DayCount), s.Inherited)
				if was, known := meaning[s.Series]; known {
					require.Equal(t, was, is, "case %d: series %d", seed, s.Series)
				}
				meaning[s.Series] = is
				for _, o := range wanted[:i] {
					require.False(t, o.Series == s.Series && o.Days().Overlaps(s.Days()), "case %d: %+v and %+v", seed, o, s)
				}
			}
			in.Current = wanted
		}
	}
}

// changeInput returns the input with one thing changed: an assignment comes, goes, is split, or gets another pattern or
// other days; or the employee's memberships or locks are others.
func (g *generator) changeInput(in span.Input) span.Input {
	in = g.copy(in)
	next := int64(1)
	for _, a := range in.Assignments {
		next = max(next, a.ID+1)
	}
	n := len(in.Assignments)
	if n == 0 || g.chance(15) && n < 6 {
		a := g.assignment(next, next)
		a.Lineage = a.ID
		in.Assignments = append(in.Assignments, a)
		return in
	}
	a := &in.Assignments[g.IntN(n)]
	switch g.IntN(7) {
	case 0:
		*a = in.Assignments[n-1]
		in.Assignments = in.Assignments[:n-1]
	case 1:
		if n < 6 && a.To.AddDays(-4) > a.From {
			part := *a
			part.ID, part.From = next, a.From.AddDays(2)
			a.To = part.From
			in.Assignments = append(in.Assignments, part)
		}
	case 2:
		c := g.anyCycle()
		a.PatternID, a.DayCount = c.id, c.days
	case 3:
		days := g.someDays()
		a.From, a.To = days.From, days.To
	case 4:
		a.Offset = g.Int32N(9)
	case 5:
		in.Memberships = g.input().Memberships
	default:
		in.Locks = g.input().Locks
	}
	return in
}

// A span that returns gets the series that it had on its days, even if another part of its
// assignment is still there.
func TestCarryBackPrefersTheDays(t *testing.T) {
	t.Parallel()
	part := func(from, to civil.Date, series int64) span.Span {
		return span.Span{From: from, To: to, Position: rotation.Position(0, 0, from, 7), DayCount: 7, PatternID: 1, AssignmentID: 1, Series: series}
	}
	for _, test := range []struct {
		name            string
		current, former []span.Span
		want            int64
	}{
		{"the part of these days", []span.Span{part(0, 10, 5)}, []span.Span{part(20, 30, 9)}, 9},
		{"the first to be replaced", nil, []span.Span{part(20, 25, 9), part(20, 30, 11)}, 9},
		{"what is still on these days", []span.Span{part(20, 25, 5)}, []span.Span{part(20, 30, 9)}, 5},
		{"another part", []span.Span{part(0, 10, 5)}, []span.Span{part(40, 50, 9)}, 5},
		{"a former part of other days", nil, []span.Span{part(40, 50, 9)}, 9},
		{"another pattern", nil, []span.Span{{From: 20, To: 30, DayCount: 7, PatternID: 2, AssignmentID: 1, Series: 9}}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			target := []span.Span{part(20, 30, 0)}
			span.CarryBack(test.current, test.former, target, nil)
			assert.Equal(t, test.want, target[0].Series)
		})
	}
}
