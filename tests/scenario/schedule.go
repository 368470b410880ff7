package scenario

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// pollInterval is the time between two polls for asynchronous changes.
const pollInterval = 5 * time.Millisecond

// Propagation is the progress of a change.
type Propagation struct {
	State          string
	EmployeesTotal int64
	EmployeesDone  int64
	SpansWritten   int64
	Error          string
}

// Finish waits until a propagation has finished.
func Finish(ctx context.Context, api API, path string) (Propagation, error) {
	for {
		var p Propagation
		if _, err := api.Call(ctx, http.MethodGet, path, nil, &p); err != nil {
			return p, err
		}
		switch p.State {
		case "FINISHED":
			return p, nil
		case "FAILED":
			return p, fmt.Errorf("%s failed: %s", path, p.Error)
		}
		select {
		case <-ctx.Done():
			return p, errors.Join(ctx.Err(), fmt.Errorf("%s is still %s", path, p.State))
		case <-time.After(pollInterval):
		}
	}
}

// ShiftOf is a shift in a schedule.
type ShiftOf struct {
	ID       int64
	Employee struct {
		ID        int64
		Qualifier string
	}
	StartDateTime string
	EndDateTime   string
	Label         string
	Generated     bool
}

// ReadRequest returns the body of a schedule read, both days included.
func ReadRequest(employees []int64, from, to string) Object {
	return Object{"select": []string{"SHIFTS"}, "where": Object{"employees": Object{
		"employeeRefs": Object{"ids": employees}, "startDate": from, "endDate": to,
	}}}
}

// ReadShifts reads the shifts of employees, both days included.
func ReadShifts(ctx context.Context, api API, employees []int64, from, to string) ([]ShiftOf, error) {
	var reply struct{ Shifts []ShiftOf }
	_, err := api.Call(ctx, http.MethodPost, "/v1/scheduling/schedule/multi_read", ReadRequest(employees, from, to), &reply)
	return reply.Shifts, err
}
