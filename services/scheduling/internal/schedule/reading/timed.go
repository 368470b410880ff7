package reading

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/request"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/segment"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/window"
)

// TimedShift is a generated or entered shift with its times as instants, after deductions of leave.
type TimedShift struct {
	ID int64
	// Interval is in Unix seconds.
	segment.Interval
	// Work has the intervals of the shift between its breaks, in Unix seconds and in order.
	Work []segment.Interval
}

// ReadTimedShifts returns the shifts that touch the days, by employee and in order of their start.
// It does not check access.
func (r *Reader) ReadTimedShifts(ctx context.Context, employees []projection.Employee, days civil.Range) (map[int64][]TimedShift, error) {
	w, err := r.shiftWindow(ctx, employees, days)
	if err != nil {
		return nil, err
	}
	zones := make(map[int64]*civil.Zone, len(employees))
	for i := range employees {
		zones[employees[i].ID] = employees[i].Zone
	}
	return timedShifts(w, zones)
}

// shiftWindow reads the shifts of employees, and no other kind of entry.
func (r *Reader) shiftWindow(ctx context.Context, employees []projection.Employee, days civil.Range) (*window.Window, error) {
	q := &request.Query{Selected: request.SelectShifts, Days: days}
	persons := window.NewPersons(employees, days)
	stored, err := r.Rows(ctx, q, window.PersonIDs(persons), false)
	if err != nil {
		return nil, err
	}
	return r.Window(ctx, q, persons, stored)
}

// timedShifts converts the shifts of a window to instants.
func timedShifts(w *window.Window, zones map[int64]*civil.Zone) (map[int64][]TimedShift, error) {
	o := &summaryBuilder{Window: w, shapes: map[*window.Template]*shape{}}
	cursors := map[*civil.Zone]*civil.Cursor{}
	byPerson := make([]*civil.Cursor, len(w.Persons))
	for i, p := range w.Persons {
		zone := zones[p.ID]
		if cursors[zone] == nil {
			cursor := zone.Cursor()
			cursors[zone] = &cursor
		}
		byPerson[i] = cursors[zone]
	}
	out := make(map[int64][]TimedShift, len(w.Persons))
	entries := w.Entries[window.KindShift]
	all := make([]TimedShift, 0, len(entries))
	for from := 0; from < len(entries); {
		person, first := entries[from].Employee, len(all)
		for ; from < len(entries) && entries[from].Employee == person; from++ {
			s, err := o.timedShift(&entries[from], byPerson[person])
			if err != nil {
				return nil, fmt.Errorf("schedule: entry %d: %w", entries[from].ID, err)
			}
			all = append(all, s)
		}
		list := all[first:len(all):len(all)]
		byStart := func(a, b TimedShift) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.ID, b.ID)) }
		if !slices.IsSortedFunc(list, byStart) {
			slices.SortFunc(list, byStart)
		}
		out[w.Persons[person].ID] = list
	}
	return out, nil
}

func (o *summaryBuilder) timedShift(e *window.Entry, cursor *civil.Cursor) (TimedShift, error) {
	s, err := o.templateShape(e)
	if err != nil {
		return TimedShift{}, err
	}
	instant := func(seconds int64) int64 { return cursor.Unix(e.Day.At(int32(seconds))) }
	midnight := int64(e.Day) * civil.SecondsPerDay
	out := TimedShift{ID: e.ID, Work: make([]segment.Interval, 0, len(s.segments))}
	segments, end := o.Persons[e.Employee].Zone.Forward(e.Day, e.Start-midnight, e.End()-midnight, s.segments)
	out.Start, out.End = instant(e.Start-midnight), instant(end)
	for _, p := range segments {
		if p.Kind != segment.Break {
			out.Work = append(out.Work, segment.Interval{Start: instant(p.Start), End: instant(p.End)})
		}
	}
	return out, nil
}
