package rules

import (
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// unassignment is a flag that takes a profile away, and the name of the profile.
type unassignment struct {
	flag, name string
	take       **bool
	profile    *string
}

func unassignments(a *commonsv1.AccessAssignment) []unassignment {
	if a == nil {
		return nil
	}
	return []unassignment{
		{
			"unassignEmployeeLaborCategoryProfile", "employeeLaborCategoryProfileName",
			&a.UnassignEmployeeLaborCategoryProfile, &a.EmployeeLaborCategoryProfileName,
		},
		{
			"unassignManagerLaborCategoryProfile", "managerLaborCategoryProfileName",
			&a.UnassignManagerLaborCategoryProfile, &a.ManagerLaborCategoryProfileName,
		},
		{
			"unassignMgrEmplLaborCategoryProfile", "mgrEmplLaborCategoryProfileName",
			&a.UnassignMgrEmplLaborCategoryProfile, &a.MgrEmplLaborCategoryProfileName,
		},
	}
}

// taken reports whether the profile is to be taken away.
func (u unassignment) taken() bool { return *u.take != nil && **u.take }

// checkUnassigned refuses to take away what is given at the same time.
func checkUnassigned(a *commonsv1.AccessAssignment) error {
	for _, u := range unassignments(a) {
		if u.taken() && *u.profile != "" {
			return fault.Invalid(CodeCombination, fmt.Sprintf("personInformation.accessAssignment has both %s and %s.", u.flag, u.name))
		}
	}
	return nil
}

// unassign takes away the profiles that are to be taken away, and then the flags.
func unassign(a *commonsv1.AccessAssignment) {
	for _, u := range unassignments(a) {
		if u.taken() {
			*u.profile = ""
		}
		*u.take = nil
	}
}
