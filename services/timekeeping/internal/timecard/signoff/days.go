package signoff

import (
	"maps"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/calculation"
)

// ChangedDays are the days of employees that a change may affect.
type ChangedDays map[int64]map[civil.Date]bool

// Add adds a day of an employee.
func (t ChangedDays) Add(employeeID int64, day civil.Date) {
	if t[employeeID] == nil {
		t[employeeID] = map[civil.Date]bool{}
	}
	t[employeeID][day] = true
}

// Ranges returns the days of an employee, each as a range.
func (t ChangedDays) Ranges(employeeID int64) []civil.Range {
	out := make([]civil.Range, 0, len(t[employeeID]))
	for day := range t[employeeID] {
		out = append(out, civil.Through(day, day))
	}
	return out
}

// Holds reports whether it contains all days of another change.
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

// daysBefore and daysAfter are the reach of a change of a day. The pairing of punches on the days
// before it may depend on it (package calculation reads five days after its own). The pairs and the overtime of
// the days after it may depend on it too.
const daysBefore, daysAfter = 6, 14

// inSigned returns the signed-off days that a change may affect. Days that are close together form
// one range of at most calculation.MaxDays days.
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
			case last != nil && int(days.To-last.days.From) <= calculation.MaxDays:
				last.days.To = days.To
			default:
				last = &known{id: id, days: days}
				out = append(out, last)
			}
		}
	}
	return out
}
