package reading

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/request"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/segment"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/window"
)

// SummaryKind is the kind of entry that a Summary describes.
type SummaryKind uint8

// Kinds of entries.
const (
	ShiftSummary SummaryKind = iota
	PayCodeEditSummary
	LeaveEditSummary
)

// Summary is the time and length of a schedule entry, for totals. Shifts are cut by leave.
type Summary struct {
	Kind SummaryKind
	// Day is the day that the entry belongs to.
	Day civil.Date
	// Start and End are clock-face seconds since 1970-01-01.
	Start, End int64
	// Seconds is the elapsed work of a shift without breaks, or the amount of a pay code edit or
	// leave edit.
	Seconds int64
	// Breaks is the duration of all breaks in seconds.
	Breaks int64
	// Jobs are the seconds of a shift by job, in the order of the segments. A segment that names no
	// job is on the primary job of the shift's day.
	Jobs []JobSeconds
	// Label is the label of a shift, or the pay code of a pay code edit, or the leave case of a
	// leave edit.
	Label             string
	Locked, Generated bool
	// Posted and Transfer are set for pay code edits only.
	Posted   bool
	Transfer string
}

// JobSeconds is the time worked on one job. Without a path and an id, it is the time of an employee
// without a primary job.
type JobSeconds struct {
	Path string
	// ID is set only for a job that has no path in the segment.
	ID      int64
	Seconds int64
}

// ReadSummaries returns summaries of the entries that belong to the days, by employee and in order
// of their start, and the locked days of each employee. It does not check access.
func (r *Reader) ReadSummaries(ctx context.Context, ids []int64, days civil.Range) (map[int64][]Summary, map[int64][]civil.Range, error) {
	q := &request.Query{Selected: request.SelectShifts | request.SelectPayCodeEdits | request.SelectLeaveEdits, Days: days, ExcludeOvernight: true}
	sorted := slices.Compact(slices.Sorted(slices.Values(ids)))
	persons, err := r.zonedPersons(ctx, sorted, days)
	if err != nil {
		return nil, nil, err
	}
	stored, err := r.Rows(ctx, q, window.PersonIDs(persons), false)
	if err != nil {
		return nil, nil, err
	}
	w, err := r.Window(ctx, q, persons, stored)
	if err != nil {
		return nil, nil, err
	}
	out, err := (&summaryBuilder{Window: w, shapes: map[*window.Template]*shape{}}).summarize()
	if err != nil {
		return nil, nil, err
	}
	locked := map[int64][]civil.Range{}
	for _, l := range w.Locks {
		if l.Days.Overlaps(w.Days) {
			locked[l.EmployeeID] = append(locked[l.EmployeeID], l.Days)
		}
	}
	return out, locked, nil
}

// zonedPersons returns the employees with the ids, which ascend. It omits ids that are unknown
// here; they have no schedule.
func (r *Reader) zonedPersons(ctx context.Context, ids []int64, days civil.Range) ([]window.Person, error) {
	found, err := r.db.Query(ctx, `SELECT id, time_zone, primary_jobs FROM employee WHERE tenant_id = $1 AND id = ANY($2) ORDER BY id`, tenant.Of(ctx), ids)
	if err != nil {
		return nil, fmt.Errorf("schedule: read employees: %w", err)
	}
	var employees []projection.Employee
	var id int64
	var name string
	var stored []byte
	if _, err := pgx.ForEachRow(found, []any{&id, &name, &stored}, func() error {
		zone, err := r.Zones.Get(name)
		if err != nil {
			return err
		}
		jobs, err := projection.ReadJobs(stored)
		employees = append(employees, projection.Employee{ID: id, Zone: zone, Jobs: jobs})
		return err
	}); err != nil {
		return nil, fmt.Errorf("schedule: read employees: %w", err)
	}
	return window.NewPersons(employees, days), nil
}

// summaryBuilder builds summaries. Entries of the same template share its decoded form.
type summaryBuilder struct {
	*window.Window
	shapes map[*window.Template]*shape
}

// shape is the decoded form of a template, which all of its entries share. Times are seconds after
// the midnight of the entry's day.
type shape struct {
	segments []segment.Segment
	// jobs are the jobs that the segments name, without seconds.
	jobs []JobSeconds
	// refs are the job references of the segments.
	refs    []*commonv1.Ref
	seconds int64
	label   string
	// generated reports that a pattern generated the entry, even if leave cut it.
	generated bool
	posted    bool
	transfer  string
	// counted has the sums of a shift on days without a clock change. It is shared and never
	// modified.
	counted *Summary
}

// summaryKinds lists the kinds of entries that have summaries.
var summaryKinds = [...]struct {
	entry   window.Kind
	summary SummaryKind
}{{window.KindShift, ShiftSummary}, {window.KindPayCodeEdit, PayCodeEditSummary}, {window.KindLeaveEdit, LeaveEditSummary}}

// summarize builds the summaries of all entries in one slice. It keeps the summaries of a person
// adjacent.
func (o *summaryBuilder) summarize() (map[int64][]Summary, error) {
	next := make([]int, len(o.Persons)+1) // index of the next summary of each person
	for _, k := range summaryKinds {
		for i := range o.Entries[k.entry] {
			if e := &o.Entries[k.entry][i]; o.Days.Contains(e.Day) {
				next[e.Employee+1]++
			}
		}
	}
	for i := range o.Persons {
		next[i+1] += next[i]
	}
	first := slices.Clone(next)
	all := make([]Summary, next[len(o.Persons)])
	for _, k := range summaryKinds {
		for i := range o.Entries[k.entry] {
			e := &o.Entries[k.entry][i]
			if !o.Days.Contains(e.Day) {
				continue
			}
			summary, err := o.summary(e, k.summary)
			if err != nil {
				return nil, fmt.Errorf("schedule: entry %d: %w", e.ID, err)
			}
			all[next[e.Employee]] = summary
			next[e.Employee]++
		}
	}
	out := make(map[int64][]Summary, len(o.Persons))
	byStart := func(a, b Summary) int { return cmp.Compare(a.Start, b.Start) }
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

func (o *summaryBuilder) summary(e *window.Entry, kind SummaryKind) (Summary, error) {
	s, err := o.templateShape(e)
	if err != nil {
		return Summary{}, err
	}
	out := Summary{
		Kind: kind, Day: e.Day, Start: e.Start, End: e.End(), Label: s.label,
		Locked: e.Locked, Generated: s.generated, Seconds: s.seconds, Posted: s.posted, Transfer: s.transfer,
	}
	if kind != ShiftSummary {
		return out, nil
	}
	zone := o.Persons[e.Employee].Zone
	if zone.Touches(e.Day, e.Template.End/civil.SecondsPerDay) {
		segments, _ := zone.Forward(e.Day, int64(e.Template.Start), int64(e.Template.End), s.segments)
		out.count(segments, s.jobs, zone)
		out.Jobs = withPrimaryJob(out.Jobs, e.Job)
		return out, nil
	}
	if s.counted == nil {
		s.counted = &Summary{Day: e.Day}
		s.counted.count(s.segments, s.jobs, nil)
	}
	out.Seconds, out.Breaks, out.Jobs = s.counted.Seconds, s.counted.Breaks, withPrimaryJob(s.counted.Jobs, e.Job)
	return out, nil
}

// withPrimaryJob returns the jobs of a shift with the time of unnamed jobs on the primary job. The
// given list is shared and stays as it is.
func withPrimaryJob(named []JobSeconds, primary *window.Job) []JobSeconds {
	if primary == nil || !slices.ContainsFunc(named, func(j JobSeconds) bool { return j.Path == "" && j.ID == 0 }) {
		return named
	}
	out := make([]JobSeconds, 0, len(named))
	for _, j := range named {
		if j.Path == "" && j.ID == 0 {
			j.Path = primary.Path()
		}
		out = addSeconds(out, j)
	}
	return out
}

// addSeconds adds the time on a job to a list with one element for each job.
func addSeconds(list []JobSeconds, added JobSeconds) []JobSeconds {
	at := slices.IndexFunc(list, func(j JobSeconds) bool { return j.Path == added.Path && j.ID == added.ID })
	if at < 0 {
		return append(list, added)
	}
	list[at].Seconds += added.Seconds
	return list
}

// count adds up the segments of a shift by job. zone accounts for clock changes; nil means that
// there is none.
func (out *Summary) count(segments []segment.Segment, jobs []JobSeconds, zone *window.ZoneDays) {
	midnight := int64(out.Day) * civil.SecondsPerDay
	for i, p := range segments {
		seconds := zone.Elapsed(midnight+p.Start, midnight+p.End)
		if p.Kind == segment.Break {
			out.Breaks += seconds
			continue
		}
		out.Seconds += seconds
		out.Jobs = addSeconds(out.Jobs, JobSeconds{Path: jobs[i].Path, ID: jobs[i].ID, Seconds: seconds})
	}
}

// templateShape returns the decoded template of an entry.
func (o *summaryBuilder) templateShape(e *window.Entry) (*shape, error) {
	if s := o.shapes[e.Template]; s != nil {
		return s, nil
	}
	text := e.Template.Text()
	s := &shape{}
	var err error
	switch e.Template.Kind {
	case window.KindShift:
		err = s.decodeShift(e, text)
	case window.KindPayCodeEdit:
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

// shift decodes the segments. The times of a generated shift are on 1970-01-01; the times of an
// entered shift are on its own days.
func (s *shape) decodeShift(e *window.Entry, text []byte) error {
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
		named := JobSeconds{Path: job.GetQualifier()}
		if named.Path == "" {
			named.ID = job.GetId()
		}
		s.refs, s.jobs = append(s.refs, job), append(s.jobs, named)
	}
	return nil
}
