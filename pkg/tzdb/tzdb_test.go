package tzdb_test

import (
	"os"
	"os/exec"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/tzdb"
)

func TestEveryZoneLoads(t *testing.T) {
	t.Parallel()
	names := tzdb.Names()
	require.Greater(t, len(names), 500)
	for _, name := range names {
		location, err := tzdb.Load(name)
		require.NoError(t, err)
		require.Equal(t, name, location.String())
		again, err := tzdb.Load(name)
		require.NoError(t, err)
		require.Same(t, location, again)
	}
}

func TestUnknownNamesAreRefused(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "Local", "europe/zurich", "Europe//Zurich", "Europe/", "Europe", "./UTC", "../VERSION", "Mars/Olympus"} {
		t.Run(name, func(t *testing.T) {
			_, err := tzdb.Load(name)
			assert.ErrorIs(t, err, tzdb.ErrUnknown, "%q", name)
		})
	}
}

func TestVersionMatchesTheContents(t *testing.T) {
	t.Parallel()
	assert.Regexp(t, regexp.MustCompile(`^\d{4}[a-z]+$`), tzdb.Version())
	// Releases before 2026b let the clocks of Moldova change an hour earlier.
	location, err := tzdb.Load("Europe/Chisinau")
	require.NoError(t, err)
	assert.Equal(t, "+02:00", time.Date(2026, 3, 29, 0, 59, 59, 0, time.UTC).In(location).Format("-07:00"))
	assert.Equal(t, "+03:00", time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC).In(location).Format("-07:00"))
}

// The time zones of the machine must not matter: neither a variable nor a folder.
func TestTheMachinesZonesAreNotRead(t *testing.T) {
	t.Parallel()
	const child = "TZDB_TEST_CHILD"
	if os.Getenv(child) != "" {
		location, err := tzdb.Load("Europe/Zurich")
		require.NoError(t, err)
		require.Equal(t, "CEST", time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC).In(location).Format("MST"))
		_, err = tzdb.Load("Here/Only")
		require.ErrorIs(t, err, tzdb.ErrUnknown)
		return
	}
	// A folder whose Zurich is somewhere else.
	zones := t.TempDir()
	require.NoError(t, os.Mkdir(zones+"/Europe", 0o755))
	require.NoError(t, os.Mkdir(zones+"/Here", 0o755))
	for _, name := range []string{"Europe/Zurich", "Here/Only"} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(zones+"/"+name, []byte("TZif2 of another place"), 0o600))
		})
	}
	again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTheMachinesZonesAreNotRead$")
	again.Env = append(os.Environ(), child+"=1", "ZONEINFO="+zones, "TZ=Here/Only")
	out, err := again.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

func TestNumbersNameOneZone(t *testing.T) {
	t.Parallel()
	for _, name := range tzdb.Names() {
		assert.Positive(t, tzdb.Number(name), name)
		found, known := tzdb.FindNumber(tzdb.Number(name))
		assert.True(t, known, name)
		assert.Equal(t, name, found)
	}
	assert.EqualValues(t, 1319701797, tzdb.Number("Europe/Zurich"), "clients store the numbers")
	_, known := tzdb.FindNumber(7)
	assert.False(t, known)
}
