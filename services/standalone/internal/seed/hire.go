package seed

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/rotaloom/rotaloom/pkg/backoff"
)

const (
	// hiredCandidate is the position of the candidate to hire. The application is at the last step before the hire.
	hiredCandidate = 12
	// hireTimeout is the time after which a schedule that does not show a hire is an error. The program completes a
	// hire that an interrupted run left within a minute.
	hireTimeout = 3 * time.Minute
)

// hire hires a candidate for the first opportunity, and waits until the schedule of the new employee shows the
// rotation of the employment term.
func hire(ctx context.Context, c *Client, candidate string, all []rotation, start time.Time) error {
	found, err := byKey(ctx, c, "applications", func(o identified) string { return o.Candidate.ID })
	if err != nil {
		return err
	}
	number := personNumber(persons)
	body := object{
		"hire_details": object{"start_date": iso(start), "full_time_equivalent": 1, "compensation": object{"is_fulltime": true, "hours_per_week": 40}},
		"employee": object{
			"EmployeeNumber": number, "BirthDate": "2004-04-12", "AddressLine1": "1 Plant Road", "City": sites[0].name,
			"CompanyIdentifier": object{"CompanyCode": company}, "OrgLevel1": company, "LocationCode": sites[0].name, "JobCode": job,
		},
		"employment_term": object{"name": all[0].Name},
	}
	err = c.call(ctx, http.MethodPost, recruiting+"applications/"+found[candidate].ID+"/hire", body, nil)
	// An earlier run has hired the candidate, or begun to.
	if r := (*refused)(nil); err != nil && (!errors.As(err, &r) || r.status != http.StatusConflict) {
		return err
	}
	if err := awaitShifts(ctx, c, number, start); err != nil {
		return err
	}
	return completeHire(ctx, c, start)
}

// completeHire gives the new employee the pay rule, the licences and the other properties of an operator.
func completeHire(ctx context.Context, c *Client, start time.Time) error {
	p, err := readPeople()
	if err != nil {
		return err
	}
	item := p.employee(persons, iso(start), "")
	item["personIdentity"] = object{"personNumber": personNumber(persons)}
	details := item["personInformation"].(object)["person"].(object)
	details["firstName"], details["lastName"] = candidateName(hiredCandidate)
	return c.call(ctx, http.MethodPost, multiple+"update", []object{item}, nil)
}

// awaitShifts waits until an employee has shifts in the first weeks of the schedules.
func awaitShifts(ctx context.Context, c *Client, number string, start time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, hireTimeout)
	defer cancel()
	query := object{"select": []string{"SHIFTS"}, "where": object{"employees": object{
		"employeeRefs": object{"qualifiers": []string{number}}, "startDate": iso(start), "endDate": iso(start.AddDate(0, 0, 27)),
	}}}
	for wait := (backoff.Backoff{First: 20 * time.Millisecond, Max: time.Second}); ; {
		var schedule struct{ Shifts []object }
		err := c.call(ctx, http.MethodPost, "/v1/scheduling/schedule/multi_read", query, &schedule)
		if len(schedule.Shifts) > 0 {
			return nil
		}
		if wait.Wait(ctx) != nil {
			return errors.Join(fmt.Errorf("the schedule of the new employee %s has no shifts", number), err)
		}
	}
}
