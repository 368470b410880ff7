package policy

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Max returns how much of a quantity may pass, as the contract says at a message or at
// one of its fields. It is for methods that enforce a limit of the contract, or one that
// follows from it: no limit of the contract stands in the code a second time.
//
// It panics when the contract has no such limit, or several; call it where variables of
// packages are made, so that no program starts that way.
func Max[M proto.Message](quantity string) int {
	var message M
	desc := message.ProtoReflect().Descriptor()
	limits, err := limitsOf(desc)
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

// RangeMax returns the largest number that the ranges of a field let pass. It is for
// methods that need the number for something else, such as the page of a request that
// does not say how long a page is to be.
//
// It panics when the field has no such range; call it where variables of packages are
// made, so that no program starts that way.
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
