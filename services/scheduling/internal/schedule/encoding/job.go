package encoding

import (
	"bytes"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/protofield"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
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

// Numbers of the fields of a pay code edit that say the job; they ascend.
var (
	editJob         = protofield.MustNumber(&schedulingv1.PayCodeEdit{}, "org_job_ref")
	editPosition    = protofield.MustNumber(&schedulingv1.PayCodeEdit{}, "position")
	editTransferJob = protofield.MustNumber(&schedulingv1.PayCodeEdit{}, "transfer_org_job")
	editEnteredJob  = protofield.MustNumber(&schedulingv1.PayCodeEdit{}, "user_entered_org_job")
	editPrimaryJob  = protofield.MustNumber(&schedulingv1.PayCodeEdit{}, "primary_org_job_ref")
)

// Job is the primary job of an employee, ready to be written.
type Job struct {
	path string
	// The whole fields: of a shift, and of its segments.
	position, job, primary []byte
	// The same of a pay code edit.
	editPosition, editJob, editPrimary []byte
}

// NewJob returns the job with a path.
func NewJob(path string) *Job {
	ref := appendText(nil, 2, []byte(path))
	return &Job{
		path: path, position: appendText(nil, shiftPosition, ref),
		job: appendText(nil, segmentJob, ref), primary: appendText(nil, segmentPrimaryJob, ref),
		editPosition: appendText(nil, editPosition, ref), editJob: appendText(nil, editJob, ref),
		editPrimary: appendText(nil, editPrimaryJob, ref),
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

// WithJob returns the template of a shift or a pay code edit for somebody with a
// primary job; that of another kind says no job.
func (t *Template) WithJob(job *Job) (*Template, error) { return t.withJob(job, &buffers{}) }

// buffers is memory for the sections of a template with a job.
type buffers [3]section

// withJob is WithJob with memory for the sections, which the template takes.
func (t *Template) withJob(job *Job, memory *buffers) (*Template, error) {
	out := *t
	var err error
	switch t.Kind {
	case KindShift:
		err = t.sections[2].withJob(job, &memory[2])
		out.sections[2] = memory[2]
	case KindPayCodeEdit:
		err = out.editWithJob(job, memory)
	default:
		return t, nil
	}
	if err != nil {
		return nil, err
	}
	if out.location == "" {
		out.location = job.path
	}
	out.finish()
	return &out, nil
}

// namesJob reports whether entries of the template say the primary job.
func (t *Template) namesJob() bool { return t.Kind == KindShift || t.Kind == KindPayCodeEdit }

// maxCachedTemplates is how many templates with jobs are kept for one response; each takes
// one or two KiB. Employees may all have jobs of their own: then there are nearly as many
// as shifts.
const maxCachedTemplates = 512

// jobTemplates makes templates with the primary jobs of employees.
type jobTemplates struct {
	templates map[onJob]*Template
	// memory is that of the last one that is not kept.
	memory buffers
}

// onJob is a template for somebody with a primary job.
type onJob struct {
	template *Template
	job      *Job
}

// fill puts the template with the job into an entry when it can be kept, and leaves it
// to be made again otherwise. Either way the entry knows its size.
func (j *jobTemplates) fill(e *Entry) error {
	if e.Job == nil {
		e.size = e.Template.size
		return nil
	}
	key := onJob{e.Template, e.Job}
	t, kept := j.templates[key]
	if !kept {
		memory := &j.memory
		if kept = len(j.templates) < maxCachedTemplates; kept {
			memory = &buffers{}
		}
		var err error
		if t, err = e.templateWithJob(memory); err != nil {
			return err
		}
		if kept {
			j.templates[key] = t
		}
	}
	e.size = t.size
	if kept {
		e.Template, e.Job = t, nil
	}
	return nil
}

// editWithJob fills the job into the sections of a pay code edit.
func (t *Template) editWithJob(job *Job, memory *buffers) error {
	named := firstField(t.sections[0].text, editJob)
	before := len(t.sections[0].text)
	for i := range t.sections {
		var fields []field
		switch i {
		case 0:
			fields = []field{{editJob, job.editJob}}
		case 1:
			fields = []field{{editPosition, job.editPosition}}
		case 2:
			fields = job.editFields(named)
		}
		if err := t.sections[i].spliced(fields, &memory[i]); err != nil {
			return err
		}
		t.sections[i] = memory[i]
	}
	if t.lockedAt >= 0 { // The lock comes behind the job.
		t.lockedAt += int32(len(t.sections[0].text) - before)
	}
	return nil
}

// editFields are the last fields of a pay code edit that say the job, where named is the
// field of the job that the edit names, nil when it names none.
func (j *Job) editFields(named []byte) []field {
	return []field{
		{editTransferJob, appendFlag(editTransferJob, named != nil && !bytes.Equal(named, j.editJob))},
		{editEnteredJob, appendFlag(editEnteredJob, named != nil)},
		{editPrimaryJob, j.editPrimary},
	}
}

// BodyWithJob returns the message of a shift or a pay code edit for somebody with a
// primary job; that of another kind is as it was.
func BodyWithJob(body []byte, k Kind, job *Job) ([]byte, error) {
	whole := &section{text: body}
	var out section
	var err error
	switch k {
	case KindShift:
		err = whole.withJob(job, &out)
	case KindPayCodeEdit:
		fields := []field{{editJob, job.editJob}, {editPosition, job.editPosition}}
		err = whole.spliced(append(fields, job.editFields(firstField(body, editJob))...), &out)
	default:
		return body, nil
	}
	return out.text, err
}

// field is a whole field of a message.
type field struct {
	number protowire.Number
	text   []byte
}

func appendFlag(number protowire.Number, value bool) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), protowire.EncodeBool(value))
}

// firstField is the first field with a number, with its tag, or nil.
func firstField(message []byte, wanted protowire.Number) []byte {
	for len(message) > 0 {
		number, _, n := protowire.ConsumeField(message)
		if n < 0 {
			return nil
		}
		if number == wanted {
			return message[:n]
		}
		message = message[n:]
	}
	return nil
}

// spliced copies a part of an entry into the memory of another one, with those of the
// fields that it does not have. All ascend.
func (s *section) spliced(fields []field, into *section) error {
	c := s.copyInto(into, size(fields))
	for at := 0; at < len(s.text); {
		number, _, n := protowire.ConsumeField(s.text[at:])
		if n < 0 {
			return errMalformed
		}
		for len(fields) > 0 && fields[0].number <= number {
			if fields[0].number < number {
				c.to.text = append(c.to.text, fields[0].text...)
			}
			fields = fields[1:]
		}
		at += n
		c.copy(at)
	}
	for _, f := range fields {
		c.to.text = append(c.to.text, f.text...)
	}
	return nil
}

func size(fields []field) (n int) {
	for _, f := range fields {
		n += len(f.text)
	}
	return n
}

// withJob copies a part of a shift into the memory of another one. What names no job gets the primary one: the shift as
// its position, and segments as their job. Segments say what the primary job is, and
// whether theirs is another one. Fields ascend.
func (s *section) withJob(job *Job, into *section) error {
	c := s.copyInto(into, 4*len(job.primary)+len(job.position))
	placed := false
	for at := 0; at < len(s.text); {
		number, wire, n := protowire.ConsumeTag(s.text[at:])
		if n < 0 {
			return errMalformed
		}
		size := protowire.ConsumeFieldValue(number, wire, s.text[at+n:])
		if size < 0 {
			return errMalformed
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
				return err
			}
		} else {
			c.copy(end)
		}
		at = end
	}
	if !placed {
		c.to.text = append(c.to.text, job.position...)
	}
	return nil
}

// copying is a section that is being copied, with what is added to it.
type copying struct {
	from, to *section
	at       int // what is copied
	next     int // which placeholder comes next
}

// copyInto begins to copy a section into the memory of another one, which grows by so many
// bytes.
func (s *section) copyInto(into *section, more int) copying {
	into.text = slices.Grow(into.text[:0], len(s.text)+more)
	into.placeholders = slices.Grow(into.placeholders[:0], len(s.placeholders))
	return copying{from: s, to: into}
}

// copy copies up to a position.
func (c *copying) copy(end int) {
	moved := len(c.to.text) - c.at
	for ; c.next < len(c.from.placeholders) && int(c.from.placeholders[c.next].at) < end; c.next++ {
		h := c.from.placeholders[c.next]
		h.at += int32(moved)
		c.to.placeholders = append(c.to.placeholders, h)
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
