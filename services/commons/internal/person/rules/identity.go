package rules

import (
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// CheckIdentity refuses an identity with several properties. When a person is
// created it says nothing else.
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

// externalIdentity returns what is kept of an identity: the pair of names that
// another system gave. Everything else names the person by what is elsewhere.
func externalIdentity(given *commonsv1.PersonIdentity) *commonsv1.PersonIdentity {
	if given.GetAoid() == "" {
		return nil
	}
	return &commonsv1.PersonIdentity{Aoid: given.Aoid, Coid: given.Coid}
}
