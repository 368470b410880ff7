package window

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
	// Job is the employee's primary job on the day. It is nil if there is none or the template
	// already contains it.
	Job       *Job
	ID        int64
	Version   int64
	Start     int64 // clock-face seconds since 1970-01-01, for sorting
	Employee  int32 // index; -1 for an open shift
	Relations int32 // index; -1 if the template contains the relations
	Day       civil.Date
	Locked    bool  // whether the day is locked
	size      int32 // of the sections including the job
}

// templateWithJob returns the template with the job filled in. A new template uses the buffers.
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

// Location returns the path of the job, for sorting.
func (e *Entry) Location() string {
	if e.Template.location == "" && e.Job != nil && e.Template.namesJob() {
		return e.Job.path
	}
	return e.Template.location
}

// Window is the schedules of persons on a range of days.
type Window struct {
	Days    civil.Range
	Persons []Person
	// Entries are grouped by kind. Open shifts are in Open.
	Entries   [Kinds][]Entry
	Open      []Entry
	Relations [][]byte // the relations field of generated entries, without its tag
	Locks     []Lock
	Holidays  []Holiday
	// ExpandedJobs are the fields of an ExpandedJobList.
	ExpandedJobs []byte
}

// End returns the end of the entry in clock-face seconds, like Start.
func (e *Entry) End() int64 { return e.Start + int64(e.Template.End-e.Template.Start) }

// Lock is a row of day_lock.
type Lock struct {
	EmployeeID, ID int64
	Days           civil.Range
}

// Holiday is a holiday that touches the window. It is the same for all employees.
type Holiday struct {
	Start string
	Days  civil.Range
	// Fields are the encoded fields of a ScheduledHoliday without the employee.
	Fields []byte
}

// Relation describes the assignment that generates an entry.
type Relation struct {
	AssignmentID int64
	Inherited    bool
	// Pattern is the name of the pattern, if it has one.
	Pattern string
}

// Field returns the relation as a length-prefixed message. It ends with the id of the entry, which
// the caller fills in.
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

// Lookback is the number of days before a window that spans and hidden entries are read for,
// because an entry can reach past midnight. No template is longer.
const Lookback = 7
