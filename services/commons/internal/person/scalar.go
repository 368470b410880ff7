package person

import (
	"sync"

	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// scalar is a value of a person that is kept in a column of its row.
type scalar struct {
	column, kind, path string
	// at answers the place of the value, or a place that is not part of the
	// person when the person has no such part.
	at func(*record) *string
}

// scalars are all values with columns, made once and never changed. Those of
// days have the kind "date".
var scalars = sync.OnceValue(makeScalars)

func makeScalars() []scalar {
	text := func(column, path string, at func(*record) *string) scalar { return scalar{column, "text", path, at} }
	date := func(column, path string, at func(*record) *string) scalar { return scalar{column, "date", path, at} }
	const (
		person     = "personInformation.person."
		assignment = "personInformation.accessAssignment."
		jobDetails = "jobAssignment.jobAssignmentDetails."
	)
	return []scalar{
		text("person_number", person+"personNumber", func(r *record) *string { return &detailsOf(r).PersonNumber }),
		text("first_name", person+"firstName", func(r *record) *string { return &detailsOf(r).FirstName }),
		text("last_name", person+"lastName", func(r *record) *string { return &detailsOf(r).LastName }),
		text("middle_initial", person+"middleInitial", func(r *record) *string { return &detailsOf(r).MiddleInitial }),
		text("short_name", person+"shortName", func(r *record) *string { return &detailsOf(r).ShortName }),
		date("hire_date", person+"hireDate", func(r *record) *string { return &detailsOf(r).HireDate }),
		date("birth_date", person+"birthDate", func(r *record) *string { return &detailsOf(r).BirthDate }),
		text("schedule_group_name", "jobAssignment.scheduleGroupName", func(r *record) *string { return &job(r).ScheduleGroupName }),
		date("seniority_rank_date", jobDetails+"seniorityRankDate", func(r *record) *string { return &jobDetailsOf(r).SeniorityRankDate }),
		text("worker_type_name", jobDetails+"workerTypeName", func(r *record) *string { return &jobDetailsOf(r).WorkerTypeName }),
		text("supervisor_person_number", jobDetails+"supervisorPersonNumber", func(r *record) *string { return &jobDetailsOf(r).SupervisorPersonNumber }),
		text("device_group_name", jobDetails+"deviceGroupName", func(r *record) *string { return &jobDetailsOf(r).DeviceGroupName }),
		text("user_name", "user.userAccount.userName", func(r *record) *string { return &userAccountOf(r).UserName }),
		text("logon_profile_name", "user.userAccount.logonProfileName", func(r *record) *string { return &userAccountOf(r).LogonProfileName }),
		text("access_profile_name", assignment+"accessProfileName", func(r *record) *string { return &access(r).AccessProfileName }),
		text("preference_profile_name", assignment+"preferenceProfileName", func(r *record) *string { return &access(r).PreferenceProfileName }),
		text("notification_profile_name", assignment+"notificationProfileName", func(r *record) *string { return &access(r).NotificationProfileName }),
		text("locale_policy_name", assignment+"localePolicyName", func(r *record) *string { return &access(r).LocalePolicyName }),
		text("delegate_profile_name", assignment+"delegateProfileName", func(r *record) *string { return &access(r).DelegateProfileName }),
		text("aoid", "personIdentity.aoid", func(r *record) *string { return &r.aoid }),
		text("coid", "personIdentity.coid", func(r *record) *string { return &r.coid }),
	}
}

func detailsOf(r *record) *commonsv1.PersonDetails {
	if part := r.details(); part != nil {
		return part
	}
	return &commonsv1.PersonDetails{}
}

func jobDetailsOf(r *record) *commonsv1.JobAssignmentDetails {
	if part := r.person.GetJobAssignment().GetJobAssignmentDetails(); part != nil {
		return part
	}
	return &commonsv1.JobAssignmentDetails{}
}

func userAccountOf(r *record) *commonsv1.UserAccount {
	if part := r.person.GetUser().GetUserAccount(); part != nil {
		return part
	}
	return &commonsv1.UserAccount{}
}
