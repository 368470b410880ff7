// Package rotation shows that real rotations come out exactly, through the
// API.
package rotation

import (
	_ "embed"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

//go:embed testdata/rotations.json
var rotationsJSON []byte

//go:embed testdata/rotation-checks.json
var checksJSON []byte

type rotation struct {
	Name   string
	Cycle  string
	Shifts map[string]struct {
		Start, End  string
		EndsNextDay bool
	}
}

type check struct {
	Rotation        string
	AssignmentStart string
	StartDateOffset int
	ReadFrom        string
	ReadTo          string
	// Shifts holds the day and the letter of every shift.
	Shifts [][2]string
}

func TestRotationsComeOutExactly(t *testing.T) {
	t.Parallel()
	server := launch.Standalone(t)
	api := scenario.API{Target: server.Target(t)}
	rotations := map[string]rotation{}
	for _, r := range load[struct{ Rotations []rotation }](t, rotationsJSON).Rotations {
		rotations[r.Name] = r
	}
	for _, c := range load[struct{ Checks []check }](t, checksJSON).Checks {
		t.Run(c.Rotation, func(t *testing.T) {
			r, known := rotations[c.Rotation]
			require.True(t, known)
			crew, err := scenario.NewCrew(t.Context(), api, 1, "2020-01-01")
			require.NoError(t, err)
			assigned, err := crew.Assign(t.Context(), api, pattern(r), c.AssignmentStart, "", c.StartDateOffset)
			require.NoError(t, err)
			_, err = scenario.Finish(t.Context(), api, assigned.Propagation)
			require.NoError(t, err)

			shifts, err := scenario.ReadShifts(t.Context(), api, crew.Persons, c.ReadFrom, c.ReadTo)
			require.NoError(t, err)
			shown := make([][2]string, 0, len(shifts))
			for _, s := range shifts {
				shown = append(shown, [2]string{s.StartDateTime[:len("2006-01-02")], s.Label})
				require.Equal(t, r.Shifts[s.Label].Start+":00", s.StartDateTime[len("2006-01-02T"):])
				require.Equal(t, r.Shifts[s.Label].End+":00", s.EndDateTime[len("2006-01-02T"):])
			}
			require.Equal(t, c.Shifts, shown)
		})
	}
}

func pattern(r rotation) scenario.Object {
	shifts := map[string]scenario.Object{}
	for letter, s := range r.Shifts {
		shifts[letter] = scenario.Shift(letter, s.Start, s.End, s.EndsNextDay)
	}
	return scenario.Pattern(r.Cycle, shifts)
}

func load[T any](t *testing.T, data []byte) T {
	t.Helper()
	var v T
	require.NoError(t, json.Unmarshal(data, &v))
	return v
}
