// Package leavesetup provides the lists for leave cases: categories, reasons, frequencies and
// statuses. They are built in and the same for every tenant.
package leavesetup

import (
	"strings"

	"google.golang.org/protobuf/proto"

	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

// Entry is an item of a list.
type Entry struct {
	ID   int64
	Name string
	// Category is the id of a reason's category; 0 in other lists.
	Category int64
}

// Ref returns the ref of the entry for responses.
func (e Entry) Ref() *commonv1.Ref {
	return &commonv1.Ref{Id: proto.Int64(e.ID), Qualifier: proto.String(e.Name), Name: proto.String(e.Name)}
}

// List holds entries by ascending id.
type List []Entry

// Find returns the entry that a ref names. Names are compared without regard to case.
func (l List) Find(ref *commonv1.Ref) (Entry, bool) {
	for _, e := range l {
		if ref.Id != nil && e.ID == ref.GetId() || ref.Id == nil && strings.EqualFold(e.Name, ref.GetQualifier()) {
			return e, true
		}
	}
	return Entry{}, false
}

// Ids that rules refer to.
const (
	StatusSubmitted int64 = 0
	StatusOpen      int64 = 1
	StatusClosed    int64 = 2

	FrequencyContinuous   int64 = 1
	FrequencyIntermittent int64 = 2
)

// Statuses returns the statuses of a case. Only an open case accepts leave edits.
func Statuses() List {
	return List{{ID: StatusSubmitted, Name: "Submitted"}, {ID: StatusOpen, Name: "Open"}, {ID: StatusClosed, Name: "Closed"}}
}

// Frequencies returns the ways in which employees use leave.
func Frequencies() List {
	return List{
		{ID: FrequencyContinuous, Name: "Continuous"},
		{ID: FrequencyIntermittent, Name: "Intermittent"},
		{ID: 3, Name: "Reduced Schedule"},
	}
}

// ApprovalStatuses returns the possible decisions on a case.
func ApprovalStatuses() List {
	return List{{ID: 1, Name: "Pending"}, {ID: 2, Name: "Refused"}, {ID: 3, Name: "Approved"}, {ID: 4, Name: "Cancelled"}}
}

// Categories returns the groups of reasons.
func Categories() List {
	return List{
		{ID: 1, Name: "Family"},
		{ID: 2, Name: "Medical"},
		{ID: 3, Name: "Parental"},
		{ID: 4, Name: "Military"},
		{ID: 5, Name: "Bereavement"},
		{ID: 6, Name: "Civic duty"},
		{ID: 7, Name: "Personal"},
	}
}

// Reasons returns the reasons. Each belongs to one category.
func Reasons() List {
	return List{
		{ID: 1, Name: "Care of a child", Category: 1},
		{ID: 2, Name: "Care of a partner", Category: 1},
		{ID: 3, Name: "Care of a parent", Category: 1},
		{ID: 4, Name: "Birth of a child", Category: 3},
		{ID: 5, Name: "Adoption or foster care", Category: 3},
		{ID: 6, Name: "Pregnancy", Category: 3},
		{ID: 7, Name: "Own illness", Category: 2},
		{ID: 8, Name: "Injury at work", Category: 2},
		{ID: 9, Name: "Surgery", Category: 2},
		{ID: 10, Name: "Service", Category: 4},
		{ID: 11, Name: "Training", Category: 4},
		{ID: 12, Name: "Death in the family", Category: 5},
		{ID: 13, Name: "Jury duty", Category: 6},
		{ID: 14, Name: "Public office", Category: 6},
		{ID: 15, Name: "Education", Category: 7},
		{ID: 16, Name: "Other", Category: 7},
	}
}
