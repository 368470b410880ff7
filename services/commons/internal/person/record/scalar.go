package record

import (
	"sync"

	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// Scalar is a value of a person that is kept in a column of its row.
type Scalar struct {
	Column, Kind, Path string
	// At answers the place of the value, or a place that is not part of the
	// person when the person has no such part.
	At func(*Record) *string
}

// Scalars are all values with columns, made once and never changed. Those of
// days have the kind "date".
var Scalars = sync.OnceValue(makeScalars)

func makeScalars() []Scalar {
	text := func(column, path string, at func(*Record) *string) Scalar { return Scalar{column, "text", path, at} }
	date := func(column, path string, at func(*Record) *string) Scalar { return Scalar{column, "date", path, at} }
	const (
		person     = "personInformation.person."
		assignment = "personInformation.accessAssignment."
		jobDetails = "jobAssignment.jobAssignmentDetails."
	)
	return []Scalar{
		text("person_number", person+"personNumber", func(r *Record) *string { return &DetailsOrEmpty(r).PersonNumber }),
		text("first_name", person+"firstName", func(r *Record) *string { return &DetailsOrEmpty(r).FirstName }),
		text("last_name", person+"lastName", func(r *Record) *string { return &DetailsOrEmpty(r).LastName }),
		text("middle_initial", person+"middleInitial", func(r *Record) *string { return &DetailsOrEmpty(r).MiddleInitial }),
		text("short_name", person+"shortName", func(r *Record) *string { return &DetailsOrEmpty(r).ShortName }),
		date("hire_date", person+"hireDate", func(r *Record) *string { return &DetailsOrEmpty(r).HireDate }),
		date("birth_date", person+"birthDate", func(r *Record) *string { return &DetailsOrEmpty(r).BirthDate }),
		text("schedule_group_name", "jobAssignment.scheduleGroupName", func(r *Record) *string { return &JobOrEmpty(r).ScheduleGroupName }),
		date("seniority_rank_date", jobDetails+"seniorityRankDate", func(r *Record) *string { return &JobDetailsOrEmpty(r).SeniorityRankDate }),
		text("worker_type_name", jobDetails+"workerTypeName", func(r *Record) *string { return &JobDetailsOrEmpty(r).WorkerTypeName }),
		text("supervisor_person_number", jobDetails+"supervisorPersonNumber", func(r *Record) *string { return &JobDetailsOrEmpty(r).SupervisorPersonNumber }),
		text("device_group_name", jobDetails+"deviceGroupName", func(r *Record) *string { return &JobDetailsOrEmpty(r).DeviceGroupName }),
		text("user_name", "user.userAccount.userName", func(r *Record) *string { return &UserAccountOrEmpty(r).UserName }),
		text("logon_profile_name", "user.userAccount.logonProfileName", func(r *Record) *string { return &UserAccountOrEmpty(r).LogonProfileName }),
		text("access_profile_name", assignment+"accessProfileName", func(r *Record) *string { return &AccessOrEmpty(r).AccessProfileName }),
		text("preference_profile_name", assignment+"preferenceProfileName", func(r *Record) *string { return &AccessOrEmpty(r).PreferenceProfileName }),
		text("notification_profile_name", assignment+"notificationProfileName", func(r *Record) *string { return &AccessOrEmpty(r).NotificationProfileName }),
		text("locale_policy_name", assignment+"localePolicyName", func(r *Record) *string { return &AccessOrEmpty(r).LocalePolicyName }),
		text("delegate_profile_name", assignment+"delegateProfileName", func(r *Record) *string { return &AccessOrEmpty(r).DelegateProfileName }),
		text("aoid", "personIdentity.aoid", func(r *Record) *string { return &r.AOID }),
		text("coid", "personIdentity.coid", func(r *Record) *string { return &r.COID }),
	}
}

func DetailsOrEmpty(r *Record) *commonsv1.PersonDetails {
	if part := r.Details(); part != nil {
		return part
	}
	return &commonsv1.PersonDetails{}
}

func JobDetailsOrEmpty(r *Record) *commonsv1.JobAssignmentDetails {
	if part := r.Message.GetJobAssignment().GetJobAssignmentDetails(); part != nil {
		return part
	}
	return &commonsv1.JobAssignmentDetails{}
}

func UserAccountOrEmpty(r *Record) *commonsv1.UserAccount {
	if part := r.Message.GetUser().GetUserAccount(); part != nil {
		return part
	}
	return &commonsv1.UserAccount{}
}
