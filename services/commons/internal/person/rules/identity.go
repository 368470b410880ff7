package rules

import (
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// CheckIdentity refuses an identity with several properties. It has no other effect when a
// person is created.
func CheckIdentity(id *commonsv1.PersonIdentity) error {
	if id == nil {
		return nil
	}
	n := 0
	for _, given := range []bool{
		id.PersonKey != nil, id.PersonNumber != nil, id.EmployeeKey != nil, id.UserKey != nil, id.UserName != nil,
		id.BadgeNumber != nil, id.Aoid != nil || id.Coid != nil,
	} {
		if given {
			n++
		}
	}
	if n > 1 {
		return fault.Invalid(CodeManyIdentities, "personIdentity has more than one property that names a person.")
	}
	if (id.GetAoid() == "") != (id.GetCoid() == "") {
		return fault.Invalid(CodeCombination, "personIdentity.aoid and personIdentity.coid go together.")
	}
	return nil
}

// externalIdentity returns the part of an identity that is stored: the pair of ids from
// another system. The other properties name the person by data that is stored elsewhere.
func externalIdentity(given *commonsv1.PersonIdentity) *commonsv1.PersonIdentity {
	if given.GetAoid() == "" {
		return nil
	}
	return &commonsv1.PersonIdentity{Aoid: given.Aoid, Coid: given.Coid}
}
