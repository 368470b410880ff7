package person

import (
	"github.com/rotaloom/rotaloom/pkg/civil"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

func stateOf(r *record, id int64, zone string, version int64) *commonsv1.PersonState {
	return &commonsv1.PersonState{
		PersonId:     id,
		PersonNumber: r.number(),
		FullName:     r.details().GetFullName(),
		TimeZone:     zone,
		Version:      version,
		HireDate:     r.details().GetHireDate(),
		Terminated:   wireDays(r.terminated()),
		LockedOut:    wireDays(r.lockedOut()),
	}
}

// beginActive makes a person of whom only the day of hire is known an active
// employee from that day on (docs/decisions, 58).
func (r *record) beginActive() {
	info := r.person.GetPersonInformation()
	if hired := info.GetPerson().GetHireDate(); hired != "" && len(info.GetEmploymentStatusList()) == 0 {
		info.EmploymentStatusList = []*commonsv1.EmploymentStatus{{
			EmploymentStatusName: active, EffectiveDate: hired, ExpirationDate: civil.Forever.String(),
		}}
	}
}

// terminated answers the days on which the employment is terminated.
func (r *record) terminated() []civil.Range {
	var out []civil.Range
	for _, s := range r.person.GetPersonInformation().GetEmploymentStatusList() {
		if s.GetEmploymentStatusName() == terminated {
			out = append(out, rangeOf(datesOf(s)))
		}
	}
	return civil.Normalise(out)
}

// lockedOut answers the days on which the person may not log in. Days for which
// nothing is said of the user account are no reason.
func (r *record) lockedOut() []civil.Range {
	out := r.terminated()
	for _, s := range r.person.GetPersonInformation().GetUserAccountStatusList() {
		if s.GetUserAccountStatusName() != active {
			out = append(out, rangeOf(datesOf(s)))
		}
	}
	return civil.Normalise(out)
}

func wireDays(ranges []civil.Range) []*commonsv1.PersonDays {
	var out []*commonsv1.PersonDays
	for _, r := range ranges {
		out = append(out, &commonsv1.PersonDays{From: r.From.String(), To: r.To.String()})
	}
	return out
}

const (
	active     = "Active"
	terminated = "Terminated"
)

// statuses are the names that employment and user account statuses have.
var statuses = []string{active, "Inactive", terminated}
