package policy

import (
	"fmt"

	"google.golang.org/protobuf/proto"
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
