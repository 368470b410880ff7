// Package itemdraft checks the entries of schedules as they are sent, and brings them
// into the form in which they are stored.
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

// Draft is an entry that was checked, ready to be stored.
type Draft struct {
	Employee *projection.Employee // nil for an open shift
	// from and to are the first and last day that it touches.
	From, To civil.Date
	// occupies are the days that must not be locked.
	Occupies civil.Range
	// body is what is stored; of what has segments, which have no ids yet, once they have.
	Body      []byte
	Segmented proto.Message // a Shift or a ScheduleTag; nil for what has no segments
	// covers says that it takes the shifts of its days.
	Covers bool
}

// EmployeeID returns the id of the employee, 0 for an open shift.
func (d *Draft) EmployeeID() int64 {
	if d.Employee == nil {
		return 0
	}
	return d.Employee.ID
}

// maxEntryBytes bounds an entry with all that is in it: reads hold many.
const maxEntryBytes = 16 << 10

// Encode writes a message so that equal ones have equal bytes. It refuses one
// that is too large.
func Encode(m proto.Message) ([]byte, error) {
	if size := proto.Size(m); size > maxEntryBytes {
		return nil, fault.Newf(fault.CodeInput, http.StatusBadRequest,
			"The entry has %d bytes, more than the allowed %d. Shorten its texts and notes.", size, maxEntryBytes)
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(m)
}

// RefOf is how responses name an employee; nil for an open shift.
func RefOf(e *projection.Employee) *commonv1.Ref {
	if e == nil {
		return nil
	}
	return &commonv1.Ref{Id: proto.Int64(e.ID), Qualifier: proto.String(e.PersonNumber)}
}

// Named reports whether a ref names something at all.
func Named(ref *commonv1.Ref) bool {
	return ref != nil && (ref.GetId() != 0 || ref.GetQualifier() != "")
}

// ownRelations are the relations of an entry without those that only its
// pattern gave it: what somebody changed follows no pattern.
func ownRelations(list []*schedulingv1.Relation) []*schedulingv1.Relation {
	var kept []*schedulingv1.Relation
	for _, r := range list {
		if r.GetType() != "FROM_PATTERNITEM_TO_ITEM" && r.GetType() != "FROM_GROUPITEM_TO_ITEM" {
			kept = append(kept, r)
		}
	}
	return kept
}

func finite(values ...*float64) bool {
	for _, v := range values {
		if v != nil && (math.IsNaN(*v) || math.IsInf(*v, 0)) {
			return false
		}
	}
	return true
}
