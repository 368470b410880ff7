package encoding

import (
	"bytes"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
)

// Numbers of the fields of a shift and of its segments that say the job.
const (
	shiftSegments      = 12
	shiftPosition      = 14
	segmentJob         = 6
	segmentTransferJob = 11
	segmentPrimaryJob  = 19
)

// Job is the primary job of an employee, ready to be written.
type Job struct {
	path string
	// The whole fields: of a shift, and of its segments.
	position, job, primary []byte
}

// NewJob returns the job with a path.
func NewJob(path string) *Job {
	ref := appendText(nil, 2, []byte(path))
	return &Job{
		path: path, position: appendText(nil, shiftPosition, ref),
		job: appendText(nil, segmentJob, ref), primary: appendText(nil, segmentPrimaryJob, ref),
	}
}

// JobOn returns the primary job on a day, nil when there is none.
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

// jobsOf returns the primary jobs of an employee. Employees share those of one path.
func jobsOf(e *projection.Employee, byPath map[string]*Job) []jobDays {
	var out []jobDays
	for _, held := range e.Jobs {
		job := byPath[held.Path]
		if job == nil {
			job = NewJob(held.Path)
			byPath[held.Path] = job
		}
		out = append(out, jobDays{held.Days, job})
	}
	return out
}

// WithJob returns the template of a shift for somebody with a primary job.
func (t *Template) WithJob(job *Job) (*Template, error) {
	out := *t
	tail, err := t.sections[2].withJob(job)
	if err != nil {
		return nil, err
	}
	out.sections[2] = tail
	if out.location == "" {
		out.location = job.path
	}
	out.finish()
	return &out, nil
}

// BodyWithJob returns the message of a shift for somebody with a primary job.
func BodyWithJob(body []byte, job *Job) ([]byte, error) {
	out, err := (&section{text: body}).withJob(job)
	return out.text, err
}

// withJob copies a part of a shift. What names no job gets the primary one: the shift as
// its position, and segments as their job. Segments say what the primary job is, and
// whether theirs is another one. Fields ascend.
func (s *section) withJob(job *Job) (section, error) {
	c := copying{from: s, to: section{text: make([]byte, 0, len(s.text)+4*len(job.primary)+len(job.position)), holes: make([]hole, 0, len(s.holes))}}
	placed := false
	for at := 0; at < len(s.text); {
		number, wire, n := protowire.ConsumeTag(s.text[at:])
		if n < 0 {
			return section{}, errMalformed
		}
		size := protowire.ConsumeFieldValue(number, wire, s.text[at+n:])
		if size < 0 {
			return section{}, errMalformed
		}
		end := at + n + size
		if number >= shiftPosition && !placed {
			if number > shiftPosition {
				c.to.text = append(c.to.text, job.position...)
			}
			placed = true
		}
		if number == shiftSegments {
			value, _ := protowire.ConsumeBytes(s.text[at+n:])
			if err := c.segment(end-len(value), end, job); err != nil {
				return section{}, err
			}
		} else {
			c.copy(end)
		}
		at = end
	}
	if !placed {
		c.to.text = append(c.to.text, job.position...)
	}
	return c.to, nil
}

// copying is a section that is being copied, with what is added to it.
type copying struct {
	from *section
	to   section
	at   int // what is copied
	hole int // which hole comes next
}

// copy copies up to a position.
func (c *copying) copy(end int) {
	moved := len(c.to.text) - c.at
	for ; c.hole < len(c.from.holes) && int(c.from.holes[c.hole].at) < end; c.hole++ {
		h := c.from.holes[c.hole]
		h.at += int32(moved)
		c.to.holes = append(c.to.holes, h)
	}
	c.to.text = append(c.to.text, c.from.text[c.at:end]...)
	c.at = end
}

// segment copies the segment whose message stands between two positions.
func (c *copying) segment(start, end int, job *Job) error {
	value := c.from.text[start:end]
	// Where the two fields belong, and the value that says whether it is a transfer.
	jobAt, primaryAt, transfer := len(value), len(value), -1
	var named []byte
	for at := 0; at < len(value); {
		number, wire, n := protowire.ConsumeTag(value[at:])
		if n < 0 {
			return errMalformed
		}
		size := protowire.ConsumeFieldValue(number, wire, value[at+n:])
		if size < 0 {
			return errMalformed
		}
		if number == segmentJob {
			named = value[at+n : at+n+size]
		}
		if number == segmentTransferJob {
			transfer = at + n
		}
		if number >= segmentJob {
			jobAt = min(jobAt, at)
		}
		if number >= segmentPrimaryJob {
			primaryAt = min(primaryAt, at)
		}
		at += n + size
	}
	added := job.job
	if named != nil {
		added = nil
	}
	c.to.text = protowire.AppendTag(c.to.text, shiftSegments, protowire.BytesType)
	c.to.text = protowire.AppendVarint(c.to.text, uint64(len(value)+len(added)+len(job.primary)))
	c.at = start
	c.copy(start + jobAt)
	c.to.text = append(c.to.text, added...)
	moved := len(c.to.text) - c.at
	c.copy(start + primaryAt)
	c.to.text = append(c.to.text, job.primary...)
	if named != nil && transfer >= 0 && !bytes.HasSuffix(job.job, named) {
		c.to.text[start+transfer+moved] = 1
	}
	c.copy(end)
	return nil
}
