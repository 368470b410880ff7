package rotation_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rotation"
)

type crew struct {
	Name      string
	CycleDays int32
	Cycle     string
	Shifts    map[string]struct {
		Start, End  string
		EndsNextDay bool
	}
}

// items makes the pattern of a crew; the template of an entry is the letter of its shift.
func (c crew) items(t testing.TB) (items []rotation.Item) {
	require.Len(t, c.Cycle, int(c.CycleDays))
	for i, letter := range c.Cycle {
		if letter == '-' {
			continue
		}
		s, ok := c.Shifts[string(letter)]
		require.True(t, ok)
		start, err := civil.ParseTimeOfDay(s.Start)
		require.NoError(t, err)
		end, err := civil.ParseTimeOfDay(s.End)
		require.NoError(t, err)
		if s.EndsNextDay {
			end += civil.SecondsPerDay
		}
		items = append(items, rotation.Item{
			Day: int32(i + 1), Kind: rotation.Shift, StartSec: int32(start), EndSec: int32(end), Template: letter,
		})
	}
	return items
}

func crews(t testing.TB) map[string]crew {
	var file struct{ Rotations []crew }
	read(t, "testdata/rotations.json", &file)
	byName := map[string]crew{}
	for _, c := range file.Rotations {
		byName[c.Name] = c
	}
	return byName
}

func read(t testing.TB, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, into))
}

// The schedules that crews with these rotations really have.
func TestCrews(t *testing.T) {
	t.Parallel()
	all := crews(t)
	var file struct {
		Checks []struct {
			Rotation, AssignmentStart, ReadFrom, ReadTo string
			StartDateOffset                             int32
			Shifts                                      [][2]string
		}
	}
	read(t, "testdata/rotation-checks.json", &file)
	require.NotEmpty(t, file.Checks)
	for _, check := range file.Checks {
		t.Run(check.Rotation, func(t *testing.T) {
			t.Parallel()
			c, ok := all[check.Rotation]
			require.True(t, ok)
			p := compile(t, c.CycleDays, c.items(t)...)
			start := date(t, check.AssignmentStart)
			run := rotation.Run{
				Days:     civil.Range{From: start, To: civil.Forever},
				Position: p.Position(start, check.StartDateOffset, start),
			}
			window := civil.Through(date(t, check.ReadFrom), date(t, check.ReadTo))
			var got [][2]string
			for day, e := range p.Entries(run, window) {
				if day >= window.From {
					got = append(got, [2]string{day.String(), string(e.Template)})
				}
			}
			assert.Equal(t, check.Shifts, got)
		})
	}
}

func TestEveryCrewCompiles(t *testing.T) {
	t.Parallel()
	for name, c := range crews(t) {
		p := compile(t, c.CycleDays, c.items(t)...)
		cycle := make([]byte, c.CycleDays)
		for i := range cycle {
			cycle[i] = '-'
			for _, e := range p.Day(int32(i)) {
				cycle[i] = byte(e.Template)
			}
		}
		assert.Equal(t, c.Cycle, string(cycle), name)
	}
}
