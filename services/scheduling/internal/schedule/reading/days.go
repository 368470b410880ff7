package reading

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/encoding"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/request"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/segment"
)

// Days are what stands on days of an employee.
type Days struct {
	// Shifts are those that belong to the days, also what leave and time off take of them.
	Shifts []DayShift
	// Edits are the pay code edits that touch the days.
	Edits []DayEdit
}

// DayShift is the work of a shift.
type DayShift struct {
	ID  int64
	Day civil.Date
	// Work has at least one part.
	Work []DayWork
}

// DayWork is work on one job that is done, or taken by leave or time off, as a whole.
type DayWork struct {
	// Start and End are seconds on the clock after the midnight that begins the day.
	Start, End int32
	// Job is as the schedule names it, nil for the primary job.
	Job   *commonv1.Ref
	Taken bool
}

// DayEdit is a pay code edit on each of its days.
type DayEdit struct {
	ID          int64
	First, Last civil.Date
	// Edit is shared by edits of the same template; its dates are those of the template.
	Edit *schedulingv1.PayCodeEdit
	// Covers says that it is time off, which takes shifts of its days.
	Covers bool
}

// daysRows are what is stored of days of employees.
type daysRows struct {
	query    *request.Query
	persons  []encoding.Person
	stored   Rows
	patterns []*encoding.Pattern
}

// DaysOf returns what stands on the days of employees, by employee. Employees who are
// unknown here are left out. It does not ask who may see them.
func (r *Reader) DaysOf(ctx context.Context, tenantID int64, ids []int64, days civil.Range) (map[int64]*Days, error) {
	rows, err := r.daysRows(ctx, tenantID, ids, days)
	if err != nil {
		return nil, err
	}
	b, uncut, err := rows.build(rows.query.Selected, false, nil, nil)
	if err != nil {
		return nil, err
	}
	if err := b.shifts(uncut); err != nil {
		return nil, err
	}
	return b.out, b.payCodeEdits()
}

// EditedDaysOf returns what DaysOf returns of the days that have a pay code edit, but for what is
// taken of shifts: all of their work is as if it was done. Its cost depends on how many of these
// days there are, and hardly on how many days are read.
func (r *Reader) EditedDaysOf(ctx context.Context, tenantID int64, ids []int64, days civil.Range) (map[int64]*Days, error) {
	rows, err := r.daysRows(ctx, tenantID, ids, days)
	if err != nil {
		return nil, err
	}
	b, _, err := rows.build(request.SelectPayCodeEdits, true, nil, nil)
	if err != nil {
		return nil, err
	}
	if err := b.payCodeEdits(); err != nil {
		return nil, err
	}
	edited := make([]map[civil.Date]bool, len(rows.persons))
	for i := range rows.persons {
		edited[i] = map[civil.Date]bool{}
		if found := b.out[rows.persons[i].ID]; found != nil {
			for _, e := range found.Edits {
				for day := max(e.First, days.From); day <= min(e.Last, days.To-1); day++ {
					edited[i][day] = true
				}
			}
		}
	}
	b, uncut, err := rows.build(request.SelectShifts, true, edited, b.out)
	if err != nil {
		return nil, err
	}
	return b.out, b.shifts(uncut)
}

// daysRows reads what is stored of days of employees.
func (r *Reader) daysRows(ctx context.Context, tenantID int64, ids []int64, days civil.Range) (*daysRows, error) {
	rows := &daysRows{query: &request.Query{Selected: request.SelectShifts | request.SelectPayCodeEdits, Days: days, ExcludeOvernight: true}}
	var err error
	if rows.persons, err = r.zonedPersons(ctx, tenantID, slices.Compact(slices.Sorted(slices.Values(ids))), days); err != nil {
		return nil, err
	}
	if rows.stored, err = r.Rows(ctx, tenantID, rows.query, encoding.IDsOf(rows.persons), false); err != nil {
		return nil, err
	}
	rows.patterns, err = r.patternsOf(ctx, tenantID, rows.stored.spans, false)
	return rows, err
}

// build puts together a part of the days, and returns the shifts as they are before leave takes
// from them; whole says that it takes nothing. Where shiftDays is not nil, it has the days of
// each person whose shifts are put together. The days are added to out, which may be nil.
func (d *daysRows) build(selected request.Selection, whole bool, shiftDays []map[civil.Date]bool, out map[int64]*Days) (*dayBuilder, []encoding.Entry, error) {
	q := *d.query
	q.Selected = selected
	e := newExpansion(&q, d.persons)
	var uncut []encoding.Entry
	e.uncut, e.shiftDays, e.whole = &uncut, shiftDays, whole
	if err := e.add(d.stored, d.patterns); err != nil {
		return nil, nil, err
	}
	if out == nil {
		out = make(map[int64]*Days, len(d.persons))
	}
	b := &dayBuilder{
		outlineBuilder: outlineBuilder{Window: e.Window, shapes: map[*encoding.Template]*shape{}},
		out:            out, edits: map[*encoding.Template]*schedulingv1.PayCodeEdit{}, covers: map[int64]bool{},
	}
	for i := range d.stored.items {
		if item := &d.stored.items[i]; item.covers {
			b.covers[item.id] = true
		}
	}
	return b, uncut, nil
}

// dayBuilder makes days of employees. Entries of the same template share what was found out
// of it.
type dayBuilder struct {
	outlineBuilder
	out   map[int64]*Days
	edits map[*encoding.Template]*schedulingv1.PayCodeEdit
	// covers has the ids of the pay code edits that take shifts.
	covers map[int64]bool
}

func (b *dayBuilder) of(e *encoding.Entry) *Days {
	id := b.Persons[e.Employee].ID
	if b.out[id] == nil {
		b.out[id] = &Days{}
	}
	return b.out[id]
}

// shifts adds shifts, which are as they were before leave and time off took from them.
func (b *dayBuilder) shifts(uncut []encoding.Entry) error {
	left := make(map[int64]*encoding.Entry, len(uncut))
	for i := range b.Entries[encoding.KindShift] {
		left[b.Entries[encoding.KindShift][i].ID] = &b.Entries[encoding.KindShift][i]
	}
	for i := range uncut {
		e := &uncut[i]
		if !b.Days.Contains(e.Day) {
			continue
		}
		work, err := b.work(e, left[e.ID])
		if err != nil {
			return fmt.Errorf("schedule: shift %d: %w", e.ID, err)
		}
		if len(work) > 0 {
			days := b.of(e)
			days.Shifts = append(days.Shifts, DayShift{ID: e.ID, Day: e.Day, Work: work})
		}
	}
	return nil
}

// work returns the work of a shift, of which an entry is left, or nothing when that is nil.
func (b *dayBuilder) work(e, left *encoding.Entry) ([]DayWork, error) {
	s, err := b.shapeOf(e)
	if err != nil {
		return nil, err
	}
	segments := s.segments
	cut := left != nil && left.Template != e.Template
	var kept []segment.Segment
	if cut {
		// The times of what is left are moved where a clock change skips them, and so are these.
		zone := b.Persons[e.Employee].Zone
		segments, _ = zone.Forward(e.Day, int64(e.Template.Start), int64(e.Template.End), segments)
		rest, err := b.shapeOf(left)
		if err != nil {
			return nil, err
		}
		kept = rest.segments
	}
	var out []DayWork
	for i, p := range segments {
		if p.Kind == segment.Break {
			continue
		}
		add := func(from, to int64, taken bool) {
			if from < to {
				out = append(out, DayWork{Start: int32(from), End: int32(to), Job: s.refs[i], Taken: taken})
			}
		}
		if !cut {
			add(p.Start, p.End, left == nil)
			continue
		}
		at := p.Start
		for _, k := range kept {
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

// payCodeEdits adds the pay code edits.
func (b *dayBuilder) payCodeEdits() error {
	for i := range b.Entries[encoding.KindPayCodeEdit] {
		e := &b.Entries[encoding.KindPayCodeEdit][i]
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
		days := b.of(e)
		days.Edits = append(days.Edits, DayEdit{ID: e.ID, First: e.Day, Last: e.Day + last - first, Edit: edit, Covers: b.covers[e.ID]})
	}
	return nil
}
