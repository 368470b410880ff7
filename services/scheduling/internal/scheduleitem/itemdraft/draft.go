// Package itemdraft checks schedule entries of requests, and converts them to their stored form.
package itemdraft

import (
	"math"
	"net/http"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
)

// Draft is a checked entry that is ready to be stored.
type Draft struct {
	Employee *projection.Employee // nil for an open shift
	// From and To are the first and last day that it touches.
	From, To civil.Date
	// Occupies are the days that must not be locked.
	Occupies civil.Range
	// Body is the stored form. For entries with segments it is set after the segments have ids.
	Body      []byte
	Segmented proto.Message // a Shift or a ScheduleTag; nil for entries without segments
	// Covers reports that it covers the shifts on its days.
	Covers bool
}

// EmployeeID returns the id of the employee, or 0 for an open shift.
func (d *Draft) EmployeeID() int64 {
	if d.Employee == nil {
		return 0
	}
	return d.Employee.ID
}

// maxEntryBytes limits the size of an entry, because reads return many of them.
const maxEntryBytes = 16 << 10

// Encode encodes a message so that equal messages have equal bytes. It rejects messages that are
// too large.
func Encode(m proto.Message) ([]byte, error) {
	if size := proto.Size(m); size > maxEntryBytes {
		return nil, fault.Newf(fault.CodeInput, http.StatusBadRequest,
			"The entry has %d bytes, more than the allowed %d. Shorten its texts and notes.", size, maxEntryBytes)
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(m)
}

// NewRef returns the reference to an employee in responses, or nil for an open shift.
func NewRef(e *projection.Employee) *commonv1.Ref {
	if e == nil {
		return nil
	}
	return &commonv1.Ref{Id: proto.Int64(e.ID), Qualifier: proto.String(e.PersonNumber)}
}

// IsSet reports whether a reference has an id or a qualifier.
func IsSet(ref *commonv1.Ref) bool {
	return ref != nil && (ref.GetId() != 0 || ref.GetQualifier() != "")
}

// withoutPatternRelations returns the relations of an entry without the relations to its pattern. A changed
// entry no longer follows the pattern.
func withoutPatternRelations(list []*schedulingv1.Relation) []*schedulingv1.Relation {
	var rest []*schedulingv1.Relation
	for _, r := range list {
		if r.GetType() != "FROM_PATTERNITEM_TO_ITEM" && r.GetType() != "FROM_GROUPITEM_TO_ITEM" {
			rest = append(rest, r)
		}
	}
	return rest
}

func allFinite(values ...*float64) bool {
	for _, v := range values {
		if v != nil && (math.IsNaN(*v) || math.IsInf(*v, 0)) {
			return false
		}
	}
	return true
}
