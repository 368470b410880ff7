package rules

import (
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// unassignment is a flag that removes a profile, with the name of the profile.
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

// removesProfile reports whether the request removes the profile.
func (u unassignment) removesProfile() bool { return *u.take != nil && **u.take }

// checkUnassigned refuses to remove a profile that the same request sets.
func checkUnassigned(a *commonsv1.AccessAssignment) error {
	for _, u := range unassignments(a) {
		if u.removesProfile() && *u.profile != "" {
			return fault.Invalid(CodeCombination, fmt.Sprintf("personInformation.accessAssignment has both %s and %s.", u.flag, u.name))
		}
	}
	return nil
}

// unassign removes the flagged profiles, and then the flags.
func unassign(a *commonsv1.AccessAssignment) {
	for _, u := range unassignments(a) {
		if u.removesProfile() {
			*u.profile = ""
		}
		*u.take = nil
	}
}
