package record

import (
	"sync"

	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// Columns returns the fields of a person that are columns of the person's row. They are
// created once and never modified.
var Columns = sync.OnceValue(func() []Column {
	person := (*commonsv1.Person)(nil).ProtoReflect().Descriptor()
	var out []Column
	for _, part := range []struct {
		path    string
		columns []string
	}{
		{"person_information.person", []string{
			"person_number", "first_name", "last_name", "middle_initial", "short_name", "hire_date", "birth_date",
		}},
		{"job_assignment", []string{"schedule_group_name"}},
		{"job_assignment.job_assignment_details", []string{
			"seniority_rank_date", "worker_type_name", "supervisor_person_number", "device_group_name",
		}},
		{"user.user_account", []string{"user_name", "logon_profile_name"}},
		{"person_information.access_assignment", []string{
			"access_profile_name", "preference_profile_name", "notification_profile_name", "locale_policy_name", "delegate_profile_name",
		}},
		{"person_identity", []string{"aoid", "coid"}},
	} {
		for _, name := range part.columns {
			out = append(out, newColumn(person, name, part.path+"."+name))
		}
	}
	return out
})

// DetailsOrEmpty returns the details of a person, or a new empty message. Like the functions
// below, it does not modify the person.
func DetailsOrEmpty(r *Record) *commonsv1.PersonDetails {
	if part := r.Details(); part != nil {
		return part
	}
	return &commonsv1.PersonDetails{}
}

// JobDetailsOrEmpty returns the details of the job assignment.
func JobDetailsOrEmpty(r *Record) *commonsv1.JobAssignmentDetails {
	if part := r.Message.GetJobAssignment().GetJobAssignmentDetails(); part != nil {
		return part
	}
	return &commonsv1.JobAssignmentDetails{}
}

// UserAccountOrEmpty returns the user account.
func UserAccountOrEmpty(r *Record) *commonsv1.UserAccount {
	if part := r.Message.GetUser().GetUserAccount(); part != nil {
		return part
	}
	return &commonsv1.UserAccount{}
}

// JobOrEmpty returns the job assignment.
func JobOrEmpty(r *Record) *commonsv1.JobAssignment {
	if part := r.Message.GetJobAssignment(); part != nil {
		return part
	}
	return &commonsv1.JobAssignment{}
}

// AccessOrEmpty returns the access assignment.
func AccessOrEmpty(r *Record) *commonsv1.AccessAssignment {
	if part := r.Message.GetPersonInformation().GetAccessAssignment(); part != nil {
		return part
	}
	return &commonsv1.AccessAssignment{}
}
