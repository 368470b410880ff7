package span

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A span continues another one if it begins where the other ends and generates entries in the same
// way.
func TestSpansThatContinueOthers(t *testing.T) {
	t.Parallel()
	before := Span{From: 100, To: 110, Position: 2, DayCount: 7, PatternID: 3, AssignmentID: 4, Lane: 1, Series: 5}
	after := before
	after.From, after.To, after.Position = 110, 120, (2+10)%7
	for _, c := range []struct {
		name      string
		change    func(s *Span)
		continues bool
	}{
		{"it goes on", func(*Span) {}, true},
		{"there is a day between", func(s *Span) { s.From, s.Position = s.From+1, (s.Position+1)%7 }, false},
		{"another lane", func(s *Span) { s.Lane = 2 }, false},
		{"another assignment", func(s *Span) { s.AssignmentID = 9 }, false},
		{"another pattern", func(s *Span) { s.PatternID = 9 }, false},
		{"another place in the cycle", func(s *Span) { s.Position = 6 }, false},
		{"a cycle of another length", func(s *Span) { s.DayCount = 12 }, false},
		{"the term's", func(s *Span) { s.Inherited = true }, false},
		{"no ids yet", func(s *Span) { s.Series = 0 }, true},
		{"other ids", func(s *Span) { s.Series = 6 }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			next := after
			c.change(&next)
			assert.Equal(t, c.continues, continues(before, next))
		})
	}
	unnumbered := before
	unnumbered.Series = 0
	assert.True(t, continues(unnumbered, after), "ids only from then on")
}
