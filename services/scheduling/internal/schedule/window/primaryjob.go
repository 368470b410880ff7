package window

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
)

// Job is the primary job of an employee, encoded.
type Job struct {
	path string
	// location is the id of the job's location, or 0, and others are its other paths.
	location int64
	others   []string
	// Whole fields of a shift and of its segments.
	position, job, primary []byte
	// Whole fields of a pay code edit.
	editPosition, editJob, editPrimary []byte
}

// NewJob returns a primary job.
func NewJob(of projection.Job) *Job {
	ref := appendText(nil, 2, []byte(of.Path))
	return &Job{
		path: of.Path, location: of.LocationID, others: of.OtherPaths, position: appendText(nil, shiftPosition, ref),
		job: appendText(nil, segmentJob, ref), primary: appendText(nil, segmentPrimaryJob, ref),
		editPosition: appendText(nil, editPosition, ref), editJob: appendText(nil, editJob, ref),
		editPrimary: appendText(nil, editPrimaryJob, ref),
	}
}

// Path returns the path of the job.
func (j *Job) Path() string { return j.path }

// isNamedBy reports whether an encoded reference names the job: by a path of its location or, without
// a path, by the id.
func (j *Job) isNamedBy(ref []byte) bool {
	if bytes.HasSuffix(j.job, ref) {
		return true
	}
	message, n := protowire.ConsumeBytes(ref)
	if n < 0 {
		return false
	}
	path := []byte(nil)
	if field := firstField(message, refQualifier); field != nil {
		_, _, tag := protowire.ConsumeTag(field)
		path, _ = protowire.ConsumeBytes(field[tag:])
	}
	if len(path) > 0 {
		return string(path) == j.path || slices.Contains(j.others, string(path))
	}
	field := firstField(message, refID)
	if field == nil || j.location == 0 {
		return false
	}
	_, _, tag := protowire.ConsumeTag(field)
	id, _ := protowire.ConsumeVarint(field[tag:])
	return id == uint64(j.location)
}

// JobOn returns the primary job on a day, or nil.
func (p *Person) JobOn(day civil.Date) *Job {
	for i := range p.jobs {
		if p.jobs[i].days.Contains(day) {
			return p.jobs[i].job
		}
	}
	return nil
}

type jobDays struct {
	days civil.Range
	job  *Job
}

// primaryJobs returns the primary jobs of an employee. byNames shares jobs between employees.
func primaryJobs(e *projection.Employee, byNames map[string]*Job) []jobDays {
	var out []jobDays
	for _, period := range e.Jobs {
		names := period.Path
		if period.LocationID != 0 {
			names += "\x00" + strconv.FormatInt(period.LocationID, 10) + "\x00" + strings.Join(period.OtherPaths, "\x00")
		}
		job := byNames[names]
		if job == nil {
			job = NewJob(period)
			byNames[names] = job
		}
		out = append(out, jobDays{period.Days, job})
	}
	return out
}
