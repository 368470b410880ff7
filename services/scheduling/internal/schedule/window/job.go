package window

import (
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/rotaloom/rotaloom/pkg/protofield"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// The numbers of the job fields of a shift and of its segments.
const (
	shiftSegments      = 12
	shiftPosition      = 14
	segmentJob         = 6
	segmentTransferJob = 11
	segmentPrimaryJob  = 19
)

// The numbers of the job fields of a pay code edit. They ascend.
var (
	editJob         = protofield.MustNumber(&schedulingv1.PayCodeEdit{}, "org_job_ref")
	editPosition    = protofield.MustNumber(&schedulingv1.PayCodeEdit{}, "position")
	editTransferJob = protofield.MustNumber(&schedulingv1.PayCodeEdit{}, "transfer_org_job")
	editEnteredJob  = protofield.MustNumber(&schedulingv1.PayCodeEdit{}, "user_entered_org_job")
	editPrimaryJob  = protofield.MustNumber(&schedulingv1.PayCodeEdit{}, "primary_org_job_ref")
)

// WithJob returns the template with the primary job filled in. Only shifts and pay code edits
// contain a job.
func (t *Template) WithJob(job *Job) (*Template, error) { return t.withJob(job, &buffers{}) }

// buffers is reusable memory for the sections of a template with a job.
type buffers [3]appendSection

// withJob is WithJob with memory for the new sections.
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

// namesJob reports whether entries of the template contain the primary job.
func (t *Template) namesJob() bool { return t.Kind == KindShift || t.Kind == KindPayCodeEdit }

// maxCachedTemplates limits the templates with jobs that are cached for one response. Each takes
// one or two KiB. If all employees have different jobs, there are almost as many templates as
// shifts.
const maxCachedTemplates = 512

// jobTemplates fills the primary jobs of employees into templates.
type jobTemplates struct {
	templates map[jobKey]*Template
	// memory is reused for each template that is not cached.
	memory buffers
}

// jobKey is the cache key of a template with a primary job.
type jobKey struct {
	template *Template
	job      *Job
}

// fill sets the size of an entry. It also replaces the template by one with the job if the cache
// has room; otherwise the template is built again when the entry is written.
func (j *jobTemplates) fill(e *Entry) error {
	if e.Job == nil {
		e.size = e.Template.size
		return nil
	}
	key := jobKey{e.Template, e.Job}
	t, cached := j.templates[key]
	if !cached {
		memory := &j.memory
		if cached = len(j.templates) < maxCachedTemplates; cached {
			memory = &buffers{}
		}
		var err error
		if t, err = e.templateWithJob(memory); err != nil {
			return err
		}
		if cached {
			j.templates[key] = t
		}
	}
	e.size = t.size
	if cached {
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
		if err := t.sections[i].insertMissing(fields, &memory[i]); err != nil {
			return err
		}
		t.sections[i] = memory[i]
	}
	if t.lockedAt >= 0 { // The lock field follows the job.
		t.lockedAt += int32(len(t.sections[0].text) - before)
	}
	return nil
}

// editFields returns the last job fields of a pay code edit. named is the job field of the edit, or
// nil.
func (j *Job) editFields(named []byte) []field {
	transfer := false
	if named != nil {
		_, _, tag := protowire.ConsumeTag(named)
		transfer = !j.isNamedBy(named[tag:])
	}
	return []field{
		{editTransferJob, appendFlag(editTransferJob, transfer)},
		{editEnteredJob, appendFlag(editEnteredJob, named != nil)},
		{editPrimaryJob, j.editPrimary},
	}
}

// BodyWithJob returns the message of a shift or a pay code edit with the primary job filled in.
// Messages of other kinds are returned unchanged.
func BodyWithJob(body []byte, k Kind, job *Job) ([]byte, error) {
	whole := &appendSection{text: body}
	var out appendSection
	var err error
	switch k {
	case KindShift:
		err = whole.withJob(job, &out)
	case KindPayCodeEdit:
		fields := []field{{editJob, job.editJob}, {editPosition, job.editPosition}}
		err = whole.insertMissing(append(fields, job.editFields(firstField(body, editJob))...), &out)
	default:
		return body, nil
	}
	return out.text, err
}

// field is an encoded field of a message.
type field struct {
	number protowire.Number
	text   []byte
}

func appendFlag(number protowire.Number, value bool) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), protowire.EncodeBool(value))
}

// firstField returns the first field with a number, including its tag, or nil.
func firstField(message []byte, target protowire.Number) []byte {
	for len(message) > 0 {
		number, _, n := protowire.ConsumeField(message)
		if n < 0 {
			return nil
		}
		if number == target {
			return message[:n]
		}
		message = message[n:]
	}
	return nil
}

// insertMissing copies a section into other memory, and inserts the given fields that it lacks. All
// fields ascend.
func (s *appendSection) insertMissing(fields []field, into *appendSection) error {
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

// withJob copies a section of a shift into other memory. It fills the primary job into empty
// fields: the position of the shift and the job of its segments. It also sets the primary job of
// each segment, and whether the segment transfers to another job. Fields ascend.
func (s *appendSection) withJob(job *Job, into *appendSection) error {
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
			if err := c.copySegment(end-len(value), end, job); err != nil {
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

// copying is a section that is being copied with insertions.
type copying struct {
	from, to *appendSection
	at       int // length of the copied part
	next     int // index of the next placeholder
}

// copyInto starts copying a section into other memory, with room for more bytes.
func (s *appendSection) copyInto(into *appendSection, more int) copying {
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

// segment copies the segment whose message is between two positions.
func (c *copying) copySegment(start, end int, job *Job) error {
	value := c.from.text[start:end]
	// The positions of the two inserted fields, and of the value of the transfer flag.
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
	if named != nil && transfer >= 0 && !job.isNamedBy(named) {
		c.to.text[start+transfer+moved] = 1
	}
	c.copy(end)
	return nil
}

func appendText(dst []byte, field protowire.Number, value []byte) []byte {
	dst = protowire.AppendTag(dst, field, protowire.BytesType)
	return protowire.AppendBytes(dst, value)
}
