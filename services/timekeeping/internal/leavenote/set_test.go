package leavenote

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavecase"
)

func TestNotes(t *testing.T) {
	t.Parallel()
	before := note{text: "as it was", day: civil.Of(2026, 3, 1)}
	for _, test := range []struct {
		name string
		sent *timekeepingv1.LeaveNote
		code string // "" for a note that is stored as want
		want note
	}{
		{"nothing", &timekeepingv1.LeaveNote{}, "", before},
		{"another text", &timekeepingv1.LeaveNote{NoteText: "two\nlines"}, "", note{text: "two\nlines", day: before.day}},
		{"another day", &timekeepingv1.LeaveNote{NoteDate: "2026-04-02"}, "", note{text: before.text, day: civil.Of(2026, 4, 2)}},
		{"blanks", &timekeepingv1.LeaveNote{NoteText: " \t"}, fault.CodeInput, note{}},
		{"as long as may be", &timekeepingv1.LeaveNote{NoteText: strings.Repeat("é", maxText)}, "", note{text: strings.Repeat("é", maxText), day: before.day}},
		{"too long", &timekeepingv1.LeaveNote{NoteText: strings.Repeat("é", maxText+1)}, leavecase.CodeTooLong, note{}},
		{"a control character", &timekeepingv1.LeaveNote{NoteText: "a\x00b"}, fault.CodeInput, note{}},
		{"no date", &timekeepingv1.LeaveNote{NoteDate: "tomorrow"}, fault.CodeDate, note{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			n := before
			err := n.set(t.Context(), test.sent)
			if test.code != "" {
				require.Error(t, err)
				assert.Equal(t, test.code, fault.FromError(err).Code)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.want, n)
		})
	}
}
