package record

import (
	"github.com/rotaloom/rotaloom/pkg/civil"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// NewState returns what other domains are told of a person.
func NewState(r *Record, id int64, zone string, version int64) *commonsv1.PersonState {
	return &commonsv1.PersonState{
		PersonId:     id,
		PersonNumber: r.Number(),
		FullName:     r.Details().GetFullName(),
		TimeZone:     zone,
		Version:      version,
		HireDate:     r.Details().GetHireDate(),
		Terminated:   NewPersonDays(r.TerminatedDays()),
		LockedOut:    NewPersonDays(r.LockedOutDays()),
	}
}

// DefaultStatus makes a person of whom only the day of hire is known an active
// employee from that day on (docs/decisions, 58).
func (r *Record) DefaultStatus() {
	info := r.Message.GetPersonInformation()
	if hired := info.GetPerson().GetHireDate(); hired != "" && len(info.GetEmploymentStatusList()) == 0 {
		info.EmploymentStatusList = []*commonsv1.EmploymentStatus{{
			EmploymentStatusName: StatusActive, EffectiveDate: hired, ExpirationDate: civil.Forever.String(),
		}}
	}
}

// TerminatedDays returns the days on which the employment is terminated.
func (r *Record) TerminatedDays() []civil.Range {
	var out []civil.Range
	for _, s := range r.Message.GetPersonInformation().GetEmploymentStatusList() {
		if s.GetEmploymentStatusName() == StatusTerminated {
			out = append(out, RangeOf(DatesOf(s)))
		}
	}
	return civil.Normalise(out)
}

// LockedOutDays returns the days on which the person may not log in. Days for which
// nothing is said of the user account are no reason.
func (r *Record) LockedOutDays() []civil.Range {
	out := r.TerminatedDays()
	for _, s := range r.Message.GetPersonInformation().GetUserAccountStatusList() {
		if s.GetUserAccountStatusName() != StatusActive {
			out = append(out, RangeOf(DatesOf(s)))
		}
	}
	return civil.Normalise(out)
}

// NewPersonDays returns ranges of days as messages have them: from a day up to, and not
// including, another.
func NewPersonDays(ranges []civil.Range) []*commonsv1.PersonDays {
	var out []*commonsv1.PersonDays
	for _, r := range ranges {
		out = append(out, &commonsv1.PersonDays{From: r.From.String(), To: r.To.String()})
	}
	return out
}

// The statuses of the employment and of the user account.
const (
	StatusActive     = "Active"
	StatusTerminated = "Terminated"
)

// Statuses are the names that employment and user account statuses have.
var Statuses = []string{StatusActive, "Inactive", StatusTerminated}
