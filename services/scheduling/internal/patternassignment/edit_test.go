package patternassignment

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rotation"
)

var terms = Terms()

func day(t *testing.T, text string) civil.Date {
	t.Helper()
	d, err := civil.ParseDate(text)
	require.NoError(t, err)
	return d
}

// through are the days of a range, both included.
func through(t *testing.T, first, last string) civil.Range {
	return civil.Through(day(t, first), day(t, last))
}

// march is an assignment of a pattern of seven days for March 2025.
func march(t *testing.T) assignment {
	return assignment{
		id: 7, version: 3, ownerID: 1, days: through(t, "2025-03-01", "2025-03-31"),
		patternID: 5, dayCount: 7, anchor: day(t, "2025-02-26"), offset: 2, lane: 4, seq: 9, applied: true,
	}
}

func TestWithoutDays(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		taken civil.Range
		left  []civil.Range
	}{
		{"none of its days", through(t, "2025-04-01", "2025-04-30"), []civil.Range{through(t, "2025-03-01", "2025-03-31")}},
		{"its first day", through(t, "2025-02-01", "2025-03-01"), []civil.Range{through(t, "2025-03-02", "2025-03-31")}},
		{"its end", through(t, "2025-03-10", "2025-05-01"), []civil.Range{through(t, "2025-03-01", "2025-03-09")}},
		{"its middle", through(t, "2025-03-10", "2025-03-12"), []civil.Range{through(t, "2025-03-01", "2025-03-09"), through(t, "2025-03-13", "2025-03-31")}},
		{"exactly its days", through(t, "2025-03-01", "2025-03-31"), nil},
		{"more than its days", civil.Range{From: civil.Beginning, To: civil.Forever}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := march(t)
			e := removeDays(a, c.taken)
			var left []civil.Range
			for i, part := range e.after {
				left = append(left, part.days)
				assert.Equal(t, i == 0, part.id == a.id, "the first part keeps the id")
				// On each day that is left the cycle stands where it stood.
				for d := part.days.From; d < part.days.To; d++ {
					assert.Equal(t, rotation.Position(a.anchor, a.offset, d, a.dayCount), rotation.Position(part.anchor, part.offset, d, part.dayCount))
				}
				assert.Equal(t, a.seq, part.seq, "it is the same decision")
			}
			assert.Equal(t, c.left, left)
			assert.Equal(t, !(len(left) == 1 && left[0] == a.days), e.changes())
		})
	}
}

func TestRecreate(t *testing.T) {
	t.Parallel()
	a := march(t)
	e, err := terms.recreate("do", a, &replacement{dayCount: 14, offset: 1})
	require.NoError(t, err)
	want := a
	want.dayCount, want.offset, want.anchor, want.patternID = 14, 1, a.days.From, 0
	assert.Equal(t, []assignment{want}, e.after, "another pattern in the same place")

	start, to, anchor := day(t, "2025-02-01"), day(t, "2025-05-01"), day(t, "2025-01-06")
	e, err = terms.recreate("do", a, &replacement{dayCount: 14, start: &start, to: &to, anchor: &anchor})
	require.NoError(t, err)
	assert.Equal(t, civil.Range{From: start, To: to}, e.after[0].days)
	assert.Equal(t, anchor, e.after[0].anchor)

	early := day(t, "2025-03-02")
	_, err = terms.recreate("do", a, &replacement{dayCount: 14, to: &early})
	assert.True(t, fault.HasCode(err, codeEnd))
}

func TestAsOfDate(t *testing.T) {
	t.Parallel()
	a := march(t)
	r := &replacement{dayCount: 14}

	e, err := terms.replaceFrom("do", a, day(t, "2025-03-10"), r)
	require.NoError(t, err)
	require.Len(t, e.after, 2)
	old, changed := e.after[0], e.after[1]
	want := a
	want.days = through(t, "2025-03-01", "2025-03-09")
	assert.Equal(t, want, old, "the old one ends the day before")
	assert.Equal(t, through(t, "2025-03-10", "2025-03-31"), changed.days)
	assert.Equal(t, day(t, "2025-03-10"), changed.anchor)
	assert.Equal(t, a.lane, changed.lane)
	assert.Zero(t, changed.id)
	assert.Equal(t, a.seq, changed.seq, "where the old one lies")
	assert.Equal(t, 1, e.shown)

	e, err = terms.replaceFrom("do", a, a.days.From, r)
	require.NoError(t, err)
	require.Len(t, e.after, 1, "on the first day it replaces the whole")
	assert.Equal(t, a.id, e.after[0].id)

	to := civil.Forever
	e, err = terms.replaceFrom("do", a, day(t, "2025-03-31"), &replacement{dayCount: 14, to: &to})
	require.NoError(t, err)
	assert.Equal(t, civil.Forever, e.after[1].days.To)

	for _, outside := range []string{"2025-02-28", "2025-04-01"} {
		t.Run(outside, func(t *testing.T) {
			_, err = terms.replaceFrom("do", a, day(t, outside), r)
			assert.True(t, fault.HasCode(err, patterndefinition.CodeInvalid), outside)
		})
	}
	_, err = terms.replaceFrom("do", a, day(t, "2025-03-10"), &replacement{dayCount: 14, to: new(day(t, "2025-03-11"))})
	assert.True(t, fault.HasCode(err, codeEnd))
}

func TestEndOn(t *testing.T) {
	t.Parallel()
	a := march(t)
	e, err := terms.endOn("do", a, day(t, "2025-03-02"))
	require.NoError(t, err)
	assert.Equal(t, 1, e.after[0].days.Days(), "one day is left")
	assert.Equal(t, a.seq, e.after[0].seq, "it is the same decision")
	e, err = terms.endOn("do", a, civil.Forever)
	require.NoError(t, err)
	e, err = terms.endOn("do", a, a.days.To)
	require.NoError(t, err)
	assert.False(t, e.changes())
	_, err = terms.endOn("do", a, a.days.From)
	assert.True(t, fault.HasCode(err, codeEnd))
}

func TestMessageOfAnAssignment(t *testing.T) {
	t.Parallel()
	a := march(t)
	m := a.message(nil)
	assert.Equal(t, "2025-03-31", m.GetEndDate())
	assert.Equal(t, "2025-03-31", m.GetPopulatedThroughDate())
	a.applied = false
	assert.Equal(t, "2025-02-28", a.message(nil).GetPopulatedThroughDate(), "the day before until it is applied")
	a.applied, a.days.To = true, civil.Forever
	m = a.message(nil)
	assert.Empty(t, m.GetEndDate())
	assert.Equal(t, "3000-01-01", m.GetPopulatedThroughDate())
	a.applied, a.days.From = false, civil.Beginning
	assert.Equal(t, "1900-01-01", a.message(nil).GetPopulatedThroughDate())
}
