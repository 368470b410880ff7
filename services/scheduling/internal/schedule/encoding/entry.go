package encoding

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/entryid"
)

// Entry is one entry of the response before it is written.
type Entry struct {
	Template *Template
	// Job is the primary job of the employee on the day, which the template does not
	// know; nil when there is none, or the template says it.
	Job       *Job
	ID        int64
	Version   int64
	Start     int64 // clock-face seconds since 1970-01-01, for sorting
	Employee  int32 // index; -1 for an open shift
	Relations int32 // index; -1 when they stand in the template
	Day       civil.Date
	Locked    bool  // its day is
	size      int32 // of the sections, with the job
}

// templateWithJob returns the template with the job, which takes the memory when it is made.
func (e *Entry) templateWithJob(memory *buffers) (*Template, error) {
	if e.Job == nil {
		return e.Template, nil
	}
	t, err := e.Template.withJob(e.Job, memory)
	if err != nil {
		return nil, fmt.Errorf("schedule: entry %d: %w", e.ID, err)
	}
	return t, nil
}

// location is the path of the job by which entries are sorted.
func (e *Entry) location() string {
	if e.Template.location == "" && e.Job != nil && e.Template.namesJob() {
		return e.Job.path
	}
	return e.Template.location
}

// Window is what the schedules of persons show on days: the entries that Encode
// writes.
type Window struct {
	Days    civil.Range
	Persons []Person
	// Entries are listed by kind; open shifts are apart.
	Entries   [Kinds][]Entry
	Open      []Entry
	Relations [][]byte // the relations field of generated entries, without its tag
	Locks     []Lock
	Holidays  []Holiday
	// ExpandedJobs are the fields of an ExpandedJobList.
	ExpandedJobs []byte
}

// End is when the entry ends, in the seconds of its start.
func (e *Entry) End() int64 { return e.Start + int64(e.Template.End-e.Template.Start) }

// Lock is a row of day_lock.
type Lock struct {
	EmployeeID, ID int64
	Days           civil.Range
}

// Relation is what a generated entry says of the assignment that it follows from.
type Relation struct {
	AssignmentID int64
	Inherited    bool
	// Pattern is the name of the pattern, if it has one.
	Pattern string
}

// Field returns the relation as a message with its length before it. It ends with the
// id of the entry, which is still to be put there.
func (r Relation) Field() ([]byte, error) {
	out := &schedulingv1.Relation{
		Type: "FROM_PATTERNITEM_TO_ITEM", Active: yes, From: &commonv1.Ref{Id: proto.Int64(r.AssignmentID)},
		TargetRef: &commonv1.Ref{Id: proto.Int64(entryid.FirstGenerated)},
	}
	if r.Inherited {
		out.Type = "FROM_GROUPITEM_TO_ITEM"
	}
	out.RelationType = out.Type
	if r.Pattern != "" {
		out.From.Qualifier = proto.String(r.Pattern)
	}
	text, err := proto.MarshalOptions{Deterministic: true}.Marshal(out)
	return protowire.AppendBytes(nil, text), err
}

// Lookback is how many days before a window spans are read, and what hides
// their entries: an entry may reach past midnight. No template is longer.
const Lookback = 7
