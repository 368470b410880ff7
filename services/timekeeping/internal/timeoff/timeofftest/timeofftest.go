// Package timeofftest simulates scheduling for tests of time off.
package timeofftest

import (
	"context"
	"slices"
	"sync"

	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/civil"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// Schedules keeps the time off of employees in the same way as scheduling: newer versions replace
// older ones, and changes of locked days fail.
type Schedules struct {
	// Refusal is the error for locked days.
	Refusal error
	// Before runs before each call. If it returns an error, the call returns the error and does
	// nothing. It may be nil.
	Before func(ctx context.Context) error
	// After runs after each successful call. If it returns an error, the call returns the error
	// instead of the response. It may be nil.
	After func(*schedulingv1.PutTimeOffRequest) error

	mu       sync.Mutex
	requests map[int64]*schedulingv1.PutTimeOffRequest
	locked   []civil.Date
	calls    int
}

var (
	_ schedulingv1.TimeOffEditServiceClient = (*Schedules)(nil)
	_ schedulingv1.EmployeeDayServiceClient = (*Schedules)(nil)
)

// Lock locks days.
func (s *Schedules) Lock(days ...civil.Date) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.locked = append(s.locked, days...)
}

// Unlock unlocks all days.
func (s *Schedules) Unlock() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.locked = nil
}

// Restore replaces everything with one state, as a restore from an older backup does.
func (s *Schedules) Restore(state *schedulingv1.PutTimeOffRequest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = map[int64]*schedulingv1.PutTimeOffRequest{state.GetRequestId(): state}
}

// Days returns the days of the stored requests, ascending.
func (s *Schedules) Days() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []string{}
	for _, r := range s.requests {
		out = append(out, startDates(r)...)
	}
	slices.Sort(out)
	return out
}

// Calls returns the number of calls that made a change.
func (s *Schedules) Calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

// PutTimeOff replaces the edits of a request.
func (s *Schedules) PutTimeOff(ctx context.Context, req *schedulingv1.PutTimeOffRequest, _ ...grpc.CallOption) (*schedulingv1.PutTimeOffResponse, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.Before != nil {
		if err := s.Before(ctx); err != nil {
			return nil, err
		}
	}
	version, err := s.putRequest(req)
	if err == nil && s.After != nil {
		err = s.After(req)
	}
	if err != nil {
		return nil, err
	}
	return &schedulingv1.PutTimeOffResponse{Version: version}, nil
}

func (s *Schedules) putRequest(req *schedulingv1.PutTimeOffRequest) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.requests[req.GetRequestId()]
	if now.GetVersion() >= req.GetVersion() {
		return now.GetVersion(), nil
	}
	if same := slices.Equal(startDates(now), startDates(req)); !(same && req.GetRepeats()) {
		for _, day := range append(startDates(now), startDates(req)...) {
			if slices.ContainsFunc(s.locked, func(d civil.Date) bool { return d.String() == day }) {
				return 0, s.Refusal
			}
		}
	}
	if s.requests == nil {
		s.requests = map[int64]*schedulingv1.PutTimeOffRequest{}
	}
	s.requests[req.GetRequestId()] = req
	s.calls++
	return req.GetVersion(), nil
}

// ReadEmployeeDays returns all locked days of one employee, regardless of the range.
func (s *Schedules) ReadEmployeeDays(_ context.Context, req *schedulingv1.ReadEmployeeDaysRequest, _ ...grpc.CallOption) (*schedulingv1.ReadEmployeeDaysResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := &schedulingv1.EmployeeDays{EmployeeId: req.GetEmployeeIds()[0]}
	for _, day := range s.locked {
		of.LockedDays = append(of.LockedDays, &schedulingv1.LockedDays{From: int32(day), To: int32(day) + 1})
	}
	return &schedulingv1.ReadEmployeeDaysResponse{Employees: []*schedulingv1.EmployeeDays{of}}, nil
}

func startDates(r *schedulingv1.PutTimeOffRequest) []string {
	var out []string
	for _, edit := range r.GetPayCodeEdits() {
		out = append(out, edit.GetStartDate())
	}
	return out
}
