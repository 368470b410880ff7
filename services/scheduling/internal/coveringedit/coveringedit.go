// Package coveringedit says what a pay code edit that covers shifts takes of its
// days. Approved time off stands on the schedule as such edits.
package coveringedit

import (
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/symbolicamount"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// Taken is what an edit takes of the shifts that start on each of its days.
type Taken struct {
	// Full says that it takes all of them, Half half of the work.
	Full, Half bool
	// Start and End, if End is not 0, are seconds after the midnight that begins the
	// day, on the wall: what lies between is taken.
	Start, End int32
	// Seconds of work are taken from the first shift on, if it is nothing of the
	// above.
	Seconds int64
}

// Of returns what an edit takes.
func Of(edit *schedulingv1.PayCodeEdit) (Taken, error) {
	switch edit.GetSymbolicValueRef().GetQualifier() {
	case symbolicamount.FullDay:
		return Taken{Full: true}, nil
	case symbolicamount.HalfDay:
		return Taken{Half: true}, nil
	}
	seconds := edit.GetDurationInTime()
	if edit.GetStartTime() == "" {
		if seconds == 0 && edit.GetDurationInDays() > 0 {
			return Taken{Full: edit.GetDurationInDays() >= 1, Half: edit.GetDurationInDays() < 1}, nil
		}
		return Taken{Seconds: seconds}, nil
	}
	start, err := civil.ParseTimeOfDay(edit.GetStartTime())
	if err != nil {
		return Taken{}, fmt.Errorf("startTime: %w", err)
	}
	end := int64(start) + seconds
	if edit.GetEndTime() != "" {
		at, err := civil.ParseTimeOfDay(edit.GetEndTime())
		if err != nil {
			return Taken{}, fmt.Errorf("endTime: %w", err)
		}
		if end = int64(at); end <= int64(start) {
			end += civil.SecondsPerDay // It ends on the next day.
		}
	}
	return Taken{Start: int32(start), End: int32(end)}, nil
}
