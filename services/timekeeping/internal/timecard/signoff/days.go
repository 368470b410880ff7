package signoff

import (
	"maps"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/card"
)

// ChangedDays are the days of employees that a change may concern.
type ChangedDays map[int64]map[civil.Date]bool

// Add adds a day of an employee.
func (t ChangedDays) Add(employeeID int64, day civil.Date) {
	if t[employeeID] == nil {
		t[employeeID] = map[civil.Date]bool{}
	}
	t[employeeID][day] = true
}

// Holds says whether all days of another change are among these.
func (t ChangedDays) Holds(other ChangedDays) bool {
	for id, days := range other {
		for day := range days {
			if !t[id][day] {
				return false
			}
		}
	}
	return true
}

// daysBefore and daysAfter are how far a change of a day reaches: how punches of the days before
// it pair may depend on it (card reads five days after its own), and so may the pairs and the
// overtime of the days after it.
const daysBefore, daysAfter = 6, 14

// inSigned returns what a change may concern of the days that are signed off. Days that lie close together are
// one range, of at most card.MaxDays days.
func (t ChangedDays) inSigned(signed map[int64]signoff) []*known {
	var out []*known
	for _, id := range slices.Sorted(maps.Keys(t)) {
		s, ok := signed[id]
		if !ok {
			continue
		}
		next := s.through + 1
		var last *known
		for _, day := range slices.Sorted(maps.Keys(t[id])) {
			days := civil.Range{From: day - daysBefore, To: min(day+daysAfter+1, next)}
			if last != nil {
				days.From = max(days.From, last.days.To)
			}
			switch {
			case days.Empty():
			case last != nil && int(days.To-last.days.From) <= card.MaxDays:
				last.days.To = days.To
			default:
				last = &known{id: id, days: days}
				out = append(out, last)
			}
		}
	}
	return out
}
