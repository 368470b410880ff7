// Package coveringedit computes the time that a covering pay code edit deducts from the shifts of
// its days. Approved time off is on the schedule in the form of such edits.
package coveringedit

import (
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/symbolicamount"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// Deduction is the time that an edit deducts from the shifts that start on each of its days.
type Deduction struct {
	// Full deducts all work, and Half deducts half of it.
	Full, Half bool
	// Start and End are clock seconds after the midnight that begins the day. If End is not 0, the
	// time between them is deducted.
	Start, End int32
	// Seconds of work are deducted from the first shift on, if none of the other fields is set.
	Seconds int64
}

// Of returns the deduction of an edit.
func Of(edit *schedulingv1.PayCodeEdit) (Deduction, error) {
	switch edit.GetSymbolicValueRef().GetQualifier() {
	case symbolicamount.FullDay:
		return Deduction{Full: true}, nil
	case symbolicamount.HalfDay:
		return Deduction{Half: true}, nil
	}
	seconds := edit.GetDurationInTime()
	if edit.GetStartTime() == "" {
		if seconds == 0 && edit.GetDurationInDays() > 0 {
			return Deduction{Full: edit.GetDurationInDays() >= 1, Half: edit.GetDurationInDays() < 1}, nil
		}
		return Deduction{Seconds: seconds}, nil
	}
	start, err := civil.ParseTimeOfDay(edit.GetStartTime())
	if err != nil {
		return Deduction{}, fmt.Errorf("startTime: %w", err)
	}
	end := int64(start) + seconds
	if edit.GetEndTime() != "" {
		at, err := civil.ParseTimeOfDay(edit.GetEndTime())
		if err != nil {
			return Deduction{}, fmt.Errorf("endTime: %w", err)
		}
		if end = int64(at); end <= int64(start) {
			end += civil.SecondsPerDay // It ends on the next day.
		}
	}
	return Deduction{Start: int32(start), End: int32(end)}, nil
}
