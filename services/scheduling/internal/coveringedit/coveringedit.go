// Package coveringedit says what a pay code edit that covers shifts takes of its
// days. Approved time off stands on the schedule as such edits.
package coveringedit

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// The symbolic values that an edit may have instead of a duration.
const (
	FullDay = "FULL_DAY"
	HalfDay = "HALF_DAY"
)

// Symbolics are the symbolic values by their ids.
func Symbolics() map[int64]string { return map[int64]string{-1: FullDay, -2: HalfDay} }

// Symbolic returns how responses name a symbolic value; nil for none.
func Symbolic(name string) *commonv1.Ref {
	for id, known := range Symbolics() {
		if known == name {
			return &commonv1.Ref{Id: proto.Int64(id), Qualifier: proto.String(name)}
		}
	}
	return nil
}

// Named returns the id and the name of the symbolic value that a ref names, if it is one.
// The id wins; names are compared without case, and may have spaces.
func Named(given *commonv1.Ref) (int64, string, bool) {
	text := strings.ReplaceAll(given.GetQualifier(), " ", "_")
	for id, name := range Symbolics() {
		if given.Id != nil && given.GetId() == id || given.Id == nil && strings.EqualFold(text, name) {
			return id, name, true
		}
	}
	return 0, "", false
}

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
	case FullDay:
		return Taken{Full: true}, nil
	case HalfDay:
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
