package symbolicperiod

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/rotaloom/rotaloom/pkg/civil"
)

func TestPeriods(t *testing.T) {
	t.Parallel()
	c := NewCalendar(civil.Of(2025, time.February, 2), 14)
	for name, want := range map[string]string{
		"previous_payperiod": "2025-01-19 2025-02-01", "CURRENT_PAYPERIOD": "2025-02-02 2025-02-15", "2": "2025-02-16 2025-03-01",
		"current_scheduled_period": "2025-02-02 2025-02-15", "Today": "2025-02-12 2025-02-12", "Yesterday": "2025-02-11 2025-02-11",
		"Yesterday_Today_Tomorrow": "2025-02-11 2025-02-13", "Yesterday_Plus_Six_Days": "2025-02-11 2025-02-17",
		"Last_Week": "2025-02-02 2025-02-08", "Current_Week": "2025-02-09 2025-02-15", "Week_to_Date": "2025-02-09 2025-02-12",
		"Last_Thirty_Days": "2025-01-13 2025-02-11", "Last_Ninety_Days": "2024-11-14 2025-02-11",
		"Last_Month": "2025-01-01 2025-01-31", "Current_Month": "2025-02-01 2025-02-28", "Next_Month": "2025-03-01 2025-03-31",
	} {
		t.Run(name, func(t *testing.T) {
			p, ok := Named(name)
			assert.True(t, ok, name)
			days := p.Days(c, civil.Of(2025, time.February, 12))
			assert.Equal(t, want, days.From.String()+" "+(days.To-1).String(), name)
		})
	}
	_, ok := Named("Never")
	assert.False(t, ok)
	_, ok = ByID(99)
	assert.False(t, ok)
}

// Clients of the reference product send these ids, and read these names.
func TestIdsOfTheReference(t *testing.T) {
	t.Parallel()
	for id, name := range []string{
		"Previous_Payperiod", "Current_Payperiod", "Next_Payperiod",
		"Current_SchedPeriod", "Previous_SchedPeriod", "Next_SchedPeriod",
		"Week_to_Date", "Last_Week", "Yesterday",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, ok := ByID(int64(id))
			assert.True(t, ok)
			assert.Equal(t, name, p.Qualifier)
		})
	}
}

func TestNamesAreApart(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for i, p := range All() {
		assert.EqualValues(t, i, p.ID)
		assert.False(t, seen[strings.ToLower(p.Qualifier)], p.Qualifier)
		seen[strings.ToLower(p.Qualifier)] = true
	}
}

// Of periods that have a current, a previous and a next one, today is in the
// current one, and the others lie beside it.
func TestPeriodsFollowEachOther(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := NewCalendar(civil.Date(rapid.Int32Range(0, 40_000).Draw(t, "anchor")), rapid.IntRange(1, 40).Draw(t, "days"))
		today := civil.Date(rapid.Int32Range(-20_000, 60_000).Draw(t, "today"))
		for _, names := range [][3]string{
			{"Previous_Payperiod", "Current_Payperiod", "Next_Payperiod"},
			{"Last_Week", "Current_Week", "Next_Week"},
			{"Last_Month", "Current_Month", "Next_Month"},
			{"Yesterday", "Today", "Tomorrow"},
		} {
			var days [3]civil.Range
			for i, name := range names {
				p, _ := Named(name)
				days[i] = p.Days(c, today)
			}
			assert.True(t, days[1].Contains(today), names[1])
			assert.Equal(t, days[0].To, days[1].From, names[0])
			assert.Equal(t, days[1].To, days[2].From, names[2])
		}
	})
}
