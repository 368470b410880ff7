package seed

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The punches of a shift follow the clock of the site, and end now.
func TestPunchesOfAShift(t *testing.T) {
	t.Parallel()
	// In Zurich, it is 13:00 on 30 November.
	now := time.Date(2026, time.November, 30, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		date, start, end string
		deviation        deviation
		want             []string
	}{
		"a shift that is over":    {"2026-11-27", "07:00", "15:00", deviation{}, []string{"In Punch 2026-11-27T07:00:00", "Out Punch 2026-11-27T15:00:00"}},
		"a shift that goes on":    {"2026-11-30", "07:00", "15:00", deviation{}, []string{"In Punch 2026-11-30T07:00:00"}},
		"a shift of the evening":  {"2026-11-30", "14:00", "22:00", deviation{}, nil},
		"thirty days ago":         {"2026-10-31", "07:00", "15:00", deviation{}, []string{"In Punch 2026-10-31T07:00:00", "Out Punch 2026-10-31T15:00:00"}},
		"thirty-one days ago":     {"2026-10-30", "07:00", "15:00", deviation{}, nil},
		"an absence":              {"2026-11-27", "07:00", "15:00", deviation{absent: true}, nil},
		"a late employee":         {"2026-11-27", "07:00", "15:00", deviation{lateIn: 22 * time.Minute}, []string{"In Punch 2026-11-27T07:22:00", "Out Punch 2026-11-27T15:00:00"}},
		"an early end":            {"2026-11-27", "07:00", "15:00", deviation{earlyOut: time.Hour}, []string{"In Punch 2026-11-27T07:00:00", "Out Punch 2026-11-27T14:00:00"}},
		"a forgotten in punch":    {"2026-11-27", "07:00", "15:00", deviation{noIn: true}, []string{"Out Punch 2026-11-27T15:00:00"}},
		"a forgotten out punch":   {"2026-11-27", "07:00", "15:00", deviation{noOut: true}, []string{"In Punch 2026-11-27T07:00:00"}},
		"no punch is long past":   {"2026-10-01", "07:00", "15:00", deviation{lateIn: time.Hour}, nil},
		"a late one, not yet now": {"2026-11-30", "12:50", "20:00", deviation{lateIn: 22 * time.Minute}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			here, err := sites[0].clock(now)
			require.NoError(t, err)
			s := shift{StartDateTime: test.date + "T" + test.start + ":00", EndDateTime: test.date + "T" + test.end + ":00"}
			start, end, err := s.times()
			require.NoError(t, err)
			var got []string
			for _, p := range test.deviation.punches("D-0001", start, end, here) {
				got = append(got, p["typeOverride"].(object)["qualifier"].(string)+" "+p["punchDtm"].(string))
			}
			assert.Equal(t, test.want, got)
		})
	}
}

// Each deviation occurs among the shifts of forty employees on any day.
func TestEachDayHasEachDeviation(t *testing.T) {
	t.Parallel()
	found := map[deviation]bool{}
	for i := range fortyShifts {
		found[shiftDeviation(i, time.Date(2027, time.March, 1, 7, 0, 0, 0, time.UTC))] = true
	}
	assert.Len(t, found, len(deviations)+1)
}

// Employees have different names.
func TestNamesOfEmployees(t *testing.T) {
	t.Parallel()
	p, err := readPeople()
	require.NoError(t, err)
	found := map[string]bool{}
	for i := range persons {
		details := p.employee(i, "2026-01-01", "")["personInformation"].(object)["person"].(object)
		found[details["firstName"].(string)+" "+details["lastName"].(string)] = true
	}
	assert.Len(t, found, persons)
}
