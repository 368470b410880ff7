package reading

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/storedrows"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/window"
)

// Produced is a shift that a pattern generates, whether the schedule shows it or not.
type Produced struct {
	ID            int64
	Day           civil.Date
	Lane, Ordinal uint8
	// Hidden reports that an item hides the shift, or that the calendar of the employee's zone omits its day.
	Hidden bool
	// Start and End are seconds after the midnight that begins the day, without clock changes.
	Start, End int32
}

// Cut is the effect of a leave edit or a time off on a shift.
type Cut struct {
	// By is the id of the leave edit, or of the pay code edit of the time off.
	By      int64
	ShiftID int64
	Day     civil.Date
	// Whole reports that nothing of the shift remains.
	Whole bool
	// Start and End are the shift before it was cut, like those of Produced.
	Start, End int32
}

// steps collects what rows contribute to the shifts of persons, by the index of the person.
type steps struct {
	produced map[int32][]Produced
	cuts     map[int32][]Cut
}

func (s *steps) produce(employee int32, p Produced) {
	s.produced[employee] = append(s.produced[employee], p)
}

// addCut adds the leave edits among rows that cut a shift. left reports that a part remains.
func (e *expansion) addCut(before *window.Entry, rows []storedrows.Leave, left bool) error {
	zone := e.Persons[before.Employee].Zone
	for i := range rows {
		edit := &schedulingv1.LeaveEdit{}
		if err := proto.Unmarshal(rows[i].Body, edit); err != nil {
			return fmt.Errorf("schedule: leave edit %d: %w", rows[i].ID, err)
		}
		touches := rows[i].Day == before.Day
		if edit.GetStartTime() != "" {
			s, err := leaveInterval(edit)
			if err != nil {
				return fmt.Errorf("schedule: leave edit %d: %w", rows[i].ID, err)
			}
			touches = zone.Adjust(s.Start) < before.End() && zone.Adjust(s.End) > before.Start
		}
		if touches {
			e.steps.cut(before, rows[i].ID, left)
		}
	}
	return nil
}

// addTimeOffCut adds the covering edits among items that cut a shift.
func (e *expansion) addTimeOffCut(before *window.Entry, items []storedrows.Item, left bool) {
	for i := range items {
		if items[i].Covers && items[i].Day <= before.Day && before.Day <= items[i].Last {
			e.steps.cut(before, items[i].ID, left)
		}
	}
}

func (s *steps) cut(before *window.Entry, by int64, left bool) {
	c := Cut{By: by, ShiftID: before.ID, Day: before.Day, Whole: !left}
	c.Start, c.End = readClock(before)
	s.cuts[before.Employee] = append(s.cuts[before.Employee], c)
}
