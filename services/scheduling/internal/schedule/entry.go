package schedule

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// entry is one entry of the answer before it is written.
type entry struct {
	template  *template
	id        int64
	version   int64
	start     int64 // clock-face seconds since 1970-01-01, for sorting
	employee  int32 // index; -1 for an open shift
	relations int32 // index; -1 when they stand in the template
	day       civil.Date
	locked    bool // its day is
}

// book holds what a window shows, expanded.
type book struct {
	days    civil.Range
	persons []person
	// entries are listed by kind; open shifts are apart.
	entries   [kinds][]entry
	open      []entry
	relations [][]byte // the relations field of generated entries, without its tag
	locks     []lockRow
	holidays  []holiday
}

// end is when the entry ends, in the seconds of its start.
func (e *entry) end() int64 { return e.start + int64(e.template.end-e.template.start) }

// lockRow is a row of day_lock.
type lockRow struct {
	employeeID, id int64
	days           civil.Range
}

// relation is what a generated entry says of the assignment that it follows from.
type relation struct {
	assignmentID int64
	inherited    bool
}

// field returns the relation as a message with its length before it.
func (r relation) field() ([]byte, error) {
	out := &schedulingv1.Relation{
		Type: "FROM_PATTERNITEM_TO_ITEM", Active: yes, From: &commonv1.Ref{Id: proto.Int64(r.assignmentID)},
	}
	if r.inherited {
		out.Type = "FROM_GROUPITEM_TO_ITEM"
	}
	text, err := proto.Marshal(out)
	return protowire.AppendBytes(nil, text), err
}

// Lookback is how many days before a window spans are read, and what hides
// their entries: an entry may reach past midnight. No template is longer.
const Lookback = 7
