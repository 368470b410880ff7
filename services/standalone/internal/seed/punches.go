package seed

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

const (
	// punchedDays is the number of days before today with punches.
	punchedDays = 30
	// punchBatch is the largest number of punches in one call.
	punchBatch = 1000
	civilTime  = "2006-01-02T15:04:05"
)

// deviation is the difference between a shift and its punches.
type deviation struct {
	absent, noIn, noOut bool
	lateIn, earlyOut    time.Duration
}

// deviations are the unusual ones of fortyShifts. Minutes within the tolerance of the pay rules are no exceptions.
var deviations = map[int]deviation{
	2:  {lateIn: 4 * time.Minute},
	5:  {lateIn: 22 * time.Minute},
	11: {earlyOut: 3 * time.Minute},
	17: {noOut: true},
	23: {absent: true},
	29: {earlyOut: 45 * time.Minute},
	31: {lateIn: 2 * time.Minute, earlyOut: time.Minute},
	37: {noIn: true},
}

const fortyShifts = 40

// shiftDeviation returns the difference of a shift, which depends on the employee and the day.
func shiftDeviation(i int, day time.Time) deviation {
	days := int(day.Unix() / (24 * 60 * 60))
	return deviations[(7*i+11*days)%fortyShifts]
}

// shift is a shift of the schedule.
type shift struct {
	Employee                   struct{ Qualifier string }
	StartDateTime, EndDateTime string
}

// times returns the civil times of the shift, with UTC as their zone.
func (s shift) times() (start, end time.Time, err error) {
	start, err = time.Parse(civilTime, s.StartDateTime)
	if err != nil {
		return start, end, err
	}
	end, err = time.Parse(civilTime, s.EndDateTime)
	return start, end, err
}

// readShifts returns the shifts of employees between two days.
func readShifts(ctx context.Context, c *Client, numbers []string, from, to time.Time) ([]shift, error) {
	query := object{"select": []string{"SHIFTS"}, "where": object{"employees": object{
		"employeeRefs": object{"qualifiers": numbers}, "startDate": iso(from), "endDate": iso(to),
	}}}
	var schedule struct{ Shifts []shift }
	err := c.call(ctx, http.MethodPost, "/v1/scheduling/schedule/multi_read", query, &schedule)
	return schedule.Shifts, err
}

// punch imports the punches of the last thirty days and of today until now, by the clocks of the sites. The punches
// follow the schedule, except for some that are late or missing. The server stores repeated punches once.
func punch(ctx context.Context, c *Client, now time.Time) error {
	for from := 0; from < punching; from += batch {
		employees := map[string]int{}
		var numbers []string
		for i := from; i < from+batch; i++ {
			employees[personNumber(i)] = i
			numbers = append(numbers, personNumber(i))
		}
		// One day more at each end, because the sites have different dates.
		shifts, err := readShifts(ctx, c, numbers, now.AddDate(0, 0, -punchedDays-1), now.AddDate(0, 0, 1))
		if err != nil {
			return err
		}
		punches, err := makePunches(shifts, employees, now)
		if err != nil {
			return err
		}
		if err := importPunches(ctx, c, punches); err != nil {
			return err
		}
	}
	return nil
}

// makePunches returns the punches for shifts of employees, given their positions by number.
func makePunches(shifts []shift, employees map[string]int, now time.Time) ([]object, error) {
	var punches []object
	for _, s := range shifts {
		i := employees[s.Employee.Qualifier]
		here, err := employeeSite(i).clock(now)
		if err != nil {
			return nil, err
		}
		start, end, err := s.times()
		if err != nil {
			return nil, err
		}
		punches = append(punches, shiftDeviation(i, start).punches(s.Employee.Qualifier, start, end, here)...)
	}
	return punches, nil
}

// punches returns the punches that an employee has made for a shift until now, by the clock of the site.
func (d deviation) punches(number string, start, end, now time.Time) (made []object) {
	if d.absent || start.Before(now.Truncate(24*time.Hour).AddDate(0, 0, -punchedDays)) {
		return nil
	}
	add := func(at time.Time, kind string, missing bool) {
		if !missing && !at.After(now) {
			made = append(made, object{
				"employee": object{"qualifier": number}, "punchDtm": at.Format(civilTime), "typeOverride": object{"qualifier": kind},
			})
		}
	}
	add(start.Add(d.lateIn), "In Punch", d.noIn)
	add(end.Add(-d.earlyOut), "Out Punch", d.noOut)
	return made
}

// importPunches imports punches, and returns an error if the server refuses one.
func importPunches(ctx context.Context, c *Client, punches []object) error {
	for len(punches) > 0 {
		part := punches[:min(punchBatch, len(punches))]
		punches = punches[len(part):]
		var reply struct {
			Punches []struct{ TkError json.RawMessage }
		}
		if err := c.call(ctx, http.MethodPost, "/v1/timekeeping/punches/import", object{"punches": part}, &reply); err != nil {
			return err
		}
		for i, p := range reply.Punches {
			if len(p.TkError) > 0 {
				return fmt.Errorf("the punch %v is refused: %s", part[i], p.TkError)
			}
		}
	}
	return nil
}
