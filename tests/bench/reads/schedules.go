package reads

import (
	"encoding/json"
	"time"

	"github.com/rotaloom/rotaloom/tests/scenario"
)

const (
	// readEmployees and readDays are the size of one read.
	readEmployees = 500
	readDays      = 30
	// weeks is the number of different first weeks.
	weeks = 13
	// storedDays is the number of days that the baseline stores; cycles of two weeks fill them.
	storedDays = 9 * 14
)

// firstMonday is the first day of the earliest read.
var firstMonday = time.Date(2026, time.February, 2, 0, 0, 0, 0, time.UTC)

// schedules returns requests for the schedules of employees. Each one selects employees that the
// one before it did not select, and begins in another week.
type schedules struct {
	persons []int64
	sent    int
}

// next returns the body of the next request. A combination of employees and weeks returns after 260
// requests for 10,000 employees. The employees of a request are spread evenly over all.
func (s *schedules) next() []byte {
	groups := len(s.persons) / readEmployees
	ids := make([]int64, 0, readEmployees)
	for i := s.sent % groups; i < len(s.persons); i += groups {
		ids = append(ids, s.persons[i])
	}
	from := firstMonday.AddDate(0, 0, 7*(s.sent%weeks))
	s.sent++
	body, err := json.Marshal(scenario.ReadRequest(ids, from.Format(time.DateOnly), from.AddDate(0, 0, readDays-1).Format(time.DateOnly)))
	if err != nil {
		panic(err) // Numbers and dates can always be encoded.
	}
	return body
}
