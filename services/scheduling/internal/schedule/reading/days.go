package reading

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/request"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/segment"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/storedrows"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/window"
)

// Days holds the shifts and pay code edits of one employee on a range of days.
type Days struct {
	// Shifts are the shifts that belong to the days, including shifts that leave or time off
	// covers.
	Shifts []DayShift
	// Edits are the pay code edits that touch the days.
	Edits []DayEdit
}

// DayShift is the work of one shift.
type DayShift struct {
	ID  int64
	Day civil.Date
	// Work has at least one part.
	Work []DayWork
}

// DayWork is an interval of work on one job. Either all of it is worked, or leave or time off
// covers all of it.
type DayWork struct {
	// Start and End are clock seconds after the midnight that begins the day.
	Start, End int32
	// Job is the reference in the schedule; nil stands for the primary job.
	Job *commonv1.Ref
	// Covered reports that leave or time off covers the interval.
	Covered bool
}

// DayEdit is a pay code edit with the days that it touches.
type DayEdit struct {
	ID          int64
	First, Last civil.Date
	// Edit is shared by all edits of a template. Its dates are the dates of the template.
	Edit *schedulingv1.PayCodeEdit
	// Covers reports that the edit is time off, which replaces shifts on its days.
	Covers bool
}

// daysRows holds the stored rows that Days are built from.
type daysRows struct {
	query    *request.Query
	persons  []window.Person
	stored   storedrows.Rows
	patterns []*window.Pattern
}

// ReadDays returns the shifts and pay code edits of the employees by employee id. It omits
// employees who are unknown here. It does not check access.
func (r *Reader) ReadDays(ctx context.Context, ids []int64, days civil.Range) (map[int64]*Days, error) {
	rows, err := r.daysRows(ctx, ids, days)
	if err != nil {
		return nil, err
	}
	b, uncut, err := rows.expandDays(rows.query.Selected, false, nil, nil)
	if err != nil {
		return nil, err
	}
	if err := b.addShifts(uncut); err != nil {
		return nil, err
	}
	return b.out, b.addPayCodeEdits()
}

// ReadEditedDays returns the same as ReadDays, but only for days that have a pay code edit, and
// without deductions: all work of the shifts counts as worked. Its cost depends on the number of
// edited days, and hardly on the length of the range.
func (r *Reader) ReadEditedDays(ctx context.Context, ids []int64, days civil.Range) (map[int64]*Days, error) {
	rows, err := r.daysRows(ctx, ids, days)
	if err != nil {
		return nil, err
	}
	b, _, err := rows.expandDays(request.SelectPayCodeEdits, true, nil, nil)
	if err != nil {
		return nil, err
	}
	if err := b.addPayCodeEdits(); err != nil {
		return nil, err
	}
	edited := make([]map[civil.Date]bool, len(rows.persons))
	for i := range rows.persons {
		edited[i] = map[civil.Date]bool{}
		if read := b.out[rows.persons[i].ID]; read != nil {
			for _, e := range read.Edits {
				for day := max(e.First, days.From); day <= min(e.Last, days.To-1); day++ {
					edited[i][day] = true
				}
			}
		}
	}
	b, uncut, err := rows.expandDays(request.SelectShifts, true, edited, b.out)
	if err != nil {
		return nil, err
	}
	return b.out, b.addShifts(uncut)
}

// daysRows reads the stored rows of the employees.
func (r *Reader) daysRows(ctx context.Context, ids []int64, days civil.Range) (*daysRows, error) {
	rows := &daysRows{query: &request.Query{Selected: request.SelectShifts | request.SelectPayCodeEdits, Days: days, ExcludeOvernight: true}}
	var err error
	if rows.persons, err = r.zonedPersons(ctx, slices.Compact(slices.Sorted(slices.Values(ids))), days); err != nil {
		return nil, err
	}
	// Timekeeping finds pay codes by their former names itself. Its names are newer than the copy.
	if rows.stored, err = storedrows.Read(ctx, r.db, storedrows.Filter{Employees: window.PersonIDs(rows.persons), Days: days, Leave: true, AsSent: true}); err != nil {
		return nil, err
	}
	rows.patterns, err = r.spanPatterns(ctx, rows.stored.Spans, form{})
	return rows, err
}

// expandDays expands the selected kinds of entries into a day builder, and returns the shifts before
// deductions of leave. whole turns deductions off. shiftDays limits the shifts to certain days of
// each person; nil means all days. expandDays adds to out; nil starts a new map.
func (d *daysRows) expandDays(selected request.Selection, whole bool, shiftDays []map[civil.Date]bool, out map[int64]*Days) (*dayBuilder, []window.Entry, error) {
	q := *d.query
	q.Selected = selected
	e := newExpansion(&q, d.persons)
	var uncut []window.Entry
	e.uncut, e.shiftDays, e.whole = &uncut, shiftDays, whole
	if err := e.add(d.stored, d.patterns); err != nil {
		return nil, nil, err
	}
	if out == nil {
		out = make(map[int64]*Days, len(d.persons))
	}
	b := &dayBuilder{
		summaryBuilder: summaryBuilder{Window: e.Window, shapes: map[*window.Template]*shape{}},
		out:            out, edits: map[*window.Template]*schedulingv1.PayCodeEdit{}, covers: map[int64]bool{},
	}
	for i := range d.stored.Items {
		if item := &d.stored.Items[i]; item.Covers {
			b.covers[item.ID] = true
		}
	}
	return b, uncut, nil
}

// dayBuilder builds Days. Entries of the same template share its decoded form.
type dayBuilder struct {
	summaryBuilder
	out   map[int64]*Days
	edits map[*window.Template]*schedulingv1.PayCodeEdit
	// covers has the ids of the pay code edits that replace shifts.
	covers map[int64]bool
}

func (b *dayBuilder) employeeDays(e *window.Entry) *Days {
	id := b.Persons[e.Employee].ID
	if b.out[id] == nil {
		b.out[id] = &Days{}
	}
	return b.out[id]
}

// shifts adds the shifts. uncut has them before deductions of leave and time off.
func (b *dayBuilder) addShifts(uncut []window.Entry) error {
	left := make(map[int64]*window.Entry, len(uncut))
	for i := range b.Entries[window.KindShift] {
		left[b.Entries[window.KindShift][i].ID] = &b.Entries[window.KindShift][i]
	}
	for i := range uncut {
		e := &uncut[i]
		if !b.Days.Contains(e.Day) {
			continue
		}
		work, err := b.shiftWork(e, left[e.ID])
		if err != nil {
			return fmt.Errorf("schedule: shift %d: %w", e.ID, err)
		}
		if len(work) > 0 {
			days := b.employeeDays(e)
			days.Shifts = append(days.Shifts, DayShift{ID: e.ID, Day: e.Day, Work: work})
		}
	}
	return nil
}

// shiftWork returns the work of a shift. left is the shift after deductions; nil means that nothing is
// left.
func (b *dayBuilder) shiftWork(e, left *window.Entry) ([]DayWork, error) {
	s, err := b.templateShape(e)
	if err != nil {
		return nil, err
	}
	segments := s.segments
	cut := left != nil && left.Template != e.Template
	var remaining []segment.Segment
	if cut {
		// Forward moved the times of the remaining segments out of clock changes, so it has to move
		// these, too.
		zone := b.Persons[e.Employee].Zone
		segments, _ = zone.Forward(e.Day, int64(e.Template.Start), int64(e.Template.End), segments)
		rest, err := b.templateShape(left)
		if err != nil {
			return nil, err
		}
		remaining = rest.segments
	}
	var out []DayWork
	for i, p := range segments {
		if p.Kind == segment.Break {
			continue
		}
		add := func(from, to int64, taken bool) {
			if from < to {
				out = append(out, DayWork{Start: int32(from), End: int32(to), Job: s.refs[i], Covered: taken})
			}
		}
		if !cut {
			add(p.Start, p.End, left == nil)
			continue
		}
		at := p.Start
		for _, k := range remaining {
			from, to := max(at, k.Start), min(p.End, k.End)
			if k.Kind == segment.Break || from >= to {
				continue
			}
			add(at, from, true)
			add(from, to, false)
			at = to
		}
		add(at, p.End, true)
	}
	return out, nil
}

func (b *dayBuilder) addPayCodeEdits() error {
	for i := range b.Entries[window.KindPayCodeEdit] {
		e := &b.Entries[window.KindPayCodeEdit][i]
		edit := b.edits[e.Template]
		if edit == nil {
			edit = &schedulingv1.PayCodeEdit{}
			if err := proto.Unmarshal(e.Template.Text(), edit); err != nil {
				return fmt.Errorf("schedule: pay code edit %d: %w", e.ID, err)
			}
			b.edits[e.Template] = edit
		}
		first, err := civil.ParseDate(edit.GetStartDate())
		if err != nil {
			return fmt.Errorf("schedule: pay code edit %d: %w", e.ID, err)
		}
		last, err := civil.ParseDate(edit.GetEndDate())
		if err != nil {
			return fmt.Errorf("schedule: pay code edit %d: %w", e.ID, err)
		}
		days := b.employeeDays(e)
		days.Edits = append(days.Edits, DayEdit{ID: e.ID, First: e.Day, Last: e.Day + last - first, Edit: edit, Covers: b.covers[e.ID]})
	}
	return nil
}
