package seed

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"
)

//go:embed timeoff.json
var timeOffJSON []byte

// timeOff is the request of an employee for a day off, and the changes of its status in their order.
type timeOff struct {
	// Employee is the position of the employee. Each one has one request.
	Employee int `json:"employee"`
	// FromDay is the number of days from today to the first day that can be the day off. The day off is the first one
	// with a shift.
	FromDay int    `json:"fromDay"`
	Note    string `json:"note"`
	Steps   []struct {
		As string `json:"as"`
		To string `json:"to"`
	} `json:"steps"`
}

// request is a request for time off as the server shows it.
type request struct {
	ID            int64
	CurrentStatus struct{ SymbolicID string }
}

const (
	ownTimeOff     = "/v1/scheduling/employee_timeoff"
	managedTimeOff = "/v1/scheduling/timeoff"
)

// requestTimeOff creates a request in each status. Employees submit and withdraw their requests, and managers decide.
func requestTimeOff(ctx context.Context, c *Client, now time.Time, password string) error {
	var all []timeOff
	if err := json.Unmarshal(timeOffJSON, &all); err != nil {
		return fmt.Errorf("timeoff.json: %w", err)
	}
	p, err := readPeople()
	if err != nil {
		return err
	}
	managers := map[string]*Client{}
	for _, t := range all {
		employee, err := c.actAs(ctx, username(t.Employee), password)
		if err != nil {
			return err
		}
		name := p.managerUsername(t.Employee)
		if managers[name] == nil {
			if managers[name], err = c.actAs(ctx, name, password); err != nil {
				return err
			}
		}
		today, err := employeeSite(t.Employee).clock(now)
		if err != nil {
			return err
		}
		r, err := t.submit(ctx, employee, today)
		if err != nil {
			return err
		}
		if err := t.decide(ctx, employee, managers[name], r); err != nil {
			return err
		}
	}
	return nil
}

// submit returns the request of the employee, which it submits if there is none yet.
func (t timeOff) submit(ctx context.Context, employee *Client, today time.Time) (request, error) {
	var found []request
	where := object{"employee": object{"startDate": iso(today.AddDate(0, 0, -punchedDays)), "endDate": iso(today.AddDate(0, 0, 90))}}
	if err := employee.call(ctx, http.MethodPost, ownTimeOff+"/multi_read", object{"where": where}, &found); err != nil {
		return request{}, err
	}
	if len(found) > 0 {
		return found[0], nil
	}
	from := today.AddDate(0, 0, t.FromDay)
	shifts, err := readShifts(ctx, employee, []string{personNumber(t.Employee)}, from, from.AddDate(0, 0, 27))
	if err != nil {
		return request{}, err
	}
	if len(shifts) == 0 {
		return request{}, fmt.Errorf("the employee %s has no shift in four weeks", personNumber(t.Employee))
	}
	day := shifts[0].StartDateTime[:len(time.DateOnly)]
	var r request
	err = employee.call(ctx, http.MethodPost, ownTimeOff, object{
		"requestSubType": object{"name": "Vacation"},
		"periods":        []object{{"payCode": object{"qualifier": "Vacation"}, "symbolicAmount": object{"qualifier": "FULL_DAY"}, "startDate": day, "endDate": day}},
		"commentNotes":   []object{{"comment": object{"name": "Request Comment"}, "notes": []object{{"text": t.Note}}}},
	}, &r)
	return r, err
}

// decide makes the changes of the status that are still to be made.
func (t timeOff) decide(ctx context.Context, employee, manager *Client, r request) error {
	made := 0
	for i, step := range slices.Backward(t.Steps) {
		if step.To == r.CurrentStatus.SymbolicID {
			made = i + 1
			break
		}
	}
	for _, step := range t.Steps[made:] {
		by, path := manager, managedTimeOff
		if step.As == "employee" {
			by, path = employee, ownTimeOff
		}
		change := object{"do": object{"toStatus": object{"symbolicId": step.To}}, "where": object{"timeOffRequestId": r.ID}}
		if err := by.call(ctx, http.MethodPost, path+"/apply_update", object{"changeState": change}, nil); err != nil {
			return err
		}
	}
	return nil
}
