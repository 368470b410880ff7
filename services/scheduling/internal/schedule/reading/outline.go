package reading

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/encoding"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/request"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/segment"
)

// OutlineKind is what an Outline is one of.
type OutlineKind uint8

// The kinds of outlines.
const (
	OutlineShift OutlineKind = iota
	OutlinePayCodeEdit
	OutlineLeaveEdit
)

// Outline is an entry of a schedule as sums are made of it: when it is, and how
// long. Leave has been taken from shifts.
type Outline struct {
	Kind OutlineKind
	// Day is the day that the entry belongs to.
	Day civil.Date
	// Start and End are clock-face seconds since 1970-01-01.
	Start, End int64
	// Seconds are those of work without breaks, elapsed, or the amount of a pay
	// code edit or a leave edit.
	Seconds int64
	// Breaks are the seconds of breaks.
	Breaks int64
	// Jobs are the seconds of a shift by the path of the job, "" for none.
	Jobs []JobSeconds
	// Label is that of a shift, or the pay code of an edit.
	Label             string
	Locked, Generated bool
	// Posted and Transfer are those of a pay code edit.
	Posted   bool
	Transfer string
}

// JobSeconds is work on a job.
type JobSeconds struct {
	Path    string
	Seconds int64
}

// OutlinesOf returns the entries of employees that belong to the days, by
// employee and start, and the locked days of each. It does not ask who may see
// them.
func (r *Reader) OutlinesOf(ctx context.Context, tenantID int64, ids []int64, days civil.Range) (map[int64][]Outline, map[int64][]civil.Range, error) {
	q := &request.Query{Selected: request.SelectShifts | request.SelectPayCodeEdits | request.SelectLeaveEdits, Days: days, ExcludeOvernight: true}
	sorted := slices.Compact(slices.Sorted(slices.Values(ids)))
	persons, err := r.zonedPersons(ctx, tenantID, sorted, days)
	if err != nil {
		return nil, nil, err
	}
	stored, err := r.Rows(ctx, tenantID, q, encoding.IDsOf(persons), false)
	if err != nil {
		return nil, nil, err
	}
	patterns, err := r.patternsOf(ctx, tenantID, stored.spans, false)
	if err != nil {
		return nil, nil, err
	}
	window, err := expand(q, persons, stored, patterns)
	if err != nil {
		return nil, nil, err
	}
	out, err := (&outlineBuilder{Window: window, shapes: map[*encoding.Template]*shape{}}).outlines()
	if err != nil {
		return nil, nil, err
	}
	locked := map[int64][]civil.Range{}
	for _, l := range window.Locks {
		if l.Days.Overlaps(window.Days) {
			locked[l.EmployeeID] = append(locked[l.EmployeeID], l.Days)
		}
	}
	return out, locked, nil
}

// zonedPersons returns the employees with the ids, which ascend, that are known
// here. The others have no schedule.
func (r *Reader) zonedPersons(ctx context.Context, tenantID int64, ids []int64, days civil.Range) ([]encoding.Person, error) {
	found, err := r.pool.Query(ctx, `SELECT id, time_zone FROM employee WHERE tenant_id = $1 AND id = ANY($2) ORDER BY id`, tenantID, ids)
	if err != nil {
		return nil, fmt.Errorf("schedule: read employees: %w", err)
	}
	var employees []projection.Employee
	var id int64
	var name string
	if _, err := pgx.ForEachRow(found, []any{&id, &name}, func() error {
		zone, err := r.Zones.Get(name)
		employees = append(employees, projection.Employee{ID: id, Zone: zone})
		return err
	}); err != nil {
		return nil, fmt.Errorf("schedule: read employees: %w", err)
	}
	return encoding.NewPersons(employees, days), nil
}

// outlineBuilder makes outlines. Entries of the same template share what was found out
// of it.
type outlineBuilder struct {
	*encoding.Window
	shapes map[*encoding.Template]*shape
}

// shape is what outlines of the same template have in common. Times are seconds
// after the midnight of the entry's day.
type shape struct {
	segments []segment.Segment
	jobs     []string
	// refs are the jobs as the segments name them.
	refs    []*commonv1.Ref
	seconds int64
	label   string
	// generated says that a pattern made the entry, leave taken or not.
	generated bool
	posted    bool
	transfer  string
	// counted has the sums of a shift on days on which no clock changes. They
	// are shared: nobody changes them.
	counted *Outline
}

// outlineKinds are the kinds of entries that have outlines.
var outlineKinds = [...]struct {
	of   encoding.Kind
	made OutlineKind
}{{encoding.KindShift, OutlineShift}, {encoding.KindPayCodeEdit, OutlinePayCodeEdit}, {encoding.KindLeaveEdit, OutlineLeaveEdit}}

// outlines makes those of all entries, in one piece of memory: each person's
// stand together in it.
func (o *outlineBuilder) outlines() (map[int64][]Outline, error) {
	next := make([]int, len(o.Persons)+1) // where the next outline of a person goes
	for _, k := range outlineKinds {
		for i := range o.Entries[k.of] {
			if e := &o.Entries[k.of][i]; o.Days.Contains(e.Day) {
				next[e.Employee+1]++
			}
		}
	}
	for i := range o.Persons {
		next[i+1] += next[i]
	}
	first := slices.Clone(next)
	all := make([]Outline, next[len(o.Persons)])
	for _, k := range outlineKinds {
		for i := range o.Entries[k.of] {
			e := &o.Entries[k.of][i]
			if !o.Days.Contains(e.Day) {
				continue
			}
			made, err := o.outline(e, k.made)
			if err != nil {
				return nil, fmt.Errorf("schedule: entry %d: %w", e.ID, err)
			}
			all[next[e.Employee]] = made
			next[e.Employee]++
		}
	}
	out := make(map[int64][]Outline, len(o.Persons))
	byStart := func(a, b Outline) int { return cmp.Compare(a.Start, b.Start) }
	for i, p := range o.Persons {
		list := all[first[i]:first[i+1]:first[i+1]]
		if !slices.IsSortedFunc(list, byStart) {
			slices.SortStableFunc(list, byStart)
		}
		if len(list) > 0 {
			out[p.ID] = list
		}
	}
	return out, nil
}

func (o *outlineBuilder) outline(e *encoding.Entry, kind OutlineKind) (Outline, error) {
	s, err := o.shapeOf(e)
	if err != nil {
		return Outline{}, err
	}
	out := Outline{
		Kind: kind, Day: e.Day, Start: e.Start, End: e.End(), Label: s.label,
		Locked: e.Locked, Generated: s.generated, Seconds: s.seconds, Posted: s.posted, Transfer: s.transfer,
	}
	if kind != OutlineShift {
		return out, nil
	}
	zone := o.Persons[e.Employee].Zone
	if zone.Touches(e.Day, e.Template.End/civil.SecondsPerDay) {
		segments, _ := zone.Forward(e.Day, int64(e.Template.Start), int64(e.Template.End), s.segments)
		out.count(segments, s.jobs, zone)
		return out, nil
	}
	if s.counted == nil {
		s.counted = &Outline{Day: e.Day}
		s.counted.count(s.segments, s.jobs, nil)
	}
	out.Seconds, out.Breaks, out.Jobs = s.counted.Seconds, s.counted.Breaks, s.counted.Jobs
	return out, nil
}

// count adds up the segments of a shift, each of which is for a job. The clock may change.
func (out *Outline) count(segments []segment.Segment, jobs []string, zone *encoding.ZoneDays) {
	midnight := int64(out.Day) * civil.SecondsPerDay
	for i, p := range segments {
		seconds := zone.Elapsed(midnight+p.Start, midnight+p.End)
		if p.Kind == segment.Break {
			out.Breaks += seconds
			continue
		}
		out.Seconds += seconds
		at := slices.IndexFunc(out.Jobs, func(j JobSeconds) bool { return j.Path == jobs[i] })
		if at < 0 {
			at = len(out.Jobs)
			out.Jobs = append(out.Jobs, JobSeconds{Path: jobs[i]})
		}
		out.Jobs[at].Seconds += seconds
	}
}

// shapeOf finds out what the template of an entry says.
func (o *outlineBuilder) shapeOf(e *encoding.Entry) (*shape, error) {
	if s := o.shapes[e.Template]; s != nil {
		return s, nil
	}
	text := e.Template.Text()
	s := &shape{}
	var err error
	switch e.Template.Kind {
	case encoding.KindShift:
		err = s.shift(e, text)
	case encoding.KindPayCodeEdit:
		edit := &schedulingv1.PayCodeEdit{}
		if err = proto.Unmarshal(text, edit); err == nil {
			s.seconds, s.label, s.generated = edit.GetDurationInTime(), edit.GetPayCodeRef().GetQualifier(), edit.GetGenerated()
			s.posted, s.transfer = edit.GetPosted(), edit.GetTransferString()
		}
	default:
		edit := &schedulingv1.LeaveEdit{}
		if err = proto.Unmarshal(text, edit); err == nil {
			s.seconds, s.label = edit.GetDurationInTime(), edit.GetLeaveCaseCode()
		}
	}
	o.shapes[e.Template] = s
	return s, err
}

// shift reads the segments. The times of a generated shift stand on 1970-01-01,
// those of an entered one on its days.
func (s *shape) shift(e *encoding.Entry, text []byte) error {
	shift := &schedulingv1.Shift{}
	if err := proto.Unmarshal(text, shift); err != nil {
		return err
	}
	s.label, s.generated = shift.GetLabel(), shift.GetGenerated()
	var base int64
	if !e.Template.Relative() {
		base = int64(e.Day) * civil.SecondsPerDay
	}
	pieces, err := segment.Of(shift)
	if err != nil {
		return err
	}
	for i, p := range pieces {
		p.Start, p.End = p.Start-base, p.End-base
		s.segments = append(s.segments, p)
		var job *commonv1.Ref
		if i < len(shift.GetSegments()) {
			job = shift.GetSegments()[i].GetOrgJobRef()
		}
		s.refs, s.jobs = append(s.refs, job), append(s.jobs, job.GetQualifier())
	}
	return nil
}
