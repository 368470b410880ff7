package operation

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

const (
	day     = "2026-03-02"
	forever = "3000-01-01"
)

// shortTimeouts lets a restarted process resume interrupted changes after a second instead of half
// a minute.
var shortTimeouts = []string{
	"ROTALOOM_SCHEDULING_PROPAGATION_SWEEP_EVERY=250ms", "ROTALOOM_SCHEDULING_PROPAGATION_SWEEP_AFTER=1s",
}

// two patterns of one day
var (
	early = scenario.Pattern("E", map[string]scenario.Object{"E": scenario.Shift("E", "06:00", "14:00", false)})
	late  = scenario.Pattern("L", map[string]scenario.Object{"L": scenario.Shift("L", "14:00", "22:00", false)})
)

// working returns a crew that works the early pattern, as the schedule shows.
func working(t *testing.T, api scenario.API, size int) (*scenario.Crew, scenario.Assignment) {
	t.Helper()
	crew, err := scenario.NewCrew(t.Context(), api, size, "2026-01-01")
	require.NoError(t, err)
	assigned, err := crew.Assign(t.Context(), api, early, day, "", 0)
	require.NoError(t, err)
	launch.Await(t, time.Minute, "everybody works", func() bool {
		shifts, err := scenario.ReadShifts(t.Context(), api, crew.Persons, day, day)
		require.NoError(t, err)
		return len(shifts) == size
	})
	return crew, assigned
}
