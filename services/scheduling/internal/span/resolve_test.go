package span_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/span"
)

const (
	termA = 1
	termB = 2
	week  = 7
)

// monday is 2026-01-05.
var monday = civil.Of(2026, 1, 5)

func days(from, to int) civil.Range {
	return civil.Range{From: monday.AddDays(from), To: monday.AddDays(to)}
}

// pattern assigns pattern 100+id, a week long and beginning with the assignment.
func pattern(id, term int64, from, to int) span.Assignment {
	d := days(from, to)
	return span.Assignment{
		ID: id, Seq: id, TermID: term, From: d.From, To: d.To, PatternID: 100 + id, DayCount: week, Anchor: d.From,
	}
}

func member(term int64, from, to int) span.Membership {
	return span.Membership{TermID: term, Days: days(from, to), Inherits: true}
}

// wantSpan is the span that an assignment made by pattern gives on some of its days.
func wantSpan(a span.Assignment, lane uint8, from, to int) span.Span {
	d := days(from, to)
	return span.Span{
		From: d.From, To: d.To, Position: int32(d.From-a.Anchor) % week, DayCount: week,
		PatternID: a.PatternID, AssignmentID: a.ID, Lane: lane, Inherited: a.TermID != 0,
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	base := pattern(1, termA, 0, 100)
	change := func(a span.Assignment, f func(*span.Assignment)) span.Assignment { f(&a); return a }
	override := func(a *span.Assignment) { a.Override = true }
	added := change(pattern(2, termA, 20, 40), func(a *span.Assignment) { a.Lane = 1 })
	replaced := change(pattern(3, termA, 20, 40), override)
	own := change(pattern(1, 0, 30, 50), func(a *span.Assignment) { a.Lane = 8 })
	ownOver := change(pattern(2, 0, 30, 50), func(a *span.Assignment) { a.Override = true; a.Lane = 5 })
	other := pattern(9, termB, 0, 100)
	younger := change(pattern(4, termA, 25, 35), override)

	for name, c := range map[string]struct {
		in   span.Input
		want []span.Span
	}{
		"nothing": {span.Input{}, nil},
		"one term": {
			span.Input{Assignments: []span.Assignment{base}, Memberships: []span.Membership{member(termA, 10, 30)}},
			[]span.Span{wantSpan(base, 0, 10, 30)},
		},
		"a term that passes nothing on": {
			span.Input{Assignments: []span.Assignment{base}, Memberships: []span.Membership{{TermID: termA, Days: days(10, 30)}}},
			nil,
		},
		"another term's": {
			span.Input{Assignments: []span.Assignment{base}, Memberships: []span.Membership{member(termB, 10, 30)}},
			nil,
		},
		"memberships that touch or overlap are one": {
			span.Input{Assignments: []span.Assignment{base}, Memberships: []span.Membership{
				member(termA, 15, 30), member(termA, 10, 15), member(termA, 12, 20), member(termA, 50, 50), member(termA, 90, 120),
			}},
			[]span.Span{wantSpan(base, 0, 10, 30), wantSpan(base, 0, 90, 100)},
		},
		"added": {
			span.Input{Assignments: []span.Assignment{added, base}, Memberships: []span.Membership{member(termA, 0, 60)}},
			[]span.Span{wantSpan(base, 0, 0, 60), wantSpan(added, 1, 20, 40)},
		},
		"overridden": {
			span.Input{Assignments: []span.Assignment{replaced, base, added}, Memberships: []span.Membership{member(termA, 0, 60)}},
			[]span.Span{wantSpan(base, 0, 0, 20), wantSpan(replaced, 0, 20, 40), wantSpan(base, 0, 40, 60)},
		},
		"the younger of two that override": {
			span.Input{Assignments: []span.Assignment{younger, replaced}, Memberships: []span.Membership{member(termA, 0, 60)}},
			[]span.Span{wantSpan(replaced, 0, 20, 25), wantSpan(younger, 0, 25, 35), wantSpan(replaced, 0, 35, 40)},
		},
		"an override below one that adds": {
			span.Input{
				Assignments: []span.Assignment{replaced, change(added, func(a *span.Assignment) { a.Seq = 9 })},
				Memberships: []span.Membership{member(termA, 0, 60)},
			},
			[]span.Span{wantSpan(replaced, 0, 20, 40), wantSpan(added, 1, 20, 40)},
		},
		"own beside the term's": {
			span.Input{Assignments: []span.Assignment{own, base}, Memberships: []span.Membership{member(termA, 0, 60)}},
			[]span.Span{wantSpan(base, 0, 0, 60), wantSpan(own, 8, 30, 50)},
		},
		"own needs no membership": {span.Input{Assignments: []span.Assignment{own}}, []span.Span{wantSpan(own, 8, 30, 50)}},
		"own stands before the term's, whatever its age": {
			span.Input{
				Assignments: []span.Assignment{change(replaced, func(a *span.Assignment) { a.Seq = 99 }), ownOver},
				Memberships: []span.Membership{member(termA, 0, 60)},
			},
			[]span.Span{wantSpan(replaced, 0, 20, 30), wantSpan(ownOver, 0, 30, 50)},
		},
		"the next lane where the lane is taken": {
			span.Input{Assignments: []span.Assignment{base, other}, Memberships: []span.Membership{member(termA, 0, 20), member(termB, 10, 30)}},
			[]span.Span{wantSpan(base, 0, 0, 20), wantSpan(other, 1, 10, 20), wantSpan(other, 0, 20, 30)},
		},
		"lane 0 after the last": {
			span.Input{Assignments: []span.Assignment{
				change(pattern(1, 0, 0, 10), func(a *span.Assignment) { a.Lane = 15 }), change(pattern(2, 0, 0, 10), func(a *span.Assignment) { a.Lane = 15 }),
			}},
			[]span.Span{wantSpan(pattern(2, 0, 0, 10), 0, 0, 10), wantSpan(pattern(1, 0, 0, 10), 15, 0, 10)},
		},
		"locked days without anything stay so": {
			span.Input{
				Assignments: []span.Assignment{base}, Memberships: []span.Membership{member(termA, 0, 30)},
				Locks: []civil.Range{days(10, 15), days(12, 20)},
			},
			[]span.Span{wantSpan(base, 0, 0, 10), wantSpan(base, 0, 20, 30)},
		},
		"locked days keep what is there": {
			span.Input{
				Assignments: []span.Assignment{base}, Memberships: []span.Membership{member(termA, 0, 30)},
				Locks: []civil.Range{days(10, 20)}, Current: []span.Span{wantSpan(own, 8, 35, 50), wantSpan(other, 3, 3, 17)},
			},
			[]span.Span{wantSpan(base, 0, 0, 10), wantSpan(other, 3, 10, 17), wantSpan(base, 0, 20, 30)},
		},
		"locked days that agree are no seam": {
			span.Input{
				Assignments: []span.Assignment{base}, Memberships: []span.Membership{member(termA, 0, 30)},
				Locks: []civil.Range{days(10, 20)}, Current: []span.Span{wantSpan(base, 0, 0, 30)},
			},
			[]span.Span{wantSpan(base, 0, 0, 30)},
		},
		"locked days of the same assignment with another offset are": {
			span.Input{
				Assignments: []span.Assignment{base}, Memberships: []span.Membership{member(termA, 0, 30)},
				Locks:   []civil.Range{days(10, 20)},
				Current: []span.Span{wantSpan(change(base, func(a *span.Assignment) { a.Anchor -= 2 }), 0, 0, 30)},
			},
			[]span.Span{
				wantSpan(base, 0, 0, 10), wantSpan(change(base, func(a *span.Assignment) { a.Anchor -= 2 }), 0, 10, 20), wantSpan(base, 0, 20, 30),
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := span.Resolve(c.in)
			require.NoError(t, err)
			if len(c.want) == 0 {
				assert.Empty(t, got)
				return
			}
			assert.Equal(t, c.want, got)
		})
	}
}

func TestLayers(t *testing.T) {
	t.Parallel()
	var list []span.Assignment
	for id := range int64(span.MaxLanes) {
		list = append(list, pattern(id+1, 0, 0, 10))
	}
	got, err := span.Resolve(span.Input{Assignments: list})
	require.NoError(t, err)
	require.Len(t, got, span.MaxLanes)
	for i, s := range got {
		assert.Equal(t, uint8(i), s.Lane)
	}

	list = append(list, pattern(17, 0, 9, 12))
	_, err = span.Resolve(span.Input{Assignments: list})
	require.ErrorIs(t, err, span.ErrTooManyLayers)
	_, err = span.Resolve(span.Input{Assignments: list, Locks: []civil.Range{days(9, 10)}})
	require.NoError(t, err, "nothing is laid on locked days")

	cover := pattern(18, 0, 5, 20)
	cover.Override = true
	got, err = span.Resolve(span.Input{Assignments: append(list, cover)})
	require.NoError(t, err, "what is hidden does not count")
	assert.Len(t, got, span.MaxLanes+1)
}

func TestResolveRefusesWhatCannotBe(t *testing.T) {
	t.Parallel()
	endless, outside := pattern(1, 0, 0, 10), pattern(2, 0, 0, 10)
	endless.DayCount, outside.Lane = 0, span.MaxLanes
	for i, a := range []span.Assignment{endless, outside} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			_, err := span.Resolve(span.Input{Assignments: []span.Assignment{a}})
			assert.ErrorIs(t, err, span.ErrInvalid)
		})
	}
	kept := wantSpan(pattern(3, 0, 0, 10), 0, 0, 10)
	kept.DayCount = 0
	_, err := span.Resolve(span.Input{Current: []span.Span{kept}, Locks: []civil.Range{days(0, 2)}})
	assert.ErrorIs(t, err, span.ErrInvalid)
	_, err = span.Resolve(span.Input{Current: []span.Span{kept}, Locks: []civil.Range{days(20, 22)}})
	assert.NoError(t, err)
}

func TestLaneFor(t *testing.T) {
	t.Parallel()
	lane := func(existing []span.Assignment, made span.Assignment) uint8 {
		t.Helper()
		got, err := span.LaneFor(existing, made)
		require.NoError(t, err)
		return got
	}
	over := func(a span.Assignment) span.Assignment { a.Override = true; return a }
	assert.Equal(t, uint8(0), lane(nil, pattern(1, termA, 0, 10)))
	assert.Equal(t, uint8(8), lane(nil, pattern(1, 0, 0, 10)))
	assert.Equal(t, uint8(0), lane(nil, over(pattern(1, 0, 0, 10))))

	for _, term := range []int64{termA, 0} {
		t.Run(fmt.Sprint(term), func(t *testing.T) {
			var list []span.Assignment
			first := lane(nil, pattern(1, term, 0, 10))
			for i := range int64(8) {
				made := pattern(i+1, term, 0, 10)
				made.Lane = lane(list, made)
				assert.Equal(t, first+uint8(i), made.Lane)
				list = append(list, made)
			}
			_, err := span.LaneFor(list, pattern(9, term, 9, 20))
			require.ErrorIs(t, err, span.ErrTooManyLayers)
			assert.Equal(t, first, lane(list, pattern(9, term, 10, 20)), "no common day")
			_, err = span.LaneFor(append(list, over(pattern(9, term, 9, 19))), pattern(10, term, 9, 20))
			require.ErrorIs(t, err, span.ErrTooManyLayers, "not all of them are hidden on every day")
			hidden := append(list, over(pattern(9, term, 9, 20)))
			assert.Equal(t, max(first, 1), lane(hidden, pattern(10, term, 9, 20)), "term %d: the one that overrides is in lane 0", term)
			hidden[0], hidden[8] = hidden[8], hidden[0]
			assert.Equal(t, max(first, 1), lane(hidden, pattern(10, term, 9, 20)), "their order does not matter")
		})
	}
}

func TestCheckDepth(t *testing.T) {
	t.Parallel()
	// All are in lane 0, as those are that were apart when they were made.
	list := []span.Assignment{pattern(1, termA, 0, 30)}
	for i := range 7 {
		list = append(list, pattern(int64(i+2), termA, i, 10+i))
	}
	require.NoError(t, span.CheckDepth(list, days(0, 40)), "eight on day 6")
	full := append(list, pattern(9, termA, 9, 12))
	require.ErrorIs(t, span.CheckDepth(full, days(0, 40)), span.ErrTooManyLayers)
	require.ErrorIs(t, span.CheckDepth(full, days(9, 10)), span.ErrTooManyLayers)
	require.NoError(t, span.CheckDepth(full, days(10, 40)), "the day after the deepest one")
	require.NoError(t, span.CheckDepth(full, days(0, 9)))

	over := pattern(4, termA, 5, 20)
	over.Seq, over.Override = 20, true
	require.NoError(t, span.CheckDepth(append(full, over), days(0, 40)), "what is hidden does not count")
	over.To = 9
	require.ErrorIs(t, span.CheckDepth(append(full, over), days(0, 40)), span.ErrTooManyLayers, "it shows again")
	assert.NoError(t, span.CheckDepth(nil, days(0, 40)))
}

func TestDiff(t *testing.T) {
	t.Parallel()
	a, b, c := wantSpan(pattern(1, 0, 0, 10), 8, 0, 10), wantSpan(pattern(2, 0, 0, 10), 9, 0, 10), wantSpan(pattern(3, 0, 5, 10), 8, 10, 20)
	moved := a
	moved.Position = 3
	var resolver span.Resolver
	removed, added := resolver.Diff([]span.Span{c, a, b}, []span.Span{b, c, a})
	assert.Empty(t, removed)
	assert.Empty(t, added)
	removed, added = resolver.Diff([]span.Span{a, b}, []span.Span{c, moved, b})
	assert.Equal(t, []span.Span{a}, removed)
	assert.Equal(t, []span.Span{moved, c}, added)
	removed, added = resolver.Diff(nil, []span.Span{c, a})
	assert.Empty(t, removed)
	assert.Equal(t, []span.Span{a, c}, added)
	removed, added = resolver.Diff([]span.Span{c, a}, nil)
	assert.Equal(t, []span.Span{a, c}, removed)
	assert.Empty(t, added)
}
