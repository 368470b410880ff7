package policy

import (
	"fmt"
	"math"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

// Limit is a limit of the contract that a method enforces, because only the method knows the
// quantity.
type Limit struct{ limit *limit }

// FindLimit returns the limit of a quantity that the contract sets for a message or one of its
// fields.
//
// It panics if the contract has no such limit, or several. Call it when package variables are
// initialised, so that no program starts with the mistake.
func FindLimit[M proto.Message](quantity string) Limit {
	var message M
	desc := message.ProtoReflect().Descriptor()
	limits, err := messageLimits(desc)
	if err != nil {
		panic(fmt.Sprintf("policy: %v", err))
	}
	limits = slices.DeleteFunc(limits, func(l *limit) bool { return l.quantity != quantity })
	if len(limits) != 1 {
		panic(fmt.Sprintf("policy: %s has %d limits of %q", desc.FullName(), len(limits), quantity))
	}
	return Limit{limits[0]}
}

// Max returns the largest permitted quantity.
func (l Limit) Max() int { return int(l.limit.max) }

// Check returns nil, or [Limit.Fault] if the actual quantity exceeds the limit.
func (l Limit) Check(actual int) error {
	if int64(actual) <= l.limit.max {
		return nil
	}
	return l.Fault(actual)
}

// Fault returns the error for a quantity that exceeds the limit, with the code, the status and the
// message of the contract, and details.
func (l Limit) Fault(actual int) *fault.Error { return l.limit.fault(int64(actual), 1) }

// Max returns the max of [FindLimit]. It is for methods that use the number otherwise, so that the
// code does not repeat it.
func Max[M proto.Message](quantity string) int { return FindLimit[M](quantity).Max() }

// RangeMax returns the largest number that the ranges of a field allow. It is for methods that use
// the number otherwise, such as a default page size.
//
// It panics if the field has no such range. Call it when package variables are initialised, so that
// no program starts with the mistake.
func RangeMax[M proto.Message](field string) int {
	var message M
	desc := message.ProtoReflect().Descriptor()
	most := math.Inf(1)
	if named := desc.Fields().ByName(protoreflect.Name(field)); named != nil {
		for _, r := range fieldOptions(named).GetRanges() {
			if r.Max != nil {
				most = min(most, r.GetMax())
			}
		}
	}
	if math.IsInf(most, 1) {
		panic(fmt.Sprintf("policy: %s.%s has no range with a max", desc.FullName(), field))
	}
	return int(most)
}
