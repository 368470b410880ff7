package policy

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Max returns the limit of a quantity that the contract sets for a message or one of its fields. It
// is for methods that enforce a limit of the contract, or one derived from it, so that the code
// does not repeat the number.
//
// It panics if the contract has no such limit, or several. Call it when package variables are
// initialised, so that no program starts with the mistake.
func Max[M proto.Message](quantity string) int {
	var message M
	desc := message.ProtoReflect().Descriptor()
	limits, err := messageLimits(desc)
	if err != nil {
		panic(fmt.Sprintf("policy: %v", err))
	}
	var found []int64
	for _, l := range limits {
		if l.quantity == quantity {
			found = append(found, l.max)
		}
	}
	if len(found) != 1 {
		panic(fmt.Sprintf("policy: %s has %d limits of %q", desc.FullName(), len(found), quantity))
	}
	return int(found[0])
}

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
