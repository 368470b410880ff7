package scheduleevent

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// Shifts collects the states of entered shifts. The zero value is ready to use.
type Shifts struct {
	full  []proto.Message
	event *schedulingv1.ShiftsEntered
	jobs  jobs
	size  int
}

// Shift is the current state of an entered shift.
type Shift struct {
	ID, Version int64
	// EmployeeID is 0 if it is deleted or not on an employee's schedule.
	EmployeeID int64
	// Day is the day that it belongs to.
	Day civil.Date
	// Body is a rotaloom.scheduling.v1.Shift.
	Body []byte
	// Hides is the slot of the generated entry that it hides, or nil.
	Hides *schedulingv1.HiddenShift
}

// Add adds a shift.
func (s *Shifts) Add(in Shift) error {
	shift := &schedulingv1.EnteredShift{
		Id: in.ID, Version: in.Version, EmployeeId: in.EmployeeID, Day: int32(in.Day), Hides: in.Hides,
		Deleted: in.EmployeeID == 0 && in.Hides == nil,
	}
	if s.event == nil {
		s.event = &schedulingv1.ShiftsEntered{}
	}
	if in.EmployeeID != 0 {
		pieces, err := shiftSegments(in.Day, in.Body)
		if err != nil {
			return fmt.Errorf("scheduleevent: shift %d: %w", in.ID, err)
		}
		shift.Segments = s.jobs.segments(pieces)
	}
	s.event.Shifts = append(s.event.Shifts, shift)
	if s.size += listedSize(shift); s.jobs.full(s.size) {
		s.flush()
	}
	return nil
}

func (s *Shifts) flush() {
	s.event.Jobs = s.jobs.list
	s.full = append(s.full, s.event)
	s.event, s.jobs, s.size = nil, jobs{}, 0
}

// Events returns the added shifts as events with the revision.
func (s *Shifts) Events(revision int64) []proto.Message {
	if s.event != nil {
		s.flush()
	}
	for _, e := range s.full {
		e.(*schedulingv1.ShiftsEntered).Revision = revision
	}
	return s.full
}

// Publish publishes the added shifts in the transaction that locked the employees and changed the
// shifts.
func (s *Shifts) Publish(ctx context.Context, tx pgx.Tx) error {
	if s.event == nil && len(s.full) == 0 {
		return nil
	}
	revision, err := nextRevision(ctx, tx)
	if err != nil {
		return err
	}
	return outbox.Append(ctx, tx, s.Events(revision)...)
}

func shiftSegments(day civil.Date, body []byte) ([]rawSegment, error) {
	shift := &schedulingv1.Shift{}
	if err := proto.Unmarshal(body, shift); err != nil {
		return nil, err
	}
	start, end, err := seconds(day, shift.GetStartDateTime(), shift.GetEndDateTime())
	if err != nil || len(shift.GetSegments()) == 0 {
		return []rawSegment{{start: start, end: end}}, err
	}
	var out []rawSegment
	for _, s := range shift.GetSegments() {
		if s.GetSegmentTypeRef().GetQualifier() == breakSegment {
			continue
		}
		start, end, err := seconds(day, s.GetStartDateTime(), s.GetEndDateTime())
		if err != nil {
			return nil, err
		}
		out = append(out, rawSegment{JobName(s.GetOrgJobRef()), start, end})
	}
	return out, nil
}
